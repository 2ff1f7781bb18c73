"""Write everything that is made from something else: `./hiring test -e generate`."""

from collections.abc import Iterator
from pathlib import Path

import orjson

from schemas import document
from tests.document import events, traceability
from tests.document.apart import set_apart
from tests.document.arrange import arrange
from tests.document.bundle import bundle, write
from tests.document.twin import twin

ROOT = Path(__file__).resolve().parent.parent.parent
COMMAND = "./hiring test -e generate"


def generated() -> Iterator[tuple[Path, bytes]]:
    """Return each generated file with what belongs into it."""
    for name in document.NAMES:
        whole = arrange(bundle(ROOT / "spec" / f"{name}.yaml"))
        served = set_apart(whole)
        yield document.PUBLISHED / f"{name}.yaml", write(served).encode()
        yield document.PUBLISHED / f"{name}.json", orjson.dumps(served)
        if name == "openapi":
            modern = twin(whole)
            yield document.PUBLISHED / f"{name}-3.1.json", orjson.dumps(modern)
            schema = events.bundle(modern, whole["x-events"])
            yield document.PUBLISHED / "events.schema.json", orjson.dumps(schema, option=orjson.OPT_INDENT_2)
            yield events.PAGE, events.page(whole).encode()
    yield ROOT / "docs" / "traceability.md", traceability.page().encode()


def main() -> None:
    """Write what is stale, and say so."""
    for path, content in generated():
        if not path.exists() or path.read_bytes() != content:
            path.write_bytes(content)
            print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
