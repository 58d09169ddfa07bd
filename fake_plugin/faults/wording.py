"""What a rule does, in the words of the fleet file and of the control API."""

from collections.abc import Callable

from fake_plugin.faults.fault import Delay, Drop, Effect, Fail, Hang, Wrong


def worded(effect: Effect, duration: Callable[[float], str]) -> dict[str, str | bool]:
    """Return the keys of an effect; `duration` spells seconds, as a file and an answer differ."""
    match effect:
        case Fail(text, code):
            return {"fails": text, "code": code}
        case Delay(seconds):
            return {"delay": duration(seconds)}
        case Hang():
            return {"hang": True}
        case Wrong(answer):
            return {"answers": answer}
        case Drop(seconds):
            return {"drop": duration(seconds)}
