"""How exactly a time is known, and how that is shown."""

from datetime import datetime, timedelta, timezone

import pytest

from lab.harness.timeline.moment import UNKNOWN, Moment
from tests.unit.harness.timeline.observed import at


@pytest.mark.parametrize(
    ("moment", "shown"),
    [
        (Moment.exact(at(1.2)), "10:00:01.200"),
        (Moment.exact(at(1)), "10:00:01.000"),
        (Moment.told(at(5.123456)), "10:00:05.123"),
        (Moment.told(at(5)), "10:00:05"),
        (Moment.told(None), "-"),
        (Moment.between(at(1.25), at(4)), "10:00:01.250 … 10:00:04.000"),
        (Moment.between(None, at(4)), "≤ 10:00:04.000"),
        (Moment.between(at(1), None), "-"),
        (UNKNOWN, "-"),
    ],
)
def test_moment_is_shown_as_exactly_as_it_is_known(moment: Moment, shown: str) -> None:
    """Digits that nobody has written down are not made up."""
    assert moment.text(at(0)) == shown


def test_moment_of_another_day_has_its_date() -> None:
    """A plugin may have been started long before the pod."""
    yesterday = Moment.told(at(0) - timedelta(days=1))
    assert yesterday.text(at(0)) == "2026-11-30 10:00:00"
    assert yesterday.text() == "2026-11-30 10:00:00"


def test_moment_is_shown_in_utc() -> None:
    """Whatever zone a component writes in."""
    there = datetime(2026, 12, 1, 18, 0, 1, tzinfo=timezone(timedelta(hours=8)))
    assert Moment.told(there).text(at(0)) == "10:00:01"


@pytest.mark.parametrize(
    ("moment", "earliest", "latest"),
    [
        (Moment.exact(at(1.2)), at(1.2), at(1.2)),
        (Moment.told(at(5)), at(5), at(6)),
        (Moment.between(at(1), at(4)), at(1), at(4)),
        (Moment.between(None, at(4)), None, at(4)),
        (UNKNOWN, None, None),
    ],
)
def test_moment_has_its_bounds(
    moment: Moment, earliest: datetime | None, latest: datetime | None
) -> None:
    """A whole second is cut off: it may have been up to the next one."""
    assert (moment.earliest, moment.latest) == (earliest, latest)


@pytest.mark.parametrize(
    ("moment", "precision", "time", "after"),
    [
        (Moment.exact(at(1.2)), "millisecond", "2026-12-01T10:00:01.200+00:00", None),
        (Moment.told(at(5)), "second", "2026-12-01T10:00:05+00:00", None),
        (
            Moment.between(at(1), at(4)),
            "bound",
            "2026-12-01T10:00:04.000+00:00",
            "2026-12-01T10:00:01.000+00:00",
        ),
        (UNKNOWN, "unknown", None, None),
    ],
)
def test_moment_for_tools_says_how_exact_it_is(
    moment: Moment, precision: str, time: str | None, after: str | None
) -> None:
    """The contract of `--output json`."""
    assert moment.as_json() == {"precision": precision, "time": time, "notBefore": after}
