"""How long a registration waits, and for what."""

from dataclasses import dataclass
from typing import Final

from fake_plugin.serving.backoff import Pace

_UNREACHABLE: Final = Pace(0.05, 5.0)
_REFUSED: Final = Pace(1.0, 60.0)


@dataclass(frozen=True)
class Timing:
    """Seconds, for tests to shorten."""

    #: The kubelet gives itself 10 s to connect back, and then says what was wrong.
    register: float = 15.0
    #: After Register the kubelet opens ListAndWatch at once.
    first_stream: float = 10.0
    #: A registration that stood as long as this was a success.
    settled: float = 10.0
    #: For the kubelet to see the end of an old stream before it hears of a new socket.
    old_stream: float = 0.1
    #: Between two looks where no event comes.
    look: float = 5.0
    unreachable: Pace = _UNREACHABLE
    refused: Pace = _REFUSED
    #: Between two lines of the log that say the same.
    repeat: float = 300.0
