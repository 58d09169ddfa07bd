"""A rule by which a call goes wrong."""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

Call: TypeAlias = Literal[
    "Register",
    "GetDevicePluginOptions",
    "ListAndWatch",
    "Allocate",
    "GetPreferredAllocation",
    "PreStartContainer",
]
#: `empty`: no container answers, no IDs, no devices; `unknown-device`: a device that nobody has;
#: `too-many`: more than was asked for; `too-few`: one less.
WrongAnswer: TypeAlias = Literal["empty", "unknown-device", "too-many", "too-few"]


CALLS: Final[tuple[Call, ...]] = get_args(Call)
WRONG_ANSWERS: Final[tuple[WrongAnswer, ...]] = get_args(WrongAnswer)
#: The codes of gRPC with which a call can fail: all but OK.
CODES: Final = (
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
)
#: What a text of a failure may have: gRPC drops a status of more than 8 KiB, in which one
#: character can be 12 bytes long.
MOST_CHARACTERS: Final = 512


@dataclass(frozen=True)
class Fail:
    """The call fails with a gRPC code, by its name such as UNAVAILABLE, and a text.

    On Register it is the kubelet that must refuse: the plugin sends a version that no kubelet
    takes, and the text is not used.
    """

    text: str
    code: str = "UNKNOWN"


@dataclass(frozen=True)
class Delay:
    """The call is answered, rightly, after this many seconds."""

    seconds: float


@dataclass(frozen=True)
class Hang:
    """The call is never answered; it ends with its caller, the rule or the plugin."""


@dataclass(frozen=True)
class Wrong:
    """The call is answered, wrongly."""

    answer: WrongAnswer


@dataclass(frozen=True)
class Drop:
    """The stream of ListAndWatch is ended by the plugin, this many seconds after it was opened.

    With 0 it ends before its first message.
    """

    seconds: float


Effect: TypeAlias = Fail | Delay | Hang | Wrong | Drop


@dataclass(frozen=True)
class Fault:
    """What befalls which calls.

    `resource` None means every resource of the node. Of the calls that match, counted from when
    the rule was made, it holds for the `nth` (from 1) and the `times` - 1 after it; `nth` None:
    from the first on; `times` None: for all that follow, or for one where `nth` is given.
    `id` is unique on the node.
    """

    id: str
    call: Call
    effect: Effect
    resource: str | None = None
    nth: int | None = None
    times: int | None = None


def misfit(call: Call, effect: Effect) -> str:
    """Return why a call cannot go wrong so, or ""."""
    match effect:
        case Drop() if call != "ListAndWatch":
            return f"{call} has no stream that could be dropped: only ListAndWatch has"
        case Wrong() if call in {"Register", "PreStartContainer"}:
            return f"the answer to {call} has no content that could be wrong"
        case Wrong(answer) if call == "GetDevicePluginOptions" and answer != "empty":
            return "the answer to GetDevicePluginOptions can be empty, and is wrong in no other way"
        case _:
            return ""
