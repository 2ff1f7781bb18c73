"""A mail server of the tests' own: enough of SMTP to take mails, without TLS."""

import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Post(socketserver.ThreadingTCPServer):
    """Keeps the mails it gets and the words it hears; answers a word with what `answers` says, if anything."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Exchange)
        self.url = f"smtp://ann:secret@127.0.0.1:{self.server_address[1]}"
        self.mails: list[bytes] = []
        self.words: list[str] = []
        self.answers: dict[str, str] = {}
        self.taken: Callable[[bytes], None] = self.mails.append
        # While it is not set, the server takes connections and says nothing.
        self.speaking = threading.Event()
        self.speaking.set()

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away is no news."""


class _Exchange(socketserver.StreamRequestHandler):
    server: Post
    disable_nagle_algorithm = True

    def handle(self) -> None:
        self.server.speaking.wait()
        self.say("220 hello")
        for line in self.rfile:
            word = line.split()[0].upper().decode()
            self.server.words.append(word)
            answer = self.server.answers.get(word, "250 ok")
            if word == "DATA" and answer == "250 ok":
                self.say("354 go on")
                self.server.taken(b"".join(iter(self.rfile.readline, b".\r\n")))
            if word == "QUIT" and answer == "250 ok":
                self.say("221 bye")
                break
            self.say(answer)

    def say(self, text: str) -> None:
        self.wfile.write(text.encode() + b"\r\n")


@contextmanager
def running() -> Iterator[Post]:
    """Serve on a free port as long as the block."""
    with Post() as server:
        threading.Thread(target=server.serve_forever, args=[0.05], daemon=True).start()
        try:
            yield server
        finally:
            server.speaking.set()
            server.shutdown()
