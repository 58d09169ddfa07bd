"""What this machine's processor is called."""

import platform

import pytest

from lab.host.architecture import architecture


@pytest.mark.parametrize(
    ("machine", "name"),
    [
        ("x86_64", "amd64"),
        ("AMD64", "amd64"),
        ("aarch64", "arm64"),
        ("arm64", "arm64"),
        ("riscv64", "riscv64"),
    ],
)
def test_architecture_has_one_name(
    monkeypatch: pytest.MonkeyPatch, machine: str, name: str
) -> None:
    """Systems call the same processor by several names, Go by one."""
    monkeypatch.setattr(platform, "machine", lambda: machine)
    assert architecture() == name
