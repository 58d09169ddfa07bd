"""The end of what somebody prints."""

import threading
from collections.abc import Iterator
from contextlib import closing

import pytest

from lab.conformance import last_output
from lab.conformance.last_output import LastOutput

#: Far more than a pipe holds: who prints it is done only where somebody reads.
MUCH = b"x" * 4_000_000


@pytest.fixture
def output() -> Iterator[LastOutput]:
    """Return the output of nobody yet."""
    with closing(LastOutput()) as output:
        yield output


def test_what_was_printed_is_there_at_once(output: LastOutput) -> None:
    """However late the thread is that reads on."""
    with output._lock:  # noqa: SLF001 - which keeps that thread off
        output.writer.write(b"ready\xff\n")
    assert output.text() == "ready\N{REPLACEMENT CHARACTER}\n"


def test_who_prints_much_does_not_wait_and_only_the_end_is_kept(output: LastOutput) -> None:
    """A plugin that prints on and on fills neither memory nor disk."""
    printed = 0
    while printed < len(MUCH):
        printed += output.writer.write(MUCH[printed:])
    output.writer.write(b"done")
    text = output.text()
    assert text.endswith("xdone")
    assert len(text) == last_output._KEPT_BYTES  # noqa: SLF001 - the bound


def test_who_prints_without_end_does_not_keep_us(
    output: LastOutput, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is always more to be read, and what was there before is in a pipeful."""

    def take() -> bool:
        output._kept += b"x"  # noqa: SLF001 - as the real one does
        return True

    # Not `os.read`: whoever else reads in this process would read that.
    monkeypatch.setattr(output, "_take", take)
    assert output.text() == "x" * 16


def test_what_was_printed_stays_after_the_end() -> None:
    """The thread that reads ends with those who print."""
    others = set(threading.enumerate())
    output = LastOutput()
    (reading,) = set(threading.enumerate()) - others
    output.writer.write(b"goodbye")
    output.close()
    assert [output.text(), output.text()] == ["goodbye", "goodbye"]
    reading.join(20)
    assert not reading.is_alive()
    assert output.text() == "goodbye"
