"""A shorter script that shows the same difference."""

from collections.abc import Callable
from dataclasses import replace

from tests.oracle.duel import Difference
from tests.oracle.script import Script

Differ = Callable[[Script], Difference | None]


def shortest(script: Script, found: Difference, differ: Differ) -> tuple[Script, Difference]:
    """Leave out what can be: all that follows, then each step by itself, the last ones first."""
    script = replace(script, steps=script.steps[: found.steps])
    for at in reversed(range(len(script.steps))):
        if at >= len(script.steps):
            continue
        shorter = replace(script, steps=(*script.steps[:at], *script.steps[at + 1 :]))
        again = differ(shorter)
        if again and again.what == found.what:
            found = again
            script = replace(shorter, steps=shorter.steps[: again.steps])
    return script, found
