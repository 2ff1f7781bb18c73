"""Every refusal the service can answer, one class each; the class name is the code.

Below `app/` one is raised, never returned: `raise JobLimitReached(limit=5)`; keywords become `error.details`.
"""

from rules.refusal import Refusal
from rules.words import say


class Invalid(Refusal):
    """The request, or the state it meets, is not fit; `details.fields` or `details.status` says why."""

    status, code, message = 400, "VALIDATION_ERROR", say("The request is not valid.")

    @classmethod
    def at(cls, pointer: str, message: str) -> "Invalid":
        """Name the one field at fault."""
        return cls(fields=[{"pointer": pointer, "message": message}])


class AssessmentNotActive(Refusal):
    """Invitations go out for active assessments only."""

    status, message = 400, "The assessment is not active; activate it before inviting candidates."


class MissingEmail(Refusal):
    """An invitation needs an address."""

    status, message = 400, "The candidate's email is empty."


class AlreadyStarted(Refusal):
    """The candidate is in session."""

    status, message = 400, "The candidate has already started this assessment."


class AlreadyCompleted(Refusal):
    """The candidate has submitted."""

    status, message = 400, "The candidate has already completed this assessment."


class InvitationExpired(Refusal):
    """The invitation's time ran out before the candidate started."""

    status, message = 400, say("The invitation has expired.")


class ReminderCooldown(Refusal):
    """One reminder per invitation and day."""

    status, message = 400, "A reminder was sent less than 24 hours ago."


class NotVerified(Refusal):
    """An endpoint is switched on by its first successful test."""

    status, message = 400, say("The endpoint has not passed a test yet; call its test operation first.")


class WebhookRequestFailed(Refusal):
    """The endpoint could not be reached."""

    status, message = 400, say("The endpoint could not be reached.")


class WebhookEndpointError(Refusal):
    """The endpoint was reached and answered something else than 2xx."""

    status, message = 400, say("The endpoint did not answer with a 2xx status.")


class EndpointPaused(Refusal):
    """Nothing is sent to an endpoint that is switched off."""

    status, message = 400, say("The endpoint is paused; switch it on or test it first.")


class AlreadyDelivered(Refusal):
    """The delivery has succeeded; there is nothing to retry."""

    status, message = 400, say("The delivery has already succeeded.")


class InvalidApiKey(Refusal):
    """No key, an unknown one, or a revoked one."""

    status, message = 401, "The API key is missing, malformed, unknown or revoked."


class ExpiredApiKey(Refusal):
    """The key's time is over."""

    status, message = 401, "The API key has expired."


class InvalidSession(Refusal):
    """Nobody is signed in, or the session has ended."""

    status, message = 401, "There is no session, or it has ended; sign in again."


class CsrfFailed(Refusal):
    """A change by a session came without the token that its own pages know."""

    status, message = 403, say("The request does not carry the session's token in X-CSRF-Token.")


class SignInFailed(Refusal):
    """A code or link to sign in with that does not work, whatever the reason."""

    status, message = 400, say("The code or link is wrong, used or too old; ask for a new mail.")


class SignInMismatch(Refusal):
    """A company's provider names another person than before for a member's address."""

    status = 400
    message = say("Your company names another person for this address; an owner can undo the binding.")


class ConfirmationRequired(Refusal):
    """Keys and members are changed by whoever has just shown who they are."""

    status = 403
    message = say("Confirm who you are first, by a code or a passkey; that counts for ten minutes.")


class InsufficientScope(Refusal):
    """The key lacks the scope of the operation."""

    status, message = 403, "The API key lacks the scope that this operation needs."


class IpNotAllowed(Refusal):
    """The request comes from outside the key's allowlist."""

    status, message = 403, "The API key may not be used from this address."


class LiveKey(Refusal):
    """The test world is of test mode alone."""

    status, message = 403, "This is for test mode alone; use a key that starts with ct_test_."


class PlanRequired(Refusal):
    """The organisation's plan does not include this."""

    status, message = 403, "The organisation's plan does not include this; a higher plan is needed."


class AssessmentLimitReached(Refusal):
    """The plan's assessments are used up."""

    status, message = 403, "The plan's number of assessments is used up; archive one or upgrade."


class InviteQuotaExceeded(Refusal):
    """The month's invitations are used up."""

    status, message = 403, "The month's invitations are used up."


class JobLimitReached(Refusal):
    """The plan's open jobs are used up."""

    status, message = 403, "The plan's open jobs are used up; close one or upgrade."


class LimitReached(Refusal):
    """Another number of the plan is used up."""

    status, message = 403, say("A limit of the plan is reached.")


class NotFound(Refusal):
    """Unknown here: absent, another organisation's, or of the other mode."""

    status, message = 404, say("There is no such resource.")


class CaseNotFound(Refusal):
    """A case named in the body does not exist for this caller."""

    status, message = 404, "There is no such case."


class MethodNotAllowed(Refusal):
    """The path exists, the method does not; `Allow` lists those that do."""

    status, message = 405, say("This path does not take that method.")


class CasesLocked(Refusal):
    """A candidate has started; the cases of the assessment stand."""

    status, message = 409, "A candidate has started this assessment, so its cases can no longer change."


class StagesLocked(Refusal):
    """Somebody is, or was, enrolled; the stages that are there stand."""

    status = 409
    message = "Candidates are enrolled in this pipeline, so its stages stand; new ones may follow them."


class AlreadyClaimed(Refusal):
    """Somebody else has the review in hand."""

    status, message = 409, "Somebody else has this review in hand."


class SquadInUse(Refusal):
    """The squad owns open jobs."""

    status, message = 409, "The squad owns open jobs; close them, or give them to another squad, first."


class DuplicateKey(Refusal):
    """The same thing exists already."""

    status, message = 409, "The same resource exists already."


class SessionClosed(Refusal):
    """The session has been submitted or its time is up."""

    status, message = 409, say("The session is closed.")


class IdempotencyInProgress(Refusal):
    """The first request with this key is still running."""

    status, message = 409, "A request with this Idempotency-Key is still running; try again shortly."


class IdempotencyMismatch(Refusal):
    """The key was used for another request."""

    status, message = 422, "This Idempotency-Key was used for another request."


class RequestTimeout(Refusal):
    """Head or body came too slowly."""

    status, message = 408, say("The request did not come in time.")


class BodyTooLarge(Refusal):
    """The body is larger than the operation takes."""

    status, message = 413, say("The request body is too large.")


class UnsupportedMediaType(Refusal):
    """The body is of a type that the operation does not take."""

    status, message = 415, say("The request body's media type is not supported.")


class RateLimited(Refusal):
    """The hour's requests are used up."""

    status, message = 429, say("The rate limit is exceeded; try again later.")


class HeadersTooLarge(Refusal):
    """The head is larger than any request needs."""

    status, message = 431, "The request's headers are too large."


class InternalError(Refusal):
    """A fault of the service; the log has it under the request id."""

    status, message = 500, say("Something went wrong on our side.")


class AiProviderError(Refusal):
    """The model's server failed, was late, or answered something that is no answer."""

    status, message = 502, "The model's server did not give an answer that can be used; try again shortly."


class SignInProviderError(Refusal):
    """The server of a company's own sign-in failed, was late, or answered something that is no answer."""

    status, message = 502, say("The company's sign-in gave no answer that can be used; try again shortly.")


class AiDisabled(Refusal):
    """The operator has set up no model."""

    status, message = 503, "No model is set up on this instance."


class Unavailable(Refusal):
    """The database cannot answer just now, or a wait ran out."""

    status, message = 503, say("The service cannot answer just now; try again shortly.")
