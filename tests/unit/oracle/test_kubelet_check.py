"""What a check of the device manager says, with ours on both sides."""

from collections import Counter
from pathlib import Path

import pytest

from lab.core.exit_codes import ExitCode
from lab.embedded.kubelet.pod import Pod
from lab.embedded.kubelet.topology import Policy
from lab.embedded.profile import PROFILES
from tests.oracle import check, duel
from tests.oracle.check import main, table
from tests.oracle.simulated import Simulated


class Second(Simulated):
    """Ours in the place of upstream's; `words` are what it rejects each pod with, if any."""

    words = ""

    def __init__(self, program: Path, folder: Path, policy: Policy) -> None:
        del program
        super().__init__(folder, policy, PROFILES["1.36"])

    def admit(self, pod: Pod) -> list[str] | None:
        """Admit, or reject with other words than ours."""
        rejected = super().admit(pod)
        return [rejected[0], self.words] if rejected and self.words else rejected


@pytest.fixture(autouse=True)
def _without_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "build", lambda *_: Path("none"))
    monkeypatch.setattr(duel, "Real", Second)


def test_equal_kubelets_are_told_with_what_was_compared(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The exit code is 0, and nothing is left to replay."""
    assert main(["--scripts", "1", "--steps", "6"]) == ExitCode.DONE
    told = capsys.readouterr().out
    assert "node status" in told
    assert "equal in all" in told


def test_a_difference_is_told_with_a_script_to_replay(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The exit code is 1, and the file shows the same difference again."""
    monkeypatch.setattr(Second, "words", "because")
    place = tmp_path / "found"
    assert main(["--seed", "3", "--scripts", "9", "--write", str(place)]) == ExitCode.CHECK_FAILED
    told = capsys.readouterr().out
    assert "differ in: admission" in told
    assert 'Kubernetes: ["' in told
    assert f'--replay {place}"' in told
    assert main(["--replay", str(place), "--write", str(place)]) == ExitCode.CHECK_FAILED


def test_the_table_has_every_kind_and_the_sum() -> None:
    """The most often compared comes first."""
    lines = table(Counter({"admission": 3, "node status": 11}))
    assert [line.split() for line in lines] == [
        ["node", "status", "11"],
        ["admission", "3"],
        ["equal", "in", "all", "14"],
    ]


def test_no_scripts_are_no_check(capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong option is refused before anything is compiled."""
    with pytest.raises(SystemExit) as ended:
        main(["--scripts", "0"])
    assert ended.value.code == ExitCode.USAGE
    assert "it must be 1 or more" in capsys.readouterr().err
