"""How long what is held is kept."""

from datetime import timedelta

EVENTS_DAYS = 30  # at most, and unless an organisation says less; deliveries and finished work too
RECORDINGS_DAYS = 90  # unless an organisation says otherwise
RECORDINGS_MOST_DAYS = 3650
KEPT = timedelta(days=EVENTS_DAYS)
