"""A YAML file as a tree that remembers where each value stands.

Only YAML's plain data is let through: mappings with text keys, lists, text, numbers, true and
false. What YAML can say beyond that (two documents, a key twice, dates, merge keys, aliases that
multiply without end) is a finding here, so that the rules after it see nothing odd.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import yaml
from yaml.constructor import SafeConstructor
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from yaml.reader import ReaderError

from lab.core.fleet.findings import Finding, FleetError, KeyPath, Position, shown
from lab.core.fleet.model import API_VERSION

Plain: TypeAlias = "dict[str, Plain] | list[Plain] | str | int | float | bool | None"

#: More than any fleet needs (one entry of `numa` per device is the most), less than hurts.
MOST_VALUES: Final = 200_000
DEEPEST: Final = 32
_LONGEST_NUMBER: Final = 40
_TAG: Final = "tag:yaml.org,2002:"
_NUMBERS: Final[dict[str, Callable[[ScalarNode], int | float | bool]]] = {
    f"{_TAG}bool": SafeConstructor().construct_yaml_bool,
    f"{_TAG}int": SafeConstructor().construct_yaml_int,
    f"{_TAG}float": SafeConstructor().construct_yaml_float,
}


@dataclass(frozen=True)
class Tree:
    """A parsed file: its data, and the nodes that know the positions of it."""

    root: Node
    data: Plain
    findings: tuple[Finding, ...]
    keys: Mapping[int, Mapping[str, tuple[Node, Node]]]

    def position(self, path: KeyPath, *, on_key: bool = False) -> Position:
        """Return where a value, or its key, stands; of what is missing, where it would belong."""
        node = self.root
        mark = node.start_mark
        for part in path:
            step = self._step(node, part)
            if step is None:
                break
            key, node = step
            mark = key.start_mark if on_key else node.start_mark
        return Position(mark.line + 1, mark.column + 1)

    def _step(self, node: Node, part: str | int) -> tuple[Node, Node] | None:
        if isinstance(part, str):
            return self.keys.get(id(node), {}).get(part)
        if isinstance(node, SequenceNode) and part < len(node.value):
            return node.value[part], node.value[part]
        return None


def parse(text: str, source: str) -> Tree:
    """Parse one document. Raises `FleetError` where the text is no YAML, or not one document."""
    root = _compose(text, source)
    walk = _Walk()
    data = walk.plain(root, (), frozenset())
    return Tree(root, data, tuple(walk.findings), walk.keys)


def _compose(text: str, source: str) -> Node:
    try:
        documents = list(yaml.compose_all(text, yaml.SafeLoader))
    except yaml.MarkedYAMLError as error:
        raise FleetError(source, [_syntax(error)]) from error
    except ReaderError as error:
        raise FleetError(source, [_unprintable(text, error)]) from error
    except RecursionError as error:
        raise FleetError(source, [Finding((), "is nested too deeply")]) from error
    except (ValueError, OverflowError) as error:
        # PyYAML lets int() and chr() fail on absurd numbers in directives and escapes.
        raise FleetError(source, [Finding((), f"is not YAML: {error}")]) from error
    if not documents or documents[0].tag == f"{_TAG}null":
        empty = Finding((), "is empty", remedy=f"begin with `apiVersion: {API_VERSION}`")
        raise FleetError(source, [empty])
    if len(documents) > 1:
        mark = documents[1].start_mark
        second = Finding(
            (),
            "a second document begins here",
            "a file holds one fleet",
            "put it into a file of its own",
            position=Position(mark.line + 1, mark.column + 1),
        )
        raise FleetError(source, [second])
    return documents[0]


def _syntax(error: yaml.MarkedYAMLError) -> Finding:
    mark = error.problem_mark or error.context_mark
    position = Position(mark.line + 1, mark.column + 1) if mark else None
    problem = error.problem or error.context or "it cannot be parsed"
    remedy = "indent with spaces, not with tabs" if "'\\t'" in problem else ""
    return Finding((), f"is not YAML: {problem}", remedy=remedy, position=position)


def _unprintable(text: str, error: ReaderError) -> Finding:
    before = text[: error.position].split("\n")
    return Finding(
        (),
        f"holds the character U+{ord(text[error.position]):04X}",
        "YAML is printable text",
        "save the file as UTF-8 text",
        position=Position(len(before), len(before[-1]) + 1),
    )


@dataclass
class _Walk:
    """One walk over the nodes; an alias is walked again each time it is used."""

    findings: list[Finding] = field(default_factory=list)
    keys: dict[int, dict[str, tuple[Node, Node]]] = field(default_factory=dict)
    left: int = MOST_VALUES

    def plain(self, node: Node, path: KeyPath, above: frozenset[int]) -> Plain:
        """Return the data of a node that is reached by `path`, inside the nodes `above`."""
        self.left -= 1
        if self.left < 0:
            if self.left == -1:
                self._reject((), node, f"has more than {MOST_VALUES} values, aliases counted")
            return None
        if id(node) in above:
            return self._reject(path, node, "is an alias of what it stands in")
        if len(above) >= DEEPEST:
            return self._reject(path, node, "is nested too deeply", f"at most {DEEPEST} levels")
        inside = above | {id(node)}
        if isinstance(node, MappingNode) and node.tag == f"{_TAG}map":
            return self._mapping(node, path, inside)
        if isinstance(node, SequenceNode) and node.tag == f"{_TAG}seq":
            return [
                self.plain(item, (*path, index), inside) for index, item in enumerate(node.value)
            ]
        return self._scalar(node, path)

    def _mapping(
        self, node: MappingNode, path: KeyPath, inside: frozenset[int]
    ) -> dict[str, Plain]:
        found: dict[str, Plain] = {}
        first: dict[str, tuple[Node, Node]] = {}
        for key, value in node.value:
            name = self._key(key, path)
            if name is None:
                continue
            if name in found:
                rule = f"the first is on line {first[name][0].start_mark.line + 1}"
                self._reject((*path, name), key, "is given twice", rule, "keep one of the two")
                continue
            first[name] = key, value
            found[name] = self.plain(value, (*path, name), inside)
        self.keys[id(node)] = first
        return found

    def _key(self, key: Node, path: KeyPath) -> str | None:
        if key.tag == f"{_TAG}merge":
            self._reject(path, key, "merge keys (<<) are not read", remedy="write the keys out")
            return None
        if isinstance(key, ScalarNode) and key.tag == f"{_TAG}str" and _encodable(key.value):
            return str(key.value)
        word = ascii(key.value)[1:-1] if isinstance(key, ScalarNode) else "?"
        self._reject((*path, word), key, "is not a key", "keys are text")
        return None

    def _scalar(self, node: Node, path: KeyPath) -> Plain:
        tag = node.tag.removeprefix(_TAG)
        if tag == "str" and isinstance(node, ScalarNode):
            if _encodable(node.value):
                return str(node.value)
            return self._reject(path, node, "holds half a surrogate pair", "text is Unicode")
        if tag == "null":
            remedy = "give it a value, or remove the key"
            return self._reject(path, node, "has no value", remedy=remedy)
        if node.tag in _NUMBERS and isinstance(node, ScalarNode):
            return self._number(node, path)
        rule = "values are text, numbers, true or false, lists and mappings"
        return self._reject(path, node, f"is of YAML's type {shown(tag)}", rule, "quote it")

    def _number(self, node: ScalarNode, path: KeyPath) -> Plain:
        try:
            if len(node.value) <= _LONGEST_NUMBER:
                return _NUMBERS[node.tag](node)
        except (ValueError, KeyError, IndexError, OverflowError):
            pass
        kind = node.tag.removeprefix(_TAG)
        return self._reject(path, node, f"cannot be read as {kind}: {shown(node.value)}")

    def _reject(
        self, path: KeyPath, node: Node, what: str, rule: str = "", remedy: str = ""
    ) -> Plain:
        """Note what is wrong with a node, and return what stands for its value from there on."""
        mark = node.start_mark
        position = Position(mark.line + 1, mark.column + 1)
        self.findings.append(Finding(path, what, rule, remedy, position=position))
        return None


def _encodable(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)
