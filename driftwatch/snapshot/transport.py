"""The network, and nothing else of it: one session with the user's settings, bounded in time and retries.

Enters: `IndexSettings` and URLs. Leaves: responses, or an `IndexUnavailableError` of one sentence. Credentials, from a
URL or a netrc file, go only to the host they belong to, and no message ever holds a URL's user, password or query.
"""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit
from urllib.request import url2pathname

import requests
import urllib3
from requests.adapters import BaseAdapter, HTTPAdapter
from requests.auth import AuthBase, HTTPBasicAuth
from requests.utils import get_netrc_auth
from urllib3.util.retry import Retry

import driftwatch
from driftwatch.errors import IndexUnavailableError
from driftwatch.snapshot.index_settings import IndexSettings

RETRIES = 2
BACKOFF = 0.3
CONNECT_TIMEOUT = 10.0
DEADLINE = 900.0
"""No single file may take longer than this many seconds, however steadily it drips."""
CHUNK = 1 << 16
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
            response.raw = path.open("rb")
            response.status_code = 200
        except OSError:
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
        self.session = requests.Session()
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
        self.session.mount("file://", _FileAdapter())

    def trusted(self, url: str) -> str:
        """The URL without credentials, which are kept for its host."""
        bare, credentials = without_credentials(url)
        if credentials:
            self._credentials.remember(bare, credentials)
        return bare

    def close(self) -> None:
        self.session.close()

    @contextmanager
    def get(self, url: str, what: str, headers: dict[str, str] | None = None) -> Iterator[requests.Response]:
        """A streamed answer with a status below 400, to be read in full; its traffic is counted when it is closed."""
        # Files of an archive are compressed already, and a range of a re-encoded answer would be meaningless.
        wanted = {"Accept-Encoding": "identity", **(headers or {})}
        with translated(what, url):
            response = self.session.get(
                self.trusted(url), stream=True, timeout=self.timeout, headers=wanted, verify=self._verify
            )
            try:
                response.raise_for_status()
                yield response
                if _received(response) < int(response.headers.get("Content-Length", 0)):
                    raise requests.exceptions.ChunkedEncodingError  # which older releases of urllib3 do not see
            finally:
                self.traffic.add(_received(response))
                response.close()
                if not isinstance(response.raw, urllib3.HTTPResponse):
                    response.raw.close()  # a local file, which requests leaves open once it is read

    def chunks(self, response: requests.Response, limit: int) -> Iterator[bytes]:
        """The body, as it comes; an error when it is longer than `limit` or takes for ever."""
        end = time.monotonic() + DEADLINE
        total = 0
        for chunk in response.iter_content(CHUNK):
            total += len(chunk)
            if total > limit:
                raise IndexUnavailableError(f"{public_url(response.url)} sends more than the {limit:,} bytes expected")
            if time.monotonic() > end:
                raise IndexUnavailableError(f"{public_url(response.url)} is too slow", OFFLINE_HINT)
            yield chunk


def _received(response: requests.Response) -> int:
    """Bytes that came over the wire; a local file is no traffic."""
    return response.raw.tell() if isinstance(response.raw, urllib3.HTTPResponse) else 0


@contextmanager
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
    except requests.exceptions.ChunkedEncodingError:
        raise BrokenOffError(f"{what}: {host} ends the connection early", OFFLINE_HINT) from None
    except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
        causes = [error, *error.args, *(getattr(cause, "reason", None) for cause in error.args)]
        late = any(isinstance(cause, _LATE) and not isinstance(cause, _REFUSED) for cause in causes)
        kind = "does not answer in time" if late else "cannot be reached"
        raise IndexUnavailableError(f"{what}: {host} {kind}", OFFLINE_HINT) from None
