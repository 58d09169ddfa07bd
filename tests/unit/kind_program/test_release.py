"""A release is what was published, or it is not there at all."""

import hashlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from lab.cluster.kind.release import Asset
from lab.core.errors import Interrupted, LabError, NotReady
from lab.core.progress import Progress, Step

Fetch = Callable[[], None]


@pytest.fixture
def step(progress: Progress) -> AbstractContextManager[Step]:
    """Return a step, to be opened."""
    return progress.step("Downloading")


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """Return where the download goes."""
    return tmp_path / "kind"


@pytest.fixture
def fetch(step: AbstractContextManager[Step], target: Path, releases: str) -> Fetch:
    """Return the download of this machine's program to `target`."""

    def fetch() -> None:
        with step as running:
            asset = Asset.of_this_machine("v0.33.0", releases)
            asset.fetch(target, running, lambda: False)

    return fetch


def sha256(content: bytes) -> str:
    """Return the checksum as it is printed."""
    return hashlib.sha256(content).hexdigest()


def test_published_program_is_downloaded(fetch: Fetch, published: Path, target: Path) -> None:
    """The program arrives whole and executable."""
    fetch()
    assert target.read_bytes() == published.read_bytes()
    assert target.stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda whole: whole[:10], id="truncated"),
        pytest.param(lambda whole: whole + b"rm -rf\n", id="tampered with"),
        pytest.param(lambda _: b"", id="empty"),
    ],
)
def test_other_content_is_refused_with_both_sums(
    fetch: Fetch, published: Path, damage: Callable[[bytes], bytes]
) -> None:
    """The error has the sum that was measured and the one that was published."""
    whole = published.read_bytes()
    published.write_bytes(damage(whole))
    with pytest.raises(NotReady, match="is not the published file") as raised:
        fetch()
    assert raised.value.seen == (
        f"sha256 {sha256(damage(whole))} of {len(damage(whole))} bytes, "
        f"published is {sha256(whole)}"
    )


@pytest.mark.parametrize("text", ["", "<html>Sign in to this network</html>", "zz" * 32])
def test_checksum_file_without_a_checksum_is_refused(
    fetch: Fetch, published: Path, target: Path, text: str
) -> None:
    """The page of a captive portal is no checksum, and nothing is downloaded after it."""
    Path(f"{published}.sha256sum").write_text(text)
    with pytest.raises(NotReady, match=r"sha256sum holds no checksum"):
        fetch()
    assert not target.exists()


def test_missing_release_is_named(fetch: Fetch) -> None:
    """The address that is not there is in the error, with the server's word."""
    with pytest.raises(NotReady, match=r"/v0\.33\.0/kind-.* cannot be fetched") as raised:
        fetch()
    assert raised.value.seen == "HTTP Error 404: File not found"


def test_network_that_refuses_is_named(step: AbstractContextManager[Step], target: Path) -> None:
    """Without a network the error is the system's, and comes at once."""
    asset = Asset.of_this_machine("v0.33.0", "http://127.0.0.1:1")
    with step as running, pytest.raises(NotReady) as raised:
        asset.fetch(target, running, lambda: False)
    assert "refused" in raised.value.seen


@pytest.mark.usefixtures("published")
def test_proxy_of_the_environment_is_used(fetch: Fetch, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy that the user has set is asked instead of the address itself."""
    monkeypatch.setenv("no_proxy", "")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    with pytest.raises(LabError, match="cannot be fetched"):
        fetch()


@pytest.mark.usefixtures("published")
def test_interrupt_ends_the_download(
    step: AbstractContextManager[Step], target: Path, releases: str
) -> None:
    """A download stops between two reads once the command was cancelled."""
    asset = Asset.of_this_machine("v0.33.0", releases)
    with step as running, pytest.raises(Interrupted):
        asset.fetch(target, running, lambda: True)


@pytest.mark.parametrize(
    ("system", "machine", "name"),
    [
        ("Linux", "x86_64", "kind-linux-amd64"),
        ("Linux", "aarch64", "kind-linux-arm64"),
        ("Darwin", "arm64", "kind-darwin-arm64"),
        ("Linux", "riscv64", "kind-linux-riscv64"),
    ],
)
def test_asset_is_named_as_published(
    monkeypatch: pytest.MonkeyPatch, system: str, machine: str, name: str
) -> None:
    """The file of a release is named in Go's words."""
    monkeypatch.setattr("platform.system", lambda: system)
    monkeypatch.setattr("platform.machine", lambda: machine)
    asset = Asset.of_this_machine("v0.33.0", "https://releases.example")
    assert asset == Asset(name, f"https://releases.example/v0.33.0/{name}")
