"""What makes an organisation's pages its own, for everybody to see."""

from sqlalchemy.orm import Session

from rules.errors import NotFound
from schemas import settings as schemas
from schemas.files import File
from store.branding import settings
from store.hiring import careers


def get_logo(session: Session, org_slug: str) -> File:
    """Hand out the logo."""
    row = settings.logo(session, org_slug)
    if row is None:
        raise NotFound("There is no such logo.")
    return schemas.logo(row)


def get_brand_style(session: Session, org_slug: str) -> File:
    """Hand out the stylesheet of the colour."""
    _, caller = careers.visit(session, org_slug)
    return schemas.style(settings.read(session, caller))
