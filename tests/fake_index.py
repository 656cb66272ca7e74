"""A package index on 127.0.0.1 for tests: real HTTP, real archives, and every way in which a server can misbehave."""

from __future__ import annotations

import base64
import csv
import hashlib
import html
import io
import re
import ssl
import tarfile
import threading
import time
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


def make_wheel(
    files: Mapping[str, str | bytes], name: str = "demo", version: str = "1.0", record: bool = True
) -> bytes:
    """A wheel with these files, and a RECORD of them."""
    contents = {path: text.encode() if isinstance(text, str) else text for path, text in files.items()}
    info = f"{name}-{version}.dist-info"
    contents[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode()
    if record:
        rows = io.StringIO()
        writer = csv.writer(rows, lineterminator="\n")
        for path, content in contents.items():
            writer.writerow([path, f"sha256={record_hash(content)}", len(content)])
        writer.writerow([f"{info}/RECORD", "", ""])
        contents[f"{info}/RECORD"] = rows.getvalue().encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in contents.items():
            archive.writestr(path, content)
    return buffer.getvalue()


def record_hash(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def make_sdist(files: Mapping[str, str | bytes], name: str = "demo", version: str = "1.0") -> bytes:
    """An sdist with these files below ``name-version/``."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for path, text in {"PKG-INFO": f"Name: {name}\nVersion: {version}\n", **files}.items():
            content = text.encode() if isinstance(text, str) else text
            member = tarfile.TarInfo(f"{name}-{version}/{path}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


@dataclass
class FakeIndex:
    """What is served, how, and what was asked.

    `claimed` are sha256 hashes that the page gives in place of the true ones ("" for none at all); `statuses` are
    answered in turn before anything else; `break_off` cuts that many bodies short; `delay` is waited before answering.
    """

    ranges: bool = True
    delay: float = 0
    password: tuple[str, str] | None = None
    statuses: list[int] = field(default_factory=list)
    break_off: int = 0
    claimed: dict[str, str] = field(default_factory=dict)
    yanked: set[str] = field(default_factory=set)
    pythons: dict[str, str] = field(default_factory=dict)
    files: dict[str, dict[str, bytes]] = field(default_factory=dict)
    requests: list[tuple[str, str | None]] = field(default_factory=list)
    authorizations: list[str | None] = field(default_factory=list)
    sent: int = 0
    base: str = ""

    def add(self, project: str, filename: str, content: bytes) -> None:
        self.files.setdefault(project, {})[filename] = content

    @property
    def url(self) -> str:
        return f"{self.base}/simple/"

    def asked_for(self, filename: str) -> list[str | None]:
        """The Range headers of the requests for a file."""
        return [header for path, header in self.requests if path.endswith(filename)]

    def page(self, project: str) -> str:
        links = []
        for filename, content in self.files[project].items():
            digest = self.claimed.get(filename, hashlib.sha256(content).hexdigest())
            fragment = f"#sha256={digest}" if digest else ""
            yanked = ' data-yanked=""' if filename in self.yanked else ""
            requires = f' data-requires-python="{html.escape(self.pythons.get(filename, ">=3.9"))}"'
            links.append(f'<a href="../../files/{project}/{filename}{fragment}"{yanked}{requires}>{filename}</a>')
        return "<!DOCTYPE html><html><body>" + "\n".join(links) + "</body></html>"


def _handler(index: FakeIndex) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_args: object) -> None:
            pass

        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            index.requests.append((path, self.headers.get("Range")))
            index.authorizations.append(self.headers.get("Authorization"))
            if index.delay:
                time.sleep(index.delay)
            if index.statuses:
                return self.reply(index.statuses.pop(0), b"no")
            if index.password and not self.allowed(index.password):
                return self.reply(401, b"who are you?")
            if match := re.fullmatch(r"/simple/([^/]+)/", path):
                if match[1] in index.files:
                    return self.reply(200, index.page(match[1]).encode(), {"Content-Type": "text/html"})
            elif match := re.fullmatch(r"/files/([^/]+)/([^/]+)", path):
                content = index.files.get(match[1], {}).get(match[2])
                if content is not None:
                    return self.file(content)
            return self.reply(404, b"not here")

        def allowed(self, password: tuple[str, str]) -> bool:
            expected = base64.b64encode(":".join(password).encode()).decode()
            return self.headers.get("Authorization") == f"Basic {expected}"

        def file(self, content: bytes) -> None:
            asked = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
            if not (index.ranges and asked):
                return self.reply(200, content)
            if asked[1]:
                start, end = int(asked[1]), min(int(asked[2] or len(content)) + 1, len(content))
            else:
                start, end = max(0, len(content) - int(asked[2])), len(content)
            part = {"Content-Range": f"bytes {start}-{end - 1}/{len(content)}"}
            return self.reply(206, content[start:end], part)

        def reply(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            if index.break_off and status in (200, 206) and "/files/" in self.path:
                index.break_off -= 1
                self.close_connection = True
                body = body[: len(body) // 2]
            self.end_headers()
            self.wfile.write(body)
            index.sent += len(body)

    return Handler


@contextmanager
def serving(index: FakeIndex, tls: ssl.SSLContext | None = None) -> Iterator[FakeIndex]:
    """Serves an index on a free port for as long as the context lasts."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_args: object) -> None:
            """A client that goes away early is part of what is tested."""

    server = Server(("127.0.0.1", 0), _handler(index))
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    index.base = f"{'http' if tls is None else 'https'}://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield index
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
