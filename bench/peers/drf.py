"""Django REST Framework with Django's ORM.

Fair, since it is what a Django team writes and runs: the ORM for what it can say and SQL for the rest, on a pool of
psycopg in C, no middleware, gunicorn with as many threads as the product has, of which as many invite at once as it is
best with.
"""

import json
import threading
from datetime import UTC, datetime

import bell
import django
import redis
import shown
import work
from django.conf import settings
from psycopg.conninfo import conninfo_to_dict

_where = conninfo_to_dict(work.DATABASE_URL)
settings.configure(
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF="drf",
    USE_TZ=True,
    SECRET_KEY="bench",
    APPEND_SLASH=False,
    MIDDLEWARE=[],
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": _where["dbname"],
            "USER": _where.get("user", ""),
            "PASSWORD": _where.get("password", ""),
            "HOST": _where.get("host", ""),
            "PORT": _where.get("port", ""),
            "OPTIONS": {
                "pool": {"min_size": 8, "max_size": 16},
                "options": " ".join(f"-c {name}={value}" for name, value in work.SETTINGS.items()),
            },
        }
    },
    REST_FRAMEWORK={
        "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
        "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
        "UNAUTHENTICATED_USER": None,
        "EXCEPTION_HANDLER": "drf.refuse",
    },
    LOGGING_CONFIG=None,
)
django.setup()

from django.contrib.postgres.fields import ArrayField  # noqa: E402 - once Django is set up
from django.core.wsgi import get_wsgi_application  # noqa: E402 - once Django is set up
from django.db import connection, models, transaction  # noqa: E402 - once Django is set up
from django.db.models import F, Q  # noqa: E402 - once Django is set up
from django.urls import path  # noqa: E402 - once Django is set up
from rest_framework import serializers  # noqa: E402 - once Django is set up
from rest_framework.authentication import BaseAuthentication  # noqa: E402 - once Django is set up
from rest_framework.response import Response  # noqa: E402 - once Django is set up
from rest_framework.views import APIView, exception_handler  # noqa: E402 - once Django is set up

count = redis.Redis.from_url(work.REDIS_URL).register_script(work.LUA)
inviting = threading.Semaphore(work.INVITES_AT_ONCE)


def table(name: str):
    return type("Meta", (), {"managed": False, "db_table": name, "app_label": "bench"})


class ApiKey(models.Model):
    id = models.UUIDField(primary_key=True)
    organisation_id = models.UUIDField()
    livemode = models.BooleanField()
    hash = models.TextField()
    scopes = ArrayField(models.TextField())
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    Meta = table("api_keys")


class Assessment(models.Model):
    id = models.UUIDField(primary_key=True)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    organisation_id = models.UUIDField()
    livemode = models.BooleanField()
    slug = models.TextField()
    title = models.TextField()
    description = models.TextField()
    status = models.TextField()
    time_limit_minutes = models.IntegerField(null=True)
    passing_score = models.IntegerField()
    enforce_fullscreen = models.BooleanField()
    copy_paste_disabled = models.BooleanField()
    session_recording_enabled = models.BooleanField()
    screen_recording_enabled = models.BooleanField()
    webcam_recording_enabled = models.BooleanField()
    notify_on_completion = models.BooleanField()
    violation_review_threshold = models.IntegerField(null=True)
    pool_mode = models.BooleanField()
    assignment_size = models.IntegerField(null=True)
    shuffle_strategy = models.TextField()
    language = models.TextField(null=True)
    case_count = models.IntegerField()
    invitation_count = models.IntegerField()
    Meta = table("assessments")


class Invitation(models.Model):
    id = models.UUIDField(primary_key=True)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    organisation_id = models.UUIDField()
    livemode = models.BooleanField()
    assessment = models.ForeignKey(Assessment, models.DO_NOTHING)
    token = models.TextField()
    email = models.TextField()
    email_key = models.TextField()
    name = models.TextField()
    role = models.TextField()
    status = models.TextField()
    external_id = models.TextField(null=True)
    tags = ArrayField(models.TextField())
    extra_time_percent = models.IntegerField()
    expires_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    completed_at = models.DateTimeField(null=True)
    reminded_at = models.DateTimeField(null=True)
    candidate_id = models.UUIDField(null=True)
    attempt = models.IntegerField(default=1)
    retake_of = models.TextField(null=True)
    language = models.TextField(null=True)
    mail_error = models.TextField(null=True)
    Meta = table("invitations")


class Candidate(models.Model):
    id = models.UUIDField(primary_key=True)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    last_activity_at = models.DateTimeField()
    organisation_id = models.UUIDField()
    livemode = models.BooleanField()
    email = models.TextField()
    email_key = models.TextField()
    full_name = models.TextField()
    phone = models.TextField(default="")
    source_summary = models.TextField()
    tags = ArrayField(models.TextField(), default=list)
    Meta = table("candidates")


class Audited(models.Model):
    id = models.UUIDField(primary_key=True)
    occurred_at = models.DateTimeField()
    organisation_id = models.UUIDField()
    livemode = models.BooleanField()
    channel = models.TextField()
    actor_type = models.TextField()
    actor_id = models.UUIDField()
    action = models.TextField()
    method = models.TextField()
    path = models.TextField()
    outcome = models.TextField()
    status_code = models.IntegerField()
    error_code = models.TextField(null=True)
    ip = models.TextField()
    request_id = models.TextField()
    resource_type = models.TextField()
    resource_id = models.TextField()
    duration_ms = models.IntegerField()
    Meta = table("audit_waiting")


class Event(models.Model):
    id = models.UUIDField(primary_key=True)
    created_at = models.DateTimeField()
    organisation_id = models.UUIDField()
    livemode = models.BooleanField()
    sequence = models.BigIntegerField()
    type = models.TextField()
    data = models.JSONField()
    Meta = table("events")


class InvitationCreate(serializers.Serializer):
    email = serializers.CharField(max_length=254)
    name = serializers.CharField(default="", max_length=200, allow_blank=True)
    role = serializers.CharField(default="", max_length=200, allow_blank=True)
    external_id = serializers.CharField(default=None, allow_null=True, max_length=255)
    expires_days = serializers.IntegerField(default=7, min_value=1, max_value=365)
    send_email = serializers.BooleanField(default=False)
    extra_time_percent = serializers.IntegerField(default=0, min_value=0, max_value=100)
    tags = serializers.ListField(child=serializers.CharField(max_length=64), default=list, max_length=20)


class Paging(serializers.Serializer):
    page_size = serializers.IntegerField(default=20, min_value=1, max_value=100)


def refuse(fault: Exception, context: dict) -> Response | None:
    if isinstance(fault, work.Refused):
        return Response({"error": {"code": fault.code, "message": str(fault)}}, fault.status)
    return exception_handler(fault, context)


class Keyed(BaseAuthentication):
    def authenticate(self, request):
        key = work.bearer(request.META.get("HTTP_AUTHORIZATION"))
        if (row := work.known(key)) is None:
            found = ApiKey.objects.filter(hash=work.digest(key)).first()
            row = work.keep(key, found and vars(found))
        return row, None

    def authenticate_header(self, request):
        return "Bearer"


def admit(request, scope: str, *, reads: bool) -> tuple[dict, work.Asked, dict[str, str]]:
    asked = work.asked(request.path, request.META["REMOTE_ADDR"])
    row = work.check(request.user, scope)
    keys, arguments = work.limit_arguments(row, reads=reads)
    headers = work.limit_headers(count(keys=keys, args=arguments))
    return row, asked, headers | {"X-Request-Id": asked.id}


def used(caller) -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT used FROM invite_usage WHERE organisation_id = %s AND month = %s",
            [caller["organisation_id"], work.month()],
        )
        row = cursor.fetchone()
    return row[0] if row else 0


def mine(model, caller):
    return model.objects.filter(organisation_id=caller["organisation_id"], livemode=caller["livemode"])


def find(caller, slug: str) -> Assessment:
    row = mine(Assessment, caller).filter(slug=slug).first()
    if row is None:
        raise work.Refused(404, "NOT_FOUND", "There is no such assessment.")
    return row


class View(APIView):
    authentication_classes = (Keyed,)


class OneAssessment(View):
    def get(self, request, slug: str) -> Response:
        caller, _, headers = admit(request, "assessments:read", reads=True)
        return Response(shown.assessment(vars(find(caller, slug)), used(caller)), headers=headers)


class Invitations(View):
    def get(self, request) -> Response:
        caller, _, headers = admit(request, "invitations:read", reads=True)
        paging = Paging(data=request.query_params)
        paging.is_valid(raise_exception=True)
        size = paging.validated_data["page_size"]
        found = list(mine(Invitation, caller).select_related("assessment").order_by("-id")[: size + 1])
        rows = found[:size]
        results = [shown.invitation(vars(row), row.assessment.slug, row.assessment.title) for row in rows]
        page = shown.page(results, rows[-1].id, more=len(found) > size, size=size, used=used(caller))
        return Response(page, headers=headers)


class Invite(View):
    def post(self, request, slug: str) -> Response:
        caller, asked, headers = admit(request, "invitations:write", reads=False)
        body = InvitationCreate(data=request.data)
        body.is_valid(raise_exception=True)
        row = work.candidate(body.validated_data)
        with inviting, transaction.atomic():
            status, answer = self.invite(caller, asked, row, slug)
        return Response(answer, status, headers=headers)

    def invite(self, caller, asked: work.Asked, row: dict, slug: str) -> tuple[int, dict]:
        assessment = find(caller, slug)
        if assessment.status != "active":
            raise work.Refused(403, "ASSESSMENT_NOT_ACTIVE", "The assessment is not active.")
        moment = datetime.now(UTC)
        same = Q(email_key=row["email_key"])
        if row["external_id"] is not None:
            same |= Q(external_id=row["external_id"])
        found = Invitation.objects.filter(same, assessment=assessment).first()
        if found:
            return 200, work.created(vars(found), "An invitation already exists for this candidate.")
        owner = {"organisation_id": caller["organisation_id"], "livemode": caller["livemode"]}
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO invite_usage AS u (organisation_id, month, used) VALUES (%s, %s, 1)"
                " ON CONFLICT (organisation_id, month) DO UPDATE SET used = u.used + 1",
                [caller["organisation_id"], work.month()],
            )
        stamps = {"created_at": moment, "updated_at": moment}
        person = {"id": row.pop("profile"), "source_summary": row.pop("source"), "last_activity_at": moment}
        named = {name: row[name] for name in ("email", "email_key")}
        Candidate.objects.bulk_create(
            [Candidate(**person, **stamps, **owner, **named, full_name=row["name"])],
            update_conflicts=True,
            unique_fields=["organisation_id", "livemode", "email_key"],
            update_fields=["last_activity_at", "updated_at"],
        )
        profile = mine(Candidate, caller).values_list("id", flat=True).get(email_key=row["email_key"])
        made = Invitation.objects.create(
            assessment=assessment, status="pending", candidate_id=profile, **stamps, **owner, **row
        )
        Assessment.objects.filter(id=assessment.id).update(invitation_count=F("invitation_count") + 1)
        Audited.objects.create(**json.loads(work.audited(caller, vars(made), asked))[0])
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO event_sequences AS s (organisation_id, livemode, last) VALUES (%s, %s, 1)"
                " ON CONFLICT (organisation_id, livemode) DO UPDATE SET last = s.last + 1 RETURNING last",
                [caller["organisation_id"], caller["livemode"]],
            )
            sequence = cursor.fetchone()[0]
        Event.objects.create(
            id=work.uuid7(),
            created_at=moment,
            sequence=sequence,
            type="invitation.created",
            data=work.event_data(vars(made), assessment.slug, assessment.title),
            **owner,
        )
        transaction.on_commit(bell.ring)
        return 201, work.created(vars(made), "Invitation created.")


PREFIX = work.PREFIX.strip("/")
urlpatterns = [
    path(f"{PREFIX}/assessments/<slug:slug>/", OneAssessment.as_view()),
    path(f"{PREFIX}/invites/", Invitations.as_view()),
    path(f"{PREFIX}/assessments/<slug:slug>/invites/", Invite.as_view()),
]


app = get_wsgi_application()
work.started()
