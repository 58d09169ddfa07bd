"""What the pools of a file give to a node, by the very reader that the plugin has on the node."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from fake_plugin.errors import WrongUse
from fake_plugin.files.mapping import Mapping
from fake_plugin.fleet.accelerators import spelled_out
from fake_plugin.fleet.broken_rule import BrokenRule
from fake_plugin.fleet.offering import devices_of, refuse_too_long
from fake_plugin.fleet.pool_rules import given_rules, share_rules
from fake_plugin.fleet.shares import read_share
from fake_plugin.plan import Share
from lab.core.catalogue import catalogue, closest
from lab.core.fleet.findings import Finding, FleetError, KeyPath, shown
from lab.core.fleet.text import text_of
from lab.core.fleet.tree import Plain, parse


@dataclass
class Shares:
    """The shares of pools whose shape is sound, and what is wrong with the other ones.

    `source` is the file's name, from which the paths of other files start.
    """

    source: str
    found: dict[int, Share] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def add(self, index: int, pool: dict[str, Plain]) -> None:
        """Read a pool; what is wrong with it becomes a finding."""
        here: KeyPath = ("pools", index)
        before = len(self.findings)
        given = self._inlined(here, dict(pool))
        if len(self.findings) == before:
            self._note(here, given_rules(given))
        if len(self.findings) > before:
            return
        share = read_share(Mapping(Path(self.source), f"pools[{index}]", dict(given)), 0)
        try:
            self._note(here, share_rules(share, given))
        except WrongUse as problem:
            self.findings.append(_finding(here, problem))
        if len(self.findings) == before:
            self._offer(here, share)
        if len(self.findings) == before:
            self.found[index] = share

    def _offer(self, here: KeyPath, share: Share) -> None:
        """Ask the vendor, who may refuse what is right for another one."""
        # Of plain devices without NUMA nodes there is nothing that `count` does not say.
        if not share.accelerator and not share.numa:
            return
        try:
            devices_of(share)
        except WrongUse as problem:
            self.findings.append(_finding(here, problem))
            return
        try:
            refuse_too_long(share)
        except WrongUse as problem:
            found = _finding(here, problem)
            what = f"is {share.count}, and {problem.what}"
            self.findings.append(replace(found, what=what))

    def _note(self, here: KeyPath, broken: Iterator[BrokenRule]) -> None:
        self.findings += (
            Finding((*here, *each.path), each.what, each.rule, each.remedy) for each in broken
        )

    def _inlined(self, here: KeyPath, pool: dict[str, object]) -> dict[str, object]:
        """Return a pool as a node needs it: with the model and NVIDIA's file in it."""
        if isinstance(name := pool.get("accelerator"), str):
            pool["accelerator"] = self._model((*here, "accelerator"), name)
        if isinstance(path := pool.get("nvidiaConfig"), str):
            pool["nvidiaConfig"] = self._nvidia_file((*here, "nvidiaConfig"), path)
        return pool

    def _model(self, path: KeyPath, name: str) -> dict[str, object] | None:
        model = catalogue().get(name)
        accelerator = model.accelerator() if model else None
        if accelerator:
            return spelled_out(accelerator)
        what = f"is {shown(name)}"
        if model:
            rule = "the catalogue has figures of it, but no plugin of its vendor is imitated"
            self.findings.append(Finding(path, what, rule, "give the pool a `resource` instead"))
        else:
            remedy = f"did you mean {' or '.join(closest(name))}?"
            rule = "a model of the catalogue: docs/reference/accelerators.md lists them"
            self.findings.append(Finding(path, what, rule, remedy))
        return None

    def _nvidia_file(self, path: KeyPath, name: str) -> Plain:
        file = Path(self.source).parent / name
        try:
            tree = parse(text_of(file), str(file))
        except FleetError as error:
            what = f"is a file that cannot be used: {error.findings[0].what}"
            self.findings.append(Finding(path, what))
            return None
        for finding in tree.findings:
            what = f"has a mistake: {finding.render(str(file))}"
            self.findings.append(Finding(path, what))
        return tree.data


def _finding(here: KeyPath, problem: WrongUse) -> Finding:
    """Return what a vendor's code refuses, at the key of the pool that it is about."""
    return Finding((*here, *problem.key), problem.what, problem.seen, problem.remedy)
