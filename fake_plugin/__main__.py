"""`python -m fake_plugin`: read what to serve, serve it until a signal, end cleanly."""

import gc
import os
import signal
import sys
import threading
from collections.abc import Sequence
from typing import Final

from fake_plugin import events, libraries, log
from fake_plugin.config import Config, read_config
from fake_plugin.errors import StartError
from fake_plugin.fleet.notices import notices_of

_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
_CRASHED: Final = 1


def main(arguments: Sequence[str]) -> int:
    """Run the plugin to its end; return 0, or 2 and 3 for what `fake_plugin.errors` describes."""
    # Blocked before any thread is made, so that all inherit it and `sigwait` gets every signal. A
    # container's first process would not even be told of a signal that it neither blocks nor
    # handles.
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    log.set_up(sys.stderr)
    sys.excepthook = lambda _kind, problem, _traceback: _crash(problem)
    threading.excepthook = lambda crash: _crash(crash.exc_value or crash.exc_type())
    try:
        config = read_config(arguments, os.environ)
        serve(config)
    except StartError as problem:
        log.say(events.CANNOT_START, what=problem.what, **problem.facts())
        return problem.exit_code
    return 0


def serve(config: Config) -> None:
    """Serve what the fleet gives to this node until SIGTERM or SIGINT."""
    # What a start makes, stays. To look through it for garbage takes a twentieth of the start and,
    # with 20 000 devices, as long as a flap may take, each time.
    gc.disable()
    libraries.load()
    # All of these need a library.
    from fake_plugin.fleet.reading import read_plan  # noqa: PLC0415 - see above
    from fake_plugin.plugin import Plugin  # noqa: PLC0415
    from fake_plugin.serving.timing import Timing  # noqa: PLC0415

    plan = read_plan(config.fleet, config.node)
    plugin = Plugin(config, plan, Timing())
    log.say(events.STARTED, node=config.node, resources=plugin.resource_names)
    for share in plan.shares:
        for notice in notices_of(share):
            log.say(events.OVERLOOKED, pool=share.pool, key=notice.key, what=notice.what)
    if not plugin.resource_names:
        log.say(events.NOTHING_TO_SERVE, node=config.node)
    plugin.start()
    gc.freeze()
    gc.enable()
    received = signal.sigwait(_SIGNALS)
    log.say(events.STOPPING, signal=signal.Signals(received).name)
    threading.Thread(target=_end_on_second_signal, name="signals", daemon=True).start()
    plugin.stop()
    log.say(events.STOPPED)


def _end_on_second_signal() -> None:
    os._exit(128 + signal.sigwait(_SIGNALS))


def _crash(problem: BaseException) -> None:
    # A plugin without one of its threads would look alive and do nothing: let it be restarted.
    log.say_crash(events.CRASHED, problem)
    os._exit(_CRASHED)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
