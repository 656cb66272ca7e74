"""A package index on 127.0.0.1 that is out to do harm: whatever bytes one likes, as slowly as one likes."""

from __future__ import annotations

import socketserver
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

Answer = Callable[[str], Iterator[bytes]]


@dataclass
class ForgedIndex:
    """`answers` by path; any other path is answered with 404. `asked` are the paths that were asked for."""

    answers: dict[str, Answer] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    base: str = ""

    @property
    def url(self) -> str:
        return f"{self.base}/simple/"

    def page(self, answer: Answer, project: str = "demo") -> None:
        self.answers[f"/simple/{project}/"] = answer


def reply(
    body: bytes = b"", kind: str = "text/html", status: str = "200 OK", length: str | None = None, **headers: str
) -> Answer:
    """An answer in one piece; `length` is what it says of its own."""
    lines = [
        f"HTTP/1.1 {status}",
        f"Content-Type: {kind}",
        f"Content-Length: {len(body) if length is None else length}",
    ]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    whole = "\r\n".join([*lines, "Connection: close", "", ""]).encode() + body

    def answer(_path: str) -> Iterator[bytes]:
        yield whole

    return answer


def redirect(target: str) -> Answer:
    return reply(status="302 Found", Location=target)


def dripping(start: bytes, drop: bytes, pause: float = 0.05) -> Answer:
    """An answer that never ends, and never stops for long."""

    def answer(_path: str) -> Iterator[bytes]:
        yield start
        while True:
            time.sleep(pause)
            yield drop

    return answer


def endless(start: bytes, block: bytes) -> Answer:
    """An answer that never ends, as fast as it can be sent."""
    return dripping(start, block, 0)


@contextmanager
def forging() -> Iterator[ForgedIndex]:
    """Serves a forged index on a free port for as long as the context lasts."""
    index = ForgedIndex()
    closed = threading.Event()

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            request = b""
            while b"\r\n\r\n" not in request and (part := self.request.recv(1 << 16)):
                request += part
            path = request.split(b" ")[1].decode()
            index.asked.append(path)
            for piece in index.answers.get(path, reply(status="404 Not Found"))(path):
                if closed.is_set():
                    break
                self.request.sendall(piece)

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        block_on_close = False

        def handle_error(self, *_args: object) -> None:
            """A client that goes away early is part of what is tested."""

    with Server(("127.0.0.1", 0), Handler) as server:
        index.base = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield index
        finally:
            closed.set()
            server.shutdown()
            thread.join()
