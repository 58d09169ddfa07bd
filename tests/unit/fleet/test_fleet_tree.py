"""What is no YAML, or more than plain data, is found before any rule is asked."""

from collections.abc import Callable
from pathlib import Path

import pytest

from lab.core.fleet import FleetError, load_fleet
from lab.core.fleet.text import MOST_BYTES

HEAD = "apiVersion: gpu-lab/v1\nkind: Fleet\n"
BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{new}: &{new} [{','.join([f'*{old}'] * 9)}]\n"
    for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("", ": is empty; begin with `apiVersion: gpu-lab/v1`"),
        ("# only a comment\n", ": is empty; begin with `apiVersion: gpu-lab/v1`"),
        ("---\n", ": is empty; begin with `apiVersion: gpu-lab/v1`"),
        ("- a\n", ":1:1: is a list (must be a mapping)"),
        ("fleet", ':1:1: is "fleet" (must be a mapping)'),
        (
            "a:\n\tb: 1\n",
            (
                ":2:1: is not YAML: found character '\\t' that cannot start any token; "
                "indent with spaces, not with tabs"
            ),
        ),
        ("a: [1\nb: 2", ":2:2: is not YAML: expected ',' or ']', but got ':'"),
        ("a: *b\n", ":1:4: is not YAML: found undefined alias 'b'"),
        (
            "a: 1\n---\nb: 1\n",
            (
                ":3:1: a second document begins here (a file holds one fleet); "
                "put it into a file of its own"
            ),
        ),
        (
            b"a: 1\nb: \x00",
            (
                ":2:4: holds the character U+0000 (YAML is printable text); "
                "save the file as UTF-8 text"
            ),
        ),
        (
            b"\x7fELF\x02\x01\xff\xfe",
            ":1:7: holds the byte 0xFF, which is not UTF-8; save the file as UTF-8 text",
        ),
        ("a: " + "[" * 2000, ": is nested too deeply"),
        ('a: "\\UFFFFFFFF"', ": is not YAML: "),
        ("%YAML 1." + "9" * 5000 + "\n---\n", ": is not YAML: "),
    ],
)
def test_tree_refuses_what_is_no_single_mapping(
    findings_of: Callable[[str | bytes], list[str]], content: str | bytes, found: str
) -> None:
    """A file that is no YAML mapping is refused with the place and the reason."""
    (line,) = findings_of(content)
    assert line.startswith(found) if found.endswith("YAML: ") else line == found


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (
            "kind: Fleet\n",
            ":3:1: kind: is given twice (the first is on line 2); keep one of the two",
        ),
        ("pools: [{1: x}]\n", ':3:10: pools[0]."1": is not a key (keys are text)'),
        ("pools: [{[a]: x}]\n", ':3:10: pools[0]."?": is not a key (keys are text)'),
        (
            "pools: [{<<: {a: 1}}]\n",
            ":3:10: pools[0]: merge keys (<<) are not read; write the keys out",
        ),
        ("pools:\n", ":3:7: pools: has no value; give it a value, or remove the key"),
        (
            "kindly: 2024-01-01\n",
            (
                ':3:9: kindly: is of YAML\'s type "timestamp" '
                "(values are text, numbers, true or false, lists and mappings); quote it"
            ),
        ),
        (
            "pools: !!python/name:os.system x\n",
            ':3:8: pools: is of YAML\'s type "python/name:os.system"',
        ),
        ("pools: !!int x\n", ':3:8: pools: cannot be read as int: "x"'),
        ("pools: 0x_\n", ':3:8: pools: cannot be read as int: "0x_"'),
        ("pools: !!bool x\n", ':3:8: pools: cannot be read as bool: "x"'),
        ("pools: &p [*p]\n", ":3:8: pools[0]: is an alias of what it stands in"),
        ('pools: "\\ud800"\n', ":3:8: pools: holds half a surrogate pair (text is Unicode)"),
        ("pools: " + "[" * 40 + "]" * 40, "is nested too deeply (at most 32 levels)"),
        ("pools: " + "9" * 41, ":3:8: pools: cannot be read as int: "),
    ],
)
def test_tree_refuses_more_than_plain_data(
    findings_of: Callable[[str], list[str]], content: str, found: str
) -> None:
    """What YAML can say beyond plain data is refused at its place."""
    assert any(found in line for line in findings_of(HEAD + content))


def test_tree_refuses_an_alias_bomb(findings_of: Callable[[str], list[str]]) -> None:
    """Aliases that multiply to 43 million values are refused by their number."""
    (line,) = findings_of(BOMB)
    assert "has more than 200000 values, aliases counted" in line


def test_tree_follows_anchors(tmp_path: Path) -> None:
    """An alias stands for what its anchor marks."""
    file = tmp_path / "f.yaml"
    file.write_text(
        HEAD + "pools:\n- {name: a, nodes: &two 2, resource: a.example.com/x, count: *two}\n"
    )
    assert load_fleet(file).pools[0].count == 2


def test_tree_takes_a_byte_order_mark_and_crlf(tmp_path: Path) -> None:
    """A file saved by an editor on Windows is read."""
    file = tmp_path / "f.yaml"
    pool = "pools: [{name: a, nodes: 1, resource: a.example.com/x, count: 0}]\n"
    file.write_bytes(b"\xef\xbb\xbf" + (HEAD + pool).replace("\n", "\r\n").encode())
    assert load_fleet(file).pools[0].name == "a"


def test_reading_refuses_a_large_file(findings_of: Callable[[str], list[str]]) -> None:
    """A file beyond a mebibyte is refused unparsed."""
    assert findings_of("#" * (MOST_BYTES + 1)) == [": is too large (at most 1048576 bytes)"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [("none.yaml", "No such file or directory"), (".", "Is a directory"), ("\0", "null byte")],
)
def test_reading_names_a_file_that_cannot_be_read(tmp_path: Path, name: str, reason: str) -> None:
    """The system's own words say why a file cannot be read."""
    with pytest.raises(FleetError) as error:
        load_fleet(tmp_path / name)
    assert error.value.what == "the fleet file cannot be read"
    assert error.value.seen.startswith(f"{tmp_path / name}: ")
    assert reason in error.value.seen


def test_reading_names_a_file_without_permission(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of somebody else is an error of the file, not a traceback."""

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(FleetError, match="Permission denied"):
        load_fleet(tmp_path / "f.yaml")
