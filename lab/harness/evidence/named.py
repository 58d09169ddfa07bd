"""What stands behind the names of secrets in a text: in logs, commands, headers, JSON, addresses.

A text tells less than JSON does where a value ends, and whether it is one: `token: connection
refused` is said of a token, and says none.
"""

import re
from typing import Final

from lab.harness.evidence.names import is_cookie, is_secret, may_be_counted

REMOVED: Final = "(removed)"
_QUOTE: Final = r"""\\{0,7}["'`]"""
#: A name, its quotes, and what separates it from its value: behind an option, that is a blank.
_NAME: Final = re.compile(
    rf"""(?<![\w.-])(?P<name>(?P<option>-)?[\w.-]++)(?P<quoted>{_QUOTE}\]?)?"""
    r"""(?P<sign>[ \t]*+(?::=|=>|[=:](?!=))[ \t]*+|"""
    r"""(?(option)(?:(?(quoted),|(?!))[ \t]*+|[ \t]++)|(?!)))"""
)
#: How it is that one is known, before what it is known by.
_SCHEME: Final = re.compile(
    r"(?i:(?P<line>AWS4-HMAC-SHA256|Digest|Hawk|OAuth)"
    rf"|ApiKey|Basic|Bearer|Negotiate|NTLM|Token)[ \t]++(?=[^\s(]|{re.escape(REMOVED)})"
)
_QUOTED: Final = re.compile(
    rf"(?P<quote>{_QUOTE})(?P<value>(?:(?!(?<!\\)(?P=quote)).)*+)(?P=quote)"
)
_LISTED: Final = re.compile(r"\[(?P<value>[^][{}]{0,4096}+)\]")
#: To the next blank or quote, or to the next pair of a list of such.
_BARE: Final = re.compile(rf"(?P<value>(?:(?![,;][\w.-]+[=:])(?!{_QUOTE})\S)++)")
#: What YAML has below `|`: lines that are indented as the first one.
_BLOCK: Final = re.compile(
    r"[|>][+-]?[ \t]*+\n(?P<indent>[ \t]++)(?P<value>[^\n]++(?:\n(?P=indent)[^\n]*+)*+)"
)
_LINE: Final = re.compile(r"(?P<value>[^\r\n]++)")
_LINE_ENDS: Final = re.compile(r"[ \t\r]*(?:#[^\n]*)?(?:\n|\Z)")
_INDENTED: Final = re.compile(r"\n[ \t-]*\Z")
_MOST_INDENTED: Final = 40
_QUOTES: Final = ('"', "'", "`")
_QUERY: Final = ("?", "&")
_MARKS: Final = ".,;:!?"
_CLOSING: Final = ")]}>"
#: What is no secret whatever its name: a switch, a type, a reference to a variable or to what a
#: command prints, a path of the system.
_PLAIN: Final = re.compile(
    r"(?i:true|false|yes|no|on|off|null|none|nil|undefined|enabled|disabled|str|bytes)|"
    r"\$\([\w.-]+\)?|\$\{[^{}]*\}|<[^<>]*>|"
    r"/(?:dev|etc|home|opt|proc|root|run|tmp|usr|var)/[\w./@:+-]*|"
)
_NUMBER: Final = re.compile(r"[+-]?\d{1,12}(?:[.,/_]\d{1,12})*[A-Za-z%]{0,3}(?:/s)?")
#: The beginning of something with names of its own, in Go's words or as JSON.
_STRUCTURE: Final = re.compile(r"""&[\w.]*\{|\{(?:[\s"'\\{}]|[\w.-]+:|$)|\(\*|map\[""")
#: A line of a program, as a failure has it: a method that is called, a value that is looked up.
_CODE: Final = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+[(\[].*")
#: What stands behind a name in an image or an address of a network.
_TAG_OR_PORT: Final = re.compile(
    r"v?\d+(?:\.\d+)+\S*|\d{1,5}(?:/\S*)?|(?:dev|edge|latest|main|nightly|stable)(?:@\S*)?"
)
_PROSE: Final = re.compile(r"[^\W\d_]+(?:['._/-][^\W\d_]+)*")
#: What may stand behind the name of an option in a sentence.
_FILLER: Final = re.compile(
    r"an?|and|are|as|can|cannot|for|from|has|if|in|instead|is|it|may|must|needs|not|of|on|or|"
    r"requires|should|the|to|was|which|with|you"
)


Span = tuple[int, int]


def is_plain(name: str, value: str) -> bool:
    """Tell whether a value is none to hide, though it has the name of a secret."""
    if value.startswith(REMOVED) or _PLAIN.fullmatch(value):
        return True
    return may_be_counted(name) and bool(_NUMBER.fullmatch(value))


def without_named(text: str) -> str:
    """Return a text without the values of what has the name of a secret."""
    pieces: list[str] = []
    kept = at = 0
    while found := _NAME.search(text, at):
        at = found.end()
        if is_secret(found["name"]) and (span := _secret_behind(text, found)):
            start, at = span
            pieces += (text[kept:start], REMOVED)
            kept = at
    return "".join((*pieces, text[kept:]))


def _secret_behind(text: str, named: re.Match[str]) -> Span | None:
    """Return where the value of a name is, None where it is no secret."""
    name, at = named["name"], named.end()
    if scheme := _SCHEME.match(text, at):
        behind = scheme.end()
        return _line(text, named, behind) if scheme["line"] else _word(text, name, behind)
    if _STRUCTURE.match(text, at):
        return None
    if found := _QUOTED.match(text, at) or _BLOCK.match(text, at):
        return None if is_plain(name, found["value"]) else found.span("value")
    if is_cookie(name):
        return _line(text, named, at)
    if found := _LISTED.match(text, at):
        each = (part.strip(" \t\r\n\"'") for part in found["value"].split(","))
        return None if all(is_plain(name, part) for part in each) else found.span("value")
    span = _word(text, name, at)
    return _among_others(text, named, span) if span else None


def _line(text: str, named: re.Match[str], at: int) -> Span | None:
    """Return the rest of the line, up to the quote that has begun before the name."""
    # Before the line is looked at, which would be done for each of the names in it.
    found = None if text.startswith(REMOVED, at) else _LINE.match(text, at)
    if not found or is_plain(named["name"], found["value"]):
        return None
    before = _before(text, named)
    closing = found["value"].find(before) if before in _QUOTES else -1
    return at, at + closing if closing >= 0 else found.end()


def _word(text: str, name: str, at: int) -> Span | None:
    """Return the word there, without what may be the sentence's own."""
    found = _BARE.match(text, at)
    if not found:
        return None
    whole = found["value"]
    value = whole.rstrip(_MARKS + _CLOSING)
    if any(is_plain(name, each) for each in (whole, whole.rstrip(_MARKS), value)):
        return None
    if _CODE.fullmatch(value):
        return None
    return at, at + len(value)


def _among_others(text: str, named: re.Match[str], span: Span) -> Span | None:
    """Return what of a word without quotes is a value, None where it is said of one or not one."""
    start, end = span
    value, before = text[start:end], _before(text, named)
    if named["sign"].isspace():
        return None if value.startswith("-") or _FILLER.fullmatch(value) else span
    # JSON has no blank before its colon; a sentence may, behind a name in quotes.
    if ":" in named["sign"] and (not named["quoted"] or named["sign"][0].isspace()):
        if named["sign"][-1].isspace():
            return None if _is_said(text, named, span) else span
        if before == "/" or (may_be_counted(named["name"]) and _TAG_OR_PORT.fullmatch(value)):
            return None
    # An address goes on with other names.
    return (start, start + value.index("&")) if before in _QUERY and "&" in value else span


def _is_said(text: str, named: re.Match[str], span: Span) -> bool:
    """Tell whether a word behind a colon is one of a sentence: a value has its line for itself."""
    start, end = span
    if not _PROSE.fullmatch(text, start, end) and text[end : end + 1] != ":":
        return False
    indented = text[max(0, named.start() - _MOST_INDENTED) : named.start()]
    begins = named.start() <= _MOST_INDENTED and not indented.strip(" \t-")
    return not (_LINE_ENDS.match(text, end) and (begins or _INDENTED.search(indented)))


def _before(text: str, named: re.Match[str]) -> str:
    return text[max(0, named.start() - 1) : named.start()]
