"""A client of today's document against a service that knows more values: nothing of an answer is lost."""

import json
import os
from uuid import UUID

from hiring_client import AuthenticatedClient
from hiring_client.api.applications import get_application
from hiring_client.api.assessments import list_assessments
from hiring_client.api.events import list_events
from hiring_client.api.invitations import get_invitation
from hiring_client.api.organisation import get_organisation
from hiring_client.models import Application, AssessmentList, EventList, Organisation, Refusal

client = AuthenticatedClient(base_url=os.environ["BASE_URL"], token="a key")
organisation = get_organisation.sync(client=client)
assessments = list_assessments.sync(client=client)
application = get_application.sync(UUID(int=0), client=client)
events = list_events.sync(client=client)
refused = get_invitation.sync("missing", client=client)
assert isinstance(organisation, Organisation)
assert isinstance(assessments, AssessmentList)
assert isinstance(application, Application)
assert isinstance(events, EventList)
assert isinstance(refused, Refusal)
print(
    json.dumps(
        [
            organisation.plan,
            assessments.results[0].status,
            application.status,
            events.results[0].api_version,
            refused.error.code,
        ]
    )
)
