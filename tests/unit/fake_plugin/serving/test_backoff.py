"""The pauses between attempts."""

from itertools import pairwise

from fake_plugin.serving.backoff import Backoff, Pace


def test_attempts_become_rare_but_do_not_end() -> None:
    """Each pause is about twice the one before, up to the limit, and differs between nodes."""
    backoff, pauses = Backoff(), []
    for _ in range(12):
        backoff.failed(Pace(1, 60))
        pauses.append(backoff.seconds_left())
    assert 0.4 < pauses[0] <= 1
    assert all(30 < pause <= 60 for pause in pauses[7:])
    assert all(later > earlier * 0.9 for earlier, later in pairwise(pauses[:6]))
    assert len(set(pauses[7:])) > 1


def test_success_ends_the_pauses() -> None:
    """After a reset the next attempt is due at once."""
    backoff = Backoff()
    assert backoff.seconds_left() == 0
    backoff.failed(Pace(1, 60))
    backoff.reset()
    assert backoff.seconds_left() == 0
