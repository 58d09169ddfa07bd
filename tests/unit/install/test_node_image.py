"""Which node image a lab starts from, and how soon it is known that there is none."""

import pytest

from lab.core.errors import NotReady
from lab.core.pins import KIND_NODE_IMAGE
from lab.host.docker import Docker
from lab.host.processes import Processes
from lab.images.node import ESTIMATED_TIME, node_image_reference, versions
from lab.install.node_image import Choice, choose
from tests.unit.stand_ins.engine import INFO, FakeEngine

NOBODY = "http://127.0.0.1:1/v2/"
IMAGE = {"Id": "sha256:1", "Size": 1, "Config": {}}


@pytest.fixture
def docker(engine: FakeEngine, monkeypatch: pytest.MonkeyPatch) -> Docker:
    """Return the `docker` of an engine without images; the environment has no proxy."""
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    assert engine.state()["images"] == {}
    return Docker(Processes())


def test_image_that_is_asked_for_is_taken(docker: Docker, engine: FakeEngine) -> None:
    """No registry is asked for what is at hand."""
    engine.set(images={"mine:1": IMAGE})
    assert choose(docker, "mine:1", registry=NOBODY) == Choice("mine:1", "as asked for", True)  # noqa: FBT003 - in the order of the fields


@pytest.mark.parametrize("image", ["mine:1", "team/mine:1", "kindest/node:v1.37.0@sha256:0"])
def test_image_of_docker_hub_that_cannot_be_pulled_is_refused(docker: Docker, image: str) -> None:
    """At once, and with what to do, instead of in the midst of the creation."""
    with pytest.raises(NotReady) as raised:
        choose(docker, image, registry=NOBODY)
    assert raised.value.what == (
        f"the node image {image} is not on this machine, and the registry to pull one from is out "
        "of reach"
    )
    assert raised.value.commands[0] == "make node-image"


@pytest.mark.parametrize("image", ["ghcr.io/team/mine:1", "localhost/mine:1", "registry:5000/m"])
def test_image_of_another_registry_is_the_engines_to_find(docker: Docker, image: str) -> None:
    """The engine may know its way there."""
    chosen = choose(docker, image, registry=NOBODY)
    assert (chosen.reason, chosen.at_hand) == ("as asked for, to be pulled", False)


def test_image_that_was_built_here_comes_first(docker: Docker, engine: FakeEngine) -> None:
    """Whoever builds one wants it."""
    built = node_image_reference(docker.engine())
    engine.set(images={built: IMAGE, KIND_NODE_IMAGE: IMAGE})
    chosen = choose(docker, None, registry=NOBODY)
    assert chosen == Choice(built, "built on this machine", at_hand=True)


def test_kinds_default_is_used_where_it_is_there(docker: Docker, engine: FakeEngine) -> None:
    """No network is asked then."""
    engine.set(images={KIND_NODE_IMAGE: IMAGE})
    assert choose(docker, None, registry=NOBODY) == Choice(KIND_NODE_IMAGE, "kind's default", True)  # noqa: FBT003 - in the order of the fields


def test_kinds_default_is_pulled_where_that_is_possible(docker: Docker, registry: str) -> None:
    """It is the last choice: a pull takes long, and the network may be paid for."""
    chosen = choose(docker, None, registry=registry)
    assert chosen == Choice(KIND_NODE_IMAGE, "kind's default, to be pulled", at_hand=False)


def test_mirror_of_the_engine_is_counted_on(docker: Docker, engine: FakeEngine) -> None:
    """It is the engine's to reach, and cannot be asked from here."""
    engine.set(info=INFO | {"RegistryConfig": {"Mirrors": ["https://mirror.example/"]}})
    assert choose(docker, None, registry=NOBODY).reason == "kind's default, to be pulled"


def test_engine_that_was_measured_is_not_asked_again(docker: Docker, engine: FakeEngine) -> None:
    """Its answer takes a while, and the caller may have it."""
    known = docker.engine()
    engine.set(images={KIND_NODE_IMAGE: IMAGE}, calls=[])
    choose(docker, None, engine=known, registry=NOBODY)
    assert engine.calls("info") == []


@pytest.mark.parametrize(
    ("reference", "kubernetes"),
    [
        (KIND_NODE_IMAGE, "v1.37.0"),
        ("gpu-lab/node:v1.36.3-e8894a69edc3", "v1.36.3"),
        ("localhost:5000/kindest/node:v1.35.1", "v1.35.1"),
        ("mine:latest", ""),
        ("mine:v1", ""),
        ("mine:v1.36.33rd", ""),
        ("localhost:5000/mine", ""),
    ],
)
def test_version_of_kubernetes_is_read_from_the_name(reference: str, kubernetes: str) -> None:
    """Nothing is claimed of an image whose name does not say."""
    assert Choice(reference, "as asked for", at_hand=True).kubernetes == kubernetes


def test_name_of_our_own_image_says_its_kubernetes(docker: Docker) -> None:
    """The names are made elsewhere, and have to fit."""
    built = node_image_reference(docker.engine())
    assert Choice(built, "built on this machine", at_hand=True).kubernetes == versions.KUBERNETES


def test_without_an_image_and_a_registry_the_way_out_is_named(docker: Docker) -> None:
    """How to build one, and how long that takes; nothing is begun unasked."""
    with pytest.raises(NotReady) as raised:
        choose(docker, None, registry=NOBODY)
    assert raised.value.render() == (
        "there is no node image on this machine, and the registry to pull one from is out of "
        "reach\n"
        f"  where: {NOBODY}\n"
        f"  next:  build the image here, from source ({ESTIMATED_TIME}), or load one and name it\n"
        "         $ make node-image\n"
        "         $ gpulab image build-node\n"
        "         $ gpulab up --node-image IMAGE"
    )
