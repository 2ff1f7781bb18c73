"""A box as bytes: what a compiler left in it, to start programs from."""

import json
import os
import stat

LARGEST = 64 << 20


class BoxError(Exception):
    """A box holds more than may be kept."""


def pack(folder: str) -> bytes:
    """Take the plain files of a folder that nothing changes any more, with their modes; not what is in `.folders`."""
    index: list[tuple[str, int, int]] = []
    blocks: list[bytes] = []
    for here, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]  # compilers' caches
        for name in names:
            path = os.path.join(here, name)
            if not stat.S_ISREG(os.lstat(path).st_mode):
                continue
            with open(path, "rb") as file:
                blocks.append(file.read())
                mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o755
            index.append((os.path.relpath(path, folder), mode, len(blocks[-1])))
            if sum(size for _, _, size in index) > LARGEST:
                raise BoxError(f"what was built takes more than {LARGEST >> 20} MiB")
    return b"".join([json.dumps(index).encode(), b"\n", *blocks])


def pack_texts(files: dict[str, str]) -> bytes:
    """Make a box of texts, each in a file of its name."""
    blocks = {name: text.encode(errors="surrogatepass") for name, text in files.items()}
    index = [(name, 0o644, len(block)) for name, block in blocks.items()]
    return b"".join([json.dumps(index).encode(), b"\n", *blocks.values()])


def unpack(box: bytes, folder: str) -> None:
    """Put the files back, readable for whoever runs there."""
    head, _, rest = box.partition(b"\n")
    for name, mode, size in json.loads(head):
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(rest[:size])
        os.chmod(path, mode | 0o444)
        rest = rest[size:]
