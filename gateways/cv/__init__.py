"""CVs: what kind of file one is, and what can be read from it.

Reading happens in a process of its own with limits on time, memory and pages: the libraries that read PDF and
Word files meet whatever strangers send, and must take nothing else down with them.
"""

from gateways.cv.kinds import KINDS, MEDIA_TYPES, sniff, why_not
from gateways.cv.reading import Parsed, parse
from gateways.cv.walled import why_not as why_no_walls

__all__ = ["KINDS", "MEDIA_TYPES", "Parsed", "parse", "sniff", "why_no_walls", "why_not"]
