"""The page about vendors shows what the plugin offers and answers."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from google.protobuf.json_format import MessageToDict

from fake_plugin.resources.inventory import Inventory
from fake_plugin.vendors.offer import Refused
from tests.unit.docs.fleets import place_of_a_lab, plan_of
from tests.unit.docs.pages import Block, page

PAGE: Final = page("docs/reference/vendors.md")
NODE: Final = "gpu-lab-worker"
HEADER: Final = "apiVersion: gpu-lab/v1\nkind: Fleet\n"
#: What containers of all vendors get is said once, at the top of the page.
TOOLS: Final = "/var/lib/gpu-lab/tools"


def inventory(pools: str, folder: Path) -> Inventory:
    """Return what a node of a lab has of these pools."""
    place = replace(place_of_a_lab(), cdi_dir=folder)
    return Inventory.load(folder, NODE, plan_of(HEADER + pools, NODE, folder), place)


def offered(found: Inventory) -> str:
    """Return the resources of a node as the page shows them."""
    rows = [(each.name, len(each.devices), each.devices[0].id) for each in found.resources]
    width = max(len(name) for name, _, _ in rows)
    return "".join(f"{name:{width}}  {count:>3}  {first}\n" for name, count, first in rows)


def answered(found: Inventory) -> Any:  # noqa: ANN401 - any JSON
    """Return the answer for the first device, less what all vendors have in common."""
    resource = found.resources[0]
    answer = resource.offer.answer(resource.devices[:1])
    told = MessageToDict(answer, preserving_proto_field_name=True)
    envs = {key: text for key, text in told["envs"].items() if not key.startswith("GPULAB_")}
    mounts = [each for each in told.get("mounts", []) if not each["host_path"].startswith(TOOLS)]
    shown = {**told, "envs": envs, "mounts": mounts}
    return {key: each for key, each in shown.items() if each}


def examples() -> list[tuple[Block, str, str]]:
    """Return the pools of the page, each with the lists and the answer below, which may be ""."""
    blocks = [*PAGE.blocks(), Block("", "", 0), Block("", "", 0)]
    return [
        (pools, text.text, answer.text if answer.language == "json" else "")
        for pools, text, answer in zip(blocks, blocks[1:], blocks[2:], strict=False)
        if pools.language == "yaml"
    ]


def lines() -> list[object]:
    """Return the examples as parameters that are called by their lines."""
    return [pytest.param(*each, id=f"line {each[0].line}") for each in examples()]


@pytest.mark.parametrize(("pools", "text", "answer"), lines())
def test_examples_are_what_the_plugin_makes_of_them(
    pools: Block, text: str, answer: str, tmp_path: Path
) -> None:
    """Names, numbers, IDs, and what Allocate returns."""
    found = inventory(pools.text, tmp_path)
    assert text == offered(found)
    if answer:
        assert json.loads(answer) == answered(found)


def test_there_are_examples_of_every_vendor() -> None:
    """The test above would pass for want of them."""
    text = "".join(pools.text for pools, _, _ in examples())
    assert {"nvidia", "amd", "ascend"} <= set(re.findall(r"accelerator: (\w+)-", text))
    assert "resource: " in text


def example_with(words: str, folder: Path) -> Inventory:
    """Return what the one example has that has these words."""
    (pools,) = [each.text for each, _, _ in examples() if words in each.text]
    return inventory(pools, folder)


@pytest.mark.parametrize(
    ("pools", "section"),
    [("rename: true", "Replicas"), ("vir05_1c_16g", "Ascend")],
)
def test_refusals_are_in_the_words_of_the_page(pools: str, section: str, tmp_path: Path) -> None:
    """Two replicas of NVIDIA's, with failRequestsGreaterThanOne, and two vNPUs."""
    written = "".join(each.text for each, _, _ in examples() if pools in each.text)
    strict = written.replace("rename: true", "rename: true, failRequestsGreaterThanOne: true")
    resource = inventory(strict, tmp_path).resources[0]
    with pytest.raises(Refused) as caught:
        resource.offer.answer(resource.devices[:2])
    assert str(caught.value) in PAGE.section(section).text


@pytest.mark.parametrize(
    ("resource", "variables"),
    [
        ("huawei.com/Ascend910B3-core", {"NPU_PRIORITY", "GPULAB_CORES_PERCENT"}),
        ("huawei.com/Ascend910B3-memory", {"NPU_MEM_QUOTA", "GPULAB_MEMORY_MIB"}),
    ],
)
def test_variables_of_shares_are_those_of_the_page(
    resource: str, variables: set[str], tmp_path: Path
) -> None:
    """HAMi's, and the lab's own."""
    found = example_with("dialect: hami", tmp_path)
    (offer,) = [each.offer for each in found.resources if each.name == resource]
    answer = offer.answer(offer.devices[:1])
    assert variables <= set(answer.envs)
    assert all(f"`{each}`" in PAGE.text for each in variables)


def test_the_kubelet_is_told_not_to_ask_about_npus(tmp_path: Path) -> None:
    """Of all vendors' cards it is only they of which the plugin has no preference."""
    for pools, _, _ in examples():
        for resource in inventory(pools.text, tmp_path).resources:
            share = resource.name.endswith(("-core", "-memory"))
            assert resource.offer.preferred == (share or "huawei" not in resource.name)


@pytest.mark.parametrize(
    ("row", "keys"),
    [
        ("NVIDIA, as Tencent's qGPU", "accelerator: nvidia-l4-24gb, "),
        ("AMD, as HAMi", "accelerator: amd-mi300x-192gb, "),
        ("Ascend, `hami`", "accelerator: ascend-910b3-64gb, dialect: hami, "),
        ("any, with an `alias`", "accelerator: amd-mi300x-192gb, alias: <alias>, "),
        ("any, with an `alias`", "accelerator: nvidia-l4-24gb, alias: <alias>, "),
    ],
)
def test_names_of_shares_are_those_of_the_table(row: str, keys: str, tmp_path: Path) -> None:
    """Cores and memory, the last two resources of a node."""
    (told,) = [each[1:] for each in PAGE.section("Shares of a card").rows() if each[0] == row]
    keys = keys.replace("<alias>", "a.b/c")
    sharing = "count: 1, sharing: {strategy: percentage}"
    pools = f"pools:\n  - {{name: p, nodes: 1, nodeNames: [{NODE}], {keys}{sharing}}}\n"
    found = [f"`{each.name}`" for each in inventory(pools, tmp_path).resources][-2:]
    assert found == [each.replace("<alias>", "a.b/c") for each in told]
