"""The network, and nothing else of it: one session with the user's settings, bounded in time and retries.

Enters: `IndexSettings` and URLs. Leaves: responses, or an `IndexUnavailableError` of one sentence. Credentials, from a
URL or a netrc file, go only to the host they belong to, and no message ever holds a URL's user, password or query.

Whoever answers may be anyone: no answer leads to a file of this machine, none takes for ever, and none is larger in
memory than whoever asks for it says, however it is packed.
"""

from __future__ import annotations

import contextlib
import io
import stat
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urljoin, urlsplit, urlunsplit
from urllib.request import url2pathname

import requests
import urllib3
from requests.adapters import BaseAdapter, HTTPAdapter
from requests.auth import AuthBase, HTTPBasicAuth
from requests.utils import get_netrc_auth
from urllib3.util.retry import Retry

import driftwatch
from driftwatch.errors import IndexUnavailableError
from driftwatch.snapshot.sources.index_settings import IndexSettings

RETRIES = 2
BACKOFF = 0.3
CONNECT_TIMEOUT = 10.0
DEADLINE = 900.0
"""No single file may take longer than this many seconds, however steadily it drips."""
PAGE_DEADLINE = 120.0
"""Nor any page longer than this."""
CHUNK = 1 << 18
WEB = ("http", "https")
OFFLINE_HINT = "check the network or PIP_INDEX_URL; the snapshots that driftwatch has already need no index"


@dataclass
class Traffic:
    """What was fetched, for whoever wants to know; safe to share between threads."""

    bytes: int = 0
    requests: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def add(self, received: int) -> None:
        with self._lock:
            self.bytes += received
            self.requests += 1


def public_url(url: str) -> str:
    """The URL as it may be shown: no user, password, query or fragment."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def without_credentials(url: str) -> tuple[str, tuple[str, str] | None]:
    """The URL without its user and password, and those two."""
    parts = urlsplit(url)
    if "@" not in parts.netloc:
        return url, None
    bare = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
    return bare, (unquote(parts.username or ""), unquote(parts.password or ""))


def scheme_of(url: str) -> str:
    return urlsplit(url).scheme.lower()


_LATE = (requests.Timeout, urllib3.exceptions.TimeoutError)
_REFUSED = urllib3.exceptions.NewConnectionError  # which urllib3 counts among the timeouts


class RefusedError(IndexUnavailableError):
    """The index answers, with an HTTP status that says no."""

    def __init__(self, message: str, hint: str | None, status: int) -> None:
        super().__init__(message, hint)
        self.status = status


class NotFoundError(RefusedError):
    """The index answers, and does not have the file."""


class BrokenOffError(IndexUnavailableError):
    """The answer ended early; asking again may help."""


class _LeadsAwayError(requests.RequestException):
    """The answer is a redirect to what is no web address."""


class _MisspokenError(requests.RequestException):
    """The answer is not what HTTP has it to be."""


class _NeverError(requests.Timeout):
    """There is no end in sight."""


class TooSlowError(IndexUnavailableError):
    """The answer goes on, and not fast enough."""


class _Session(requests.Session):
    """A session in which the web leads to the web alone."""

    def get_redirect_target(self, resp: requests.Response) -> str | None:
        target = super().get_redirect_target(resp)
        if target is not None and scheme_of(urljoin(resp.url, target)) not in WEB:
            resp.close()
            raise _LeadsAwayError
        return target


class _HostCredentials(AuthBase):
    """Basic credentials for the hosts they were given for; the user's netrc for all others."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], tuple[str, str]] = {}

    def remember(self, url: str, credentials: tuple[str, str]) -> None:
        parts = urlsplit(url)
        self._known[parts.scheme, parts.netloc] = credentials

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        parts = urlsplit(request.url or "")
        host = parts.netloc.rpartition("@")[2]
        found = self._known.get((parts.scheme, host)) or get_netrc_auth(request.url or "")
        return HTTPBasicAuth(*found)(request) if found else request


class _FileAdapter(BaseAdapter):
    """``file:`` URLs, so that a mirror in a folder is an index like any other; a folder answers with its index.html."""

    def send(self, request: requests.PreparedRequest, *_args: Any, **_kwargs: Any) -> requests.Response:
        response = requests.Response()
        response.request = request
        response.url = request.url or ""
        path = Path(url2pathname(urlsplit(response.url).path))
        if path.is_dir():
            path /= "index.html"
            response.headers["Content-Type"] = "text/html"
        try:
            if not stat.S_ISREG(path.stat().st_mode):
                raise FileNotFoundError  # a device or a pipe has no end
            response.raw = path.open("rb")
            response.status_code = 200
        except (OSError, ValueError):
            response.status_code = 404
            response.raw = io.BytesIO()
        return response

    def close(self) -> None:
        return None


class _UncheckedAdapter(HTTPAdapter):
    """For hosts whose certificate the user has told pip not to check."""

    def send(self, request: requests.PreparedRequest, *args: Any, **kwargs: Any) -> requests.Response:
        return super().send(request, *args, **{**kwargs, "verify": False})


class Transport:
    """A session that keeps its connections, with the user's certificates, proxy, timeout and credentials."""

    def __init__(self, settings: IndexSettings, traffic: Traffic | None = None) -> None:
        self.traffic = traffic or Traffic()
        self.timeout = (min(CONNECT_TIMEOUT, settings.timeout), settings.timeout)
        self._credentials = _HostCredentials()
        self._patience = 4 * (RETRIES + 1) * settings.timeout
        self.session: requests.Session = _Session()
        self.session.headers["User-Agent"] = f"driftwatch/{driftwatch.__version__}"
        self.session.auth = self._credentials
        # Given with each request: what a session holds yields to REQUESTS_CA_BUNDLE, and pip's own setting must not.
        self._verify = settings.certificates
        if settings.client_certificate:
            self.session.cert = settings.client_certificate
        if settings.proxy:
            self.session.proxies = {"http": settings.proxy, "https": settings.proxy}
        retry = Retry(
            total=RETRIES,
            backoff_factor=BACKOFF,
            status_forcelist=(429, 500, 502, 503, 504),
            allowed_methods=("GET", "HEAD"),
            respect_retry_after_header=False,
            raise_on_status=False,
        )
        for scheme in ("https://", "http://"):
            self.session.mount(scheme, HTTPAdapter(max_retries=retry, pool_maxsize=16))
        if settings.trusted_hosts:
            urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
        for host in settings.trusted_hosts:
            self.session.mount(f"https://{host}/", _UncheckedAdapter(max_retries=retry))
            if ":" not in host:
                self.session.mount(f"https://{host}:", _UncheckedAdapter(max_retries=retry))
        if any(scheme_of(url) == "file" for url in (settings.index_url, *settings.extra_urls)):
            self.session.mount("file://", _FileAdapter())

    def trusted(self, url: str) -> str:
        """The URL without credentials, which are kept for its host."""
        bare, credentials = without_credentials(url)
        if credentials:
            self._credentials.remember(bare, credentials)
        return bare

    def close(self) -> None:
        self.session.close()

    @contextlib.contextmanager
    def get(self, url: str, what: str, headers: dict[str, str] | None = None) -> Iterator[requests.Response]:
        """A streamed answer with a status below 400, to be read in full; its traffic is counted when it is closed."""
        # Files of an archive are compressed already, and a range of a re-encoded answer would be meaningless.
        wanted = {"Accept-Encoding": "identity", **(headers or {})}
        with translated(what, url):
            address = self.trusted(url)
            response = _in_time(
                lambda: self.session.get(
                    address, stream=True, timeout=self.timeout, headers=wanted, verify=self._verify
                ),
                self._patience,
                lambda late: late.close() if late is not None else None,
            )
            abandoned = False
            try:
                response.raise_for_status()
                announced = _announced(response)
                yield response
                if _received(response) < announced:
                    raise requests.exceptions.ChunkedEncodingError  # which older releases of urllib3 do not see
            except TooSlowError:
                abandoned = True  # whoever is still reading from it closes it
                raise
            finally:
                self.traffic.add(_received(response))
                if not abandoned:
                    _close(response)

    def chunks(self, response: requests.Response, limit: int, deadline: float | None = None) -> Iterator[bytes]:
        """The body as it was sent, as it comes; an error when it is longer than `limit` or takes for ever."""
        end = time.monotonic() + (DEADLINE if deadline is None else deadline)
        total = 0
        while True:
            left = end - time.monotonic()
            try:
                if left <= 0:
                    raise _NeverError
                chunk = _in_time(lambda: _next(response), left, lambda _: _close(response))
            except _NeverError:
                raise TooSlowError(f"{public_url(response.url)} is too slow", OFFLINE_HINT) from None
            total += len(chunk)
            if total > limit:
                raise IndexUnavailableError(f"{public_url(response.url)} sends more than the {limit:,} bytes expected")
            if not chunk:
                return
            yield chunk

    def body(self, response: requests.Response, limit: int) -> bytes:
        """All of a page, unpacked; an error when that is longer than `limit` or takes for ever."""
        coding = response.headers.get("Content-Encoding", "identity").strip().lower()
        if coding not in ("identity", "gzip", "x-gzip", "deflate"):
            raise _MisspokenError
        unpacking = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32) if coding != "identity" else None
        parts: list[bytes] = []
        left = limit
        for chunk in self.chunks(response, limit, PAGE_DEADLINE):
            try:
                part = unpacking.decompress(chunk, left + 1) if unpacking is not None else chunk
            except zlib.error:
                raise _MisspokenError from None
            left -= len(part)
            if left < 0:
                raise IndexUnavailableError(f"{public_url(response.url)} unpacks to more than {limit:,} bytes")
            parts.append(part)
        if unpacking is not None and not unpacking.eof:
            raise BrokenOffError(f"{public_url(response.url)} ends in the middle", OFFLINE_HINT)
        return b"".join(parts)


_Answer = TypeVar("_Answer")
_WAITING = "driftwatch waits for an answer"


def _in_time(call: Callable[[], _Answer], seconds: float, forget: Callable[[_Answer | None], object]) -> _Answer:
    """What a call returns or raises; `_NeverError` when it takes longer, and `forget` is called when it ends after all.

    The timeouts of a socket start anew with each byte, and a server may send one byte at a time.
    """
    outcome: list[tuple[_Answer | None, BaseException | None]] = []
    late = threading.Event()

    def run() -> None:
        try:
            outcome.append((call(), None))
        except BaseException as error:  # noqa: BLE001 - raised where the call was asked for
            outcome.append((None, error))
        if late.is_set():
            with contextlib.suppress(Exception):
                forget(outcome[0][0])

    thread = threading.Thread(target=run, name=_WAITING, daemon=True)
    thread.start()
    thread.join(max(seconds, 0))
    if not outcome:
        late.set()
        raise _NeverError
    answer, error = outcome[0]
    if error is not None:
        raise error
    assert answer is not None
    return answer


def _close(response: requests.Response) -> None:
    response.close()
    if not isinstance(response.raw, urllib3.HTTPResponse):
        response.raw.close()  # a local file, which requests leaves open once it is read


def _next(response: requests.Response) -> bytes:
    """The next bytes as they were sent: what a server says it has packed is unpacked by whoever bounds it."""
    if isinstance(response.raw, urllib3.HTTPResponse):
        return response.raw.read(CHUNK, decode_content=False)
    return bytes(response.raw.read(CHUNK))


def _announced(response: requests.Response) -> int:
    """How many bytes the answer says it has, or 0."""
    text = response.headers.get("Content-Length", "0").strip()
    if not (text.isascii() and text.isdecimal() and len(text) < 20):
        raise _MisspokenError
    return int(text)


def _received(response: requests.Response) -> int:
    """Bytes that came over the wire; a local file is no traffic."""
    return response.raw.tell() if isinstance(response.raw, urllib3.HTTPResponse) else 0


@contextlib.contextmanager
def translated(what: str, url: str) -> Iterator[None]:
    """Turns every failure of the network into one sentence about `what`, free of anything secret."""
    host = urlsplit(public_url(url)).netloc or public_url(url)
    try:
        yield
    except requests.HTTPError as error:
        status = error.response.status_code if error.response is not None else 0
        if status in (404, 410):
            raise NotFoundError(f"{what}: {host} does not have it", None, status) from None
        hint = "check the credentials in the index URL or netrc" if status in (401, 403) else OFFLINE_HINT
        raise RefusedError(f"{what}: {host} answers with HTTP status {status}", hint, status) from None
    except requests.exceptions.SSLError:
        raise IndexUnavailableError(
            f"{what}: the certificate of {host} cannot be verified", "set PIP_CERT to the certificates to trust"
        ) from None
    except requests.exceptions.ProxyError:
        raise IndexUnavailableError(f"{what}: the proxy before {host} cannot be used", OFFLINE_HINT) from None
    except _LeadsAwayError:
        raise IndexUnavailableError(f"{what}: {host} leads to another address than http or https") from None
    except requests.TooManyRedirects:
        raise IndexUnavailableError(f"{what}: {host} redirects without end", OFFLINE_HINT) from None
    except _MisspokenError:
        raise IndexUnavailableError(f"{what}: {host} does not speak HTTP as it should", OFFLINE_HINT) from None
    except (requests.exceptions.ChunkedEncodingError, urllib3.exceptions.ProtocolError):
        raise BrokenOffError(f"{what}: {host} ends the connection early", OFFLINE_HINT) from None
    except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
        causes = [error, *error.args, *(getattr(cause, "reason", None) for cause in error.args)]
        late = any(isinstance(cause, _LATE) and not isinstance(cause, _REFUSED) for cause in causes)
        kind = "does not answer in time" if late else "cannot be reached"
        raise IndexUnavailableError(f"{what}: {host} {kind}", OFFLINE_HINT) from None
