"""The page about sharing shows what a lab makes of its fleets, pods and mistakes."""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from fake_plugin.metrics.endpoint import Endpoint
from fake_plugin.plan import Plan
from fake_plugin.resources.inventory import Inventory
from fake_plugin.resources.preference import choose
from fake_plugin.resources.resource import Resource
from fake_plugin.smi import programs, table
from lab.cli.table import print_status
from lab.core.fleet import Fleet, FleetError, dump_fleet, load_fleet
from lab.install.status import Devices, LabStatus, NodeStatus
from tests.unit.docs.fleets import place_of_a_lab, plan_of
from tests.unit.docs.pages import ROOT, page

PAGE: Final = page("docs/how-to/share-a-gpu.md")
LABS: Final = {"shared": "fleets/shared.yaml", "mig": "fleets/mig.yaml"}
REFUSED: Final = PAGE.section("What is refused").rows()
#: How kind calls the workers of a cluster.
WORKERS: Final = ("worker", "worker2")


def placed(name: str) -> Fleet:
    """Return the fleet of a lab of the page, on its nodes."""
    return load_fleet(ROOT / LABS[name]).placed_on([f"{name}-{each}" for each in WORKERS])


def status(name: str) -> LabStatus:
    """Return what a lab's status is when it has come up."""
    nodes = [NodeStatus(f"{name}-control-plane", ready=True, pool="", resources={})]
    for node in placed(name).nodes():
        held = {each: Devices(number, number, 0) for each, number in sorted(node.devices.items())}
        nodes.append(NodeStatus(str(node.node_name), True, node.pool, held))  # noqa: FBT003 - ready
    return LabStatus(name, "kind", "v1.36.3", "", ready=True, nodes=tuple(nodes), plugins=())


@pytest.mark.parametrize("name", LABS)
def test_the_status_of_a_lab_is_the_one_that_is_shown(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nodes, resources and numbers follow from the fleet."""
    print_status(status(name), "text")
    assert capsys.readouterr().out in [each.text for each in PAGE.blocks("text")]


class Node:
    """A node of a lab: gives devices to pods, and runs their containers in a shell."""

    def __init__(self, name: str, plan: Plan, folder: Path) -> None:
        self._inventory = Inventory.load(folder, name, plan, place_of_a_lab())
        self._taken: dict[str, set[str]] = {}
        self._bin = folder / "bin"
        programs.install(folder)
        units = programs.table_folder(folder)
        table.write(units, Endpoint(self._inventory).readings())
        for program in programs.PROGRAMS.values():
            (self._bin / program).write_text(programs.text(program, str(units / table.NAME)))

    def has(self, pod: Any) -> bool:  # noqa: ANN401 - a manifest
        """Tell whether the node has all that a pod asks for."""
        return set(_limits(pod)) <= {each.name for each in self._inventory.resources}

    def logs(self, pod: Any) -> str:  # noqa: ANN401 - as above
        """Return what a pod prints before it sleeps."""
        variables: dict[str, str] = {}
        for resource in self._inventory.resources:
            if number := _limits(pod).get(resource.name):
                variables |= self._allocate(resource, number)
        words = [re.sub(r"exec sleep \d+", "", each) for each in _container(pod)["command"]]
        path = f"{self._bin}:/usr/bin:/bin"
        return subprocess.run(
            words, env={**variables, "PATH": path}, capture_output=True, text=True, check=True
        ).stdout

    def _allocate(self, resource: Resource, number: int) -> dict[str, str]:
        taken = self._taken.setdefault(resource.name, set())
        free = [each.id for each in resource.devices if each.id not in taken]
        ids = choose(resource.devices, free, [], number, resource.offer.spread)
        taken.update(ids)
        chosen = [device for device in map(resource.find, ids) if device]
        assert len(chosen) == number
        return dict(resource.offer.answer(chosen).envs)


def _container(pod: Any) -> Any:  # noqa: ANN401 - as above
    (container,) = pod["spec"]["containers"]
    return container


def _limits(pod: Any) -> dict[str, int]:  # noqa: ANN401 - as above
    limits: dict[str, int] = _container(pod)["resources"]["limits"]
    return limits


def rounds() -> Iterator[tuple[list[Any], str]]:
    """Yield the pods of a block and what their logs are, as the page has them."""
    for script, told in re.findall(
        r"^```sh\n((?:(?!```).)*?END'\n.*?)^```\n+```text\n(.*?)^```$",
        PAGE.text,
        re.MULTILINE | re.DOTALL,
    ):
        manifest = script.partition("<<'END'\n")[2].partition("\nEND\n")[0]
        yield list(yaml.safe_load_all(manifest)), told


def nodes(folder: Path) -> Iterator[Node]:
    """Yield the nodes of all labs of the page."""
    for lab in LABS:
        for each in placed(lab).nodes():
            place = folder / str(each.node_name)
            place.mkdir()
            plan = plan_of(dump_fleet(placed(lab)), str(each.node_name), place)
            yield Node(str(each.node_name), plan, place)


def test_pods_print_what_is_shown(tmp_path: Path) -> None:
    """With devices that the plugin prefers, its answers, and its tools."""
    there = list(nodes(tmp_path))
    assert len(list(rounds())) == 3
    for pods, told in rounds():
        printed = ""
        for pod in pods:
            (node,) = [each for each in there if each.has(pod)]
            printed += node.logs(pod)
        assert printed == told


def test_pools_of_the_page_are_those_of_the_files() -> None:
    """A reader who looks into the file finds what the page shows of it."""
    pools = {each.name: each for name in LABS for each in load_fleet(ROOT / LABS[name]).pools}
    for block in PAGE.blocks("yaml"):
        for shown in yaml.safe_load(block.text)["pools"]:
            pool = pools[shown["name"]]
            assert pool.accelerator
            assert (pool.accelerator.name, pool.count) == (shown["accelerator"], shown["count"])
            assert pool.sharing
            assert pool.sharing.strategy == shown["sharing"]["strategy"]


@pytest.mark.parametrize(("keys", "rule"), REFUSED)
def test_mistakes_are_refused_in_the_words_of_the_page(
    keys: str, rule: str, tmp_path: Path
) -> None:
    """The Chinese page has the same table."""
    file = tmp_path / "fleet.yaml"
    keys = keys.strip("`")
    file.write_text(
        f"apiVersion: gpu-lab/v1\nkind: Fleet\npools:\n  - {{name: p, nodes: 1, {keys}}}\n"
    )
    with pytest.raises(FleetError) as caught:
        load_fleet(file)
    assert rule in caught.value.render()


def test_mistakes_in_chinese_are_the_same_ones() -> None:
    """They are the program's words, and it speaks English."""
    chinese = replace(PAGE, path=PAGE.twin)
    assert [row for each in chinese.sections() for row in each.rows() if row in REFUSED] == REFUSED
