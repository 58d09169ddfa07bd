"""File systems of Debian packages, made by a stand-in for mmdebstrap."""

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest

from lab.core.errors import NotReady
from lab.images.debian import Packages, debian_part, layer_in
from lab.images.layer import Layer
from lab.images.store import Making, Store
from tests.unit.images.machine import ImageMachine

Put = Callable[[str, str], Path]
APT = """
case "$*" in *"Origin: Debian"*) ;; *) exit 1 ;; esac
cat <<'EOF'
deb http://mirror/debian/ bookworm main
deb http://mirror/debian/ bookworm contrib
deb http://mirror/debian/ trixie main
deb http://mirror/security/ bookworm-security main
EOF
"""


def made(store: Store, packages: Packages) -> Path:
    """Return the product of these packages."""
    return store.get(debian_part("root", "Unpack", packages))


def test_packages_become_a_layer(store: Store, machine: ImageMachine) -> None:
    """The tar file that mmdebstrap writes is the layer."""
    product = made(store, Packages("extract", ("one", "two"), leave_out=("/usr/games/*",)))
    assert layer_in(product).digest == Layer.of(machine.fakes / "root.tar").digest
    (call,) = machine.called("mmdebstrap")
    assert "--variant=extract --include=one,two --skip=output/dev" in call
    assert "--dpkgopt=path-exclude=/usr/share/doc/*" in call
    assert "--dpkgopt=path-exclude=/usr/games/*" in call
    assert " bookworm " in call


@pytest.mark.parametrize(("variant", "hook"), [("extract", "extract"), ("essential", "customize")])
def test_finishing_script_runs_at_the_end(
    store: Store, machine: ImageMachine, variant: Literal["extract", "essential"], hook: str
) -> None:
    """A bare extraction knows no other moment than its own."""
    made(store, Packages(variant, ("one",), finish="touch x\n"))
    assert f"--{hook}-hook=set -eu" in machine.called("mmdebstrap")[0]


def test_mirrors_of_the_host_are_used(
    store: Store, machine: ImageMachine, put_on_path: Put
) -> None:
    """A mirror that the host has answers; other suites and components stay out."""
    put_on_path("apt-get", APT)
    made(store, Packages("extract", ("one",)))
    assert machine.called("mmdebstrap")[0].endswith(
        "layer.tar deb http://mirror/debian/ bookworm main "
        "deb http://mirror/security/ bookworm-security main"
    )


def test_host_of_another_system_asks_debian(store: Store, machine: ImageMachine) -> None:
    """Without a Debian mirror of the host, mmdebstrap chooses."""
    made(store, Packages("extract", ("one",)))
    assert machine.called("mmdebstrap")[0].endswith("layer.tar")


@pytest.mark.usefixtures("put_on_path")
def test_missing_mmdebstrap_is_named(store: Store) -> None:
    """Who lacks the program is told how to get it."""
    with pytest.raises(NotReady, match="mmdebstrap is missing") as raised:
        made(store, Packages("extract", ("one",)))
    assert raised.value.render() == (
        "the program mmdebstrap is missing, which builds file systems of Debian packages\n"
        "  next:  install mmdebstrap (Debian and Ubuntu have it), or use an image that someone "
        "else has built\n"
        "         $ sudo apt-get install --yes mmdebstrap debian-archive-keyring"
    )


def test_failure_keeps_the_words_of_mmdebstrap(store: Store, machine: ImageMachine) -> None:
    """A mirror that does not answer is told in mmdebstrap's words."""
    machine.environment.setenv("MMDEBSTRAP_FAILS", "E: cannot reach mirror")
    with pytest.raises(NotReady) as raised:
        made(store, Packages("extract", ("one",)))
    assert raised.value.seen == "E: cannot reach mirror"
    assert "a Debian mirror that answers" in raised.value.remedy


def test_full_disk_is_no_matter_of_mirrors(store: Store, machine: ImageMachine) -> None:
    """Mmdebstrap on a full disk is told as a full disk."""
    machine.environment.setenv("MMDEBSTRAP_FAILS", "E: write: No space left on device")
    with pytest.raises(NotReady, match="the disk is full: root"):
        made(store, Packages("extract", ("one",)))


@pytest.mark.parametrize(
    "other",
    [
        Packages("extract", ("two",)),
        Packages("essential", ("one",)),
        Packages("extract", ("one",), leave_out=("/x",)),
        Packages("extract", ("one",), finish="x"),
    ],
)
def test_every_choice_is_an_input(other: Packages) -> None:
    """What decides the tree decides where it lies."""
    assert (
        debian_part("a", "t", other).key != debian_part("a", "t", Packages("extract", ("one",))).key
    )


def test_part_writes_into_its_product(making: Making, machine: ImageMachine) -> None:
    """Nothing lands beside the layer."""
    debian_part("root", "t", Packages("extract", ("one",))).make(making)
    assert [each.name for each in making.folder.iterdir()] == ["layer.tar"]
    assert str(making.folder) in machine.called("mmdebstrap")[0]
