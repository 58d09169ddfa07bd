"""A connection to one API server: requests out, JSON in, and one error for all that goes wrong.

The client library gives kubeconfig, certificates, credentials and pooling. Requests are made as
the API documents them: the library's generated classes take two seconds to load, and have every
field optional. Importing this module still takes half a second: import it late.
"""

import http
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from http.client import IncompleteRead
from threading import Thread
from typing import TYPE_CHECKING, Any, Final

from kubernetes import client, config
from urllib3.exceptions import HTTPError, ReadTimeoutError
from yaml import YAMLError

from fake_plugin.files.regular import open_regular
from lab.cluster.advice import Advice
from lab.core.errors import CheckFailed

if TYPE_CHECKING:
    from kubernetes.stream.ws_client import WSClient

MERGE: Final = "application/merge-patch+json"
#: To connect, and between two pieces of an answer: a stopped machine accepts and says nothing.
_CONNECT_SECONDS: Final = 5.0
_ANSWER_SECONDS: Final = 20.0
#: The reason of a command that ran and ended with another code than 0.
_EXITED: Final = "NonZeroExitCode"
#: What the library raises of a kubeconfig: of one in another shape, what Python says on the way.
_UNUSABLE: Final = (
    *(config.ConfigException, YAMLError, OSError),
    *(ValueError, TypeError, AttributeError, LookupError),
)
_LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")

Query = Sequence[tuple[str, str]]
Json = Mapping[str, Any]


class ApiFailed(CheckFailed):
    """The API server refused or could not be reached; `seen` holds its words, or the system's.

    `status` is that of its HTTP answer, 0 where there was none.
    """

    def __init__(  # noqa: PLR0913 - what every error has, and the status
        self,
        what: str,
        *,
        where: str = "",
        seen: str = "",
        remedy: str = "",
        commands: tuple[str, ...] = (),
        status: int = 0,
    ) -> None:
        super().__init__(what, where=where, seen=seen, remedy=remedy, commands=commands)
        self.status = status

    @property
    def is_missing(self) -> bool:
        """Whether the server says that there is no such object."""
        return self.status == http.HTTPStatus.NOT_FOUND


class ServerSilent(ApiFailed):
    """The API server has taken a request, and said nothing within the time that it had.

    Where it passes the request on, it may be who gets it that is silent.
    """


class Connection:
    """A connection to the API server that a kubeconfig names.

    Every method raises `ApiFailed` where the server refuses or does not answer, which is
    `ServerSilent` where it took the request. `seconds` are those that it has to begin an answer,
    and to go on with it.
    """

    def __init__(self, api: client.ApiClient, advice: Advice) -> None:
        self._api = api
        #: What to do where something does not answer.
        self.advice = advice

    def get(self, path: str, query: Query = ()) -> Json:
        """Return what is at a path."""
        return self.send("GET", path, query)

    def send(  # noqa: PLR0913 - each is a part of an HTTP request
        self,
        method: str,
        path: str,
        query: Query = (),
        *,
        body: Json | None = None,
        content_type: str = "application/json",
        seconds: float = _ANSWER_SECONDS,
    ) -> Json:
        """Send a request, and return the object in the answer."""
        answer = self._open(
            method, path, query, body=body, content_type=content_type, seconds=seconds
        )
        with self._reaching():
            found: Json = json.loads(answer.read())
        return found

    def text(self, path: str, query: Query = (), *, seconds: float = _ANSWER_SECONDS) -> str:
        """Return what is at a path and is no object, such as a log."""
        answer = self._open("GET", path, query, seconds=seconds)
        with self._reaching():
            return bytes(answer.read()).decode(errors="replace")

    def ask(  # noqa: PLR0913 - each is a part of an HTTP request
        self,
        method: str,
        path: str,
        query: Query,
        body: Json | None,
        headers: Mapping[str, str],
        *,
        seconds: float = _ANSWER_SECONDS,
    ) -> tuple[int, bytes]:
        """Send a request; return status and content, be it a refusal."""
        answer = self._open(
            method, path, query, body=body, headers=headers, seconds=seconds, refusing=False
        )
        with self._reaching():
            return answer.status, bytes(answer.read())

    def watch(self, path: str, query: Query, seconds: int) -> Iterator[bytes]:
        """Yield the lines of a watch as they come; it ends, or raises, after that long at most."""
        asked = [*query, ("watch", "true"), ("timeoutSeconds", str(seconds))]
        # The server's own limit comes first; this one is for a server that has gone.
        answer = self._open("GET", path, asked, seconds=float(seconds + 1))
        # Who has seen enough does not read on to the end.
        with self._reaching(), closing(answer.response):
            yield from answer.response

    def execute(
        self, path: str, query: Query, seconds: float, *, begins: float = _ANSWER_SECONDS
    ) -> tuple[int, str]:
        """Run a command as a pod's `exec` takes it; return its code, and all that it printed.

        A code of -1 says that it has not ended within the seconds. `ApiFailed` says that it has not
        begun, or broke off: no such container runs, or the container has no such program; it is
        `ServerSilent` where nothing has begun within `begins` seconds.
        """
        # For few commands.
        from kubernetes.stream.ws_client import (  # noqa: PLC0415
            ERROR_CHANNEL,
            WSClient,
            get_websocket_url,
        )
        from websocket import WebSocketBadStatusException, WebSocketException  # noqa: PLC0415

        printing = [*query, ("stdout", "true"), ("stderr", "true")]
        _, url, headers, _, _ = self._api.param_serialize(
            "GET", path, query_params=printing, auth_settings=["BearerToken"]
        )
        settings, address = self._api.configuration, get_websocket_url(url)
        before = sys.exception()
        try:
            with self._reaching(), ExitStack() as stack:
                connect = partial(WSClient, settings, address, headers, capture_all=True)
                running = _within(begins, connect)
                # `close` leaves the socket open where the server has said goodbye first.
                stack.callback(running.sock.shutdown)
                stack.enter_context(closing(running))
                running.run_forever(timeout=seconds)
                if running.is_open():
                    return -1, str(running.read_all())
                return _exit_code(path, running.read_channel(ERROR_CHANNEL)), running.read_all()
        except WebSocketBadStatusException as refused:
            reason, body = refused.status_message or "", refused.resp_body or b""
            raise self._refused(refused.status_code, reason, body) from refused
        except WebSocketException as error:
            raise self._unreachable(error, before) from error

    def _open(  # noqa: PLR0913 - each is a part of an HTTP request
        self,
        method: str,
        path: str,
        query: Query = (),
        *,
        body: Json | None = None,
        content_type: str = "application/json",
        headers: Mapping[str, str] | None = None,
        seconds: float = _ANSWER_SECONDS,
        refusing: bool = True,
    ) -> client.rest.RESTResponse:
        """Send a request and return the answer, unread; a refusal, if any, is read and raised."""
        given = {"Accept": "*/*", "Content-Type": content_type, **(headers or {})}
        method, url, complete, sent, _ = self._api.param_serialize(
            method,
            path,
            query_params=list(query),
            header_params=given,
            body=dict(body) if body is not None else None,
            auth_settings=["BearerToken"],
        )
        timeout = (_CONNECT_SECONDS, seconds)
        with self._reaching():
            answer = self._api.call_api(method, url, complete, sent, _request_timeout=timeout)
            if refusing and answer.status >= http.HTTPStatus.BAD_REQUEST:
                raise self._refused(answer.status, answer.reason, answer.read())
        return answer

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        before = sys.exception()
        try:
            yield
        except (HTTPError, OSError, client.ApiException) as error:
            raise self._unreachable(error, before) from error

    def _refused(self, status: int, reason: str, body: bytes) -> ApiFailed:
        return ApiFailed(
            f"the cluster's API server refused ({status} {reason})",
            where=str(self.advice.kubeconfig),
            seen=_message(body.decode(errors="replace")),
            status=status,
        )

    def _unreachable(self, error: Exception, before: BaseException | None) -> ApiFailed:
        remedy, commands = self.advice.of_silence()
        kind = ServerSilent if isinstance(error, ReadTimeoutError | TimeoutError) else ApiFailed
        return kind(
            "the cluster's API server does not answer",
            where=str(self._api.configuration.host),
            seen=_cause(error, before),
            remedy=remedy,
            commands=commands,
        )


def _message(body: str) -> str:
    """Return the words of a v1 Status, or the body as it is where it is something else."""
    try:
        return str(json.loads(body)["message"])
    except (ValueError, KeyError, TypeError):
        return body


def _exit_code(path: str, said: str) -> int:
    """Return the code of a command by the v1 Status of its end; raises where it did not run."""
    ended = json.loads(said or "{}")
    if ended.get("status") == "Success":
        return 0
    if ended.get("reason") == _EXITED:
        return int(ended["details"]["causes"][0]["message"])
    raise ApiFailed(
        "the command did not run to its end in the container",
        where=path,
        seen=ended.get("message") or "the connection ended without a word of how it ended",
        remedy="see whether the container runs, and has the program",
        status=ended.get("code", 0),
    )


def _within(seconds: float, connect: "Callable[[], WSClient]") -> "WSClient":
    """Return a connection; raises `TimeoutError` where it does not come, for which nobody waits on.

    The library has no end to that: a server answers when the node does for which it asks.
    """
    coming: Future[WSClient] = Future()

    def work() -> None:
        try:
            coming.set_result(connect())
        except BaseException as error:  # noqa: BLE001 - raised by who waits for it
            coming.set_exception(error)

    Thread(target=work, name="connecting", daemon=True).start()
    try:
        return coming.result(seconds)
    except TimeoutError:
        coming.add_done_callback(_let_go)
        raise


def _let_go(late: "Future[WSClient]") -> None:
    if not late.exception():
        late.result().sock.shutdown()


def _cause(error: BaseException, before: BaseException | None) -> str:
    """Return what the system said, which the libraries wrap in their own objects' names.

    What was wrong before the request has nothing to do with it, though Python has it as context.
    """
    while (inner := error.__cause__ or error.__context__) and inner is not before:
        if isinstance(error, IncompleteRead):
            # Behind it is only what the library could not make of the rest.
            return "the answer broke off before its end"
        error = inner
    return str(getattr(error, "strerror", None) or error)


def open_connection(advice: Advice) -> Connection:
    """Open a connection with the kubeconfig that the advice is about, and no other."""
    settings = client.Configuration()
    # The library would repeat what failed at once, with a warning on stderr each time.
    settings.retries = False
    # As kubectl does: a proxy has no way to this machine's loopback, where kind's servers are.
    settings.no_proxy = ",".join(filter(None, (settings.no_proxy, *_LOOPBACK)))
    try:
        open_regular(advice.kubeconfig).close()
        api = config.new_client_from_config(str(advice.kubeconfig), client_configuration=settings)
    except _UNUSABLE as error:
        raise _kubeconfig_lost(advice, error) from error
    return Connection(api, advice)


def _kubeconfig_lost(advice: Advice, error: Exception) -> ApiFailed:
    remedy, commands = advice.of_loss()
    return ApiFailed(
        f"the lab's kubeconfig {'cannot be used' if advice.kubeconfig.exists() else 'is gone'}",
        where=str(advice.kubeconfig),
        seen=str(error),
        remedy=remedy,
        commands=commands,
    )
