"""openapi-generator's Python client of today's document against a service that knows more values."""

import json
import os
from uuid import UUID

import openapi_client as made
from openapi_client.exceptions import NotFoundException

client = made.ApiClient(made.Configuration(host=os.environ["BASE_URL"], access_token="a key"))
try:
    made.InvitationsApi(client).get_invitation("missing")
except NotFoundException as refused:
    told = refused.data
print(
    json.dumps(
        [
            made.OrganisationApi(client).get_organisation().plan,
            made.AssessmentsApi(client).list_assessments().results[0].status,
            made.ApplicationsApi(client).get_application(UUID(int=0)).status,
            made.EventsApi(client).list_events().results[0].api_version,
            made.Error.model_validate(told).error.code,
        ]
    )
)
