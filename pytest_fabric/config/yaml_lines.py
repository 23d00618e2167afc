"""YAML that remembers where each value stands: a strict subset, with scalars kept as text.

Whether `on` is a flag and `0000:01:00.0` an address (YAML 1.1 reads it as the number 60) is for
the key to say, so no scalar is converted here. Tags, merge keys and repeated keys are refused, and
aliases share the value of their anchor, so nothing is ever expanded.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NoReturn

import yaml

from pytest_fabric.config.problems import Mark, Problems, below
from pytest_fabric.config.wording import Plain, got, quoted
from pytest_fabric.errors import ConfigError

#: A thousand nodes of eight rails, all written out, are 0.5 MB, 50,000 values and 5 levels deep.
MAX_BYTES = 16 * 2**20
MAX_VALUES = 1_000_000
MAX_DEPTH = 20

#: The C parser where PyYAML has it: five times faster.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

NULLS = ("", "~", "null", "Null", "NULL")


class Table(dict[str, Any]):
    """A mapping: `mark` says where it stands, `marks` where each of its keys does."""

    def __init__(self, mark: Mark) -> None:
        super().__init__()
        self.mark = mark
        self.marks: dict[str, Mark] = {}
        self.size = 1

    def put(self, key: str, value: object, mark: Mark) -> None:
        """Set a key, and where it stands."""
        self[key] = value
        self.marks[key] = mark

    def without(self, *keys: str) -> Table:
        """Return a copy that lacks some keys."""
        rest = Table(self.mark)
        for key in self:
            if key not in keys:
                rest.put(key, self[key], self.marks[key])
        return rest


class Items(list[Any]):
    """A list: `mark` says where it stands, `marks` where each of its items does."""

    def __init__(self, mark: Mark) -> None:
        super().__init__()
        self.mark = mark
        self.marks: list[Mark] = []
        self.size = 1


def shown(path: Path) -> str:
    """Return a path as messages name it: from the current directory when it lies below it."""
    try:
        name = str(path.resolve().relative_to(Path.cwd()))
    except (ValueError, OSError, RuntimeError):  # elsewhere, unreadable, or a loop of links
        name = str(path)
    return name if name.isprintable() else ascii(name)[1:-1]


def read_text(path: Path) -> str:
    """Return the text of a cluster file. Raises ConfigError with the reason and the line."""
    name = shown(path)
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise ConfigError(
            f"{name}: expected a cluster file, found none: create one, or name another"
        ) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ConfigError(f"{name}: expected a readable file, got: {reason}") from None
    if len(data) > MAX_BYTES:
        raise ConfigError(f"{name}: expected at most {MAX_BYTES // 2**20} MiB, got more")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ConfigError(
            f"{name}:{line}: expected UTF-8 text, got byte 0x{data[error.start]:02x}"
        ) from None


def parse(text: str, problems: Problems) -> Table:
    """Return the mapping that a text holds; repeated keys and the like are added to `problems`.

    Raises ConfigError when the text is no YAML, or no mapping.
    """
    builder = _Builder(problems)
    try:
        for event in yaml.parse(text, Loader=LOADER):
            builder.take(event)
    except yaml.reader.ReaderError:
        bad = yaml.reader.Reader.NON_PRINTABLE.search(text)
        place = bad.start() if bad else 0
        line = text.count("\n", 0, place) + 1
        builder.stop(line, f"expected text, got the control character {text[place]!a}")
    except yaml.MarkedYAMLError as error:
        where = error.problem_mark or error.context_mark
        line = where.line + 1 if where else 1
        builder.stop(line, f"expected valid YAML, got: {_reason(text, line, error)}")
    if isinstance(builder.root, Table):
        return builder.root
    wanted = "a mapping with nodes, rails and profiles"
    builder.stop(builder.line, f"expected {wanted}, got {got(builder.root)}")


def _reason(text: str, line: int, error: yaml.MarkedYAMLError) -> str:
    """Return what a scanner's complaint means for the line that it points at."""
    problem = " ".join(f"{error.problem or error.context or error}".split())
    lines = text.splitlines()
    source = lines[line - 1] if line <= len(lines) else ""
    if re.match(r"\s*\t", source):
        return "a tab in the indentation: use blanks"
    if re.search(r"(^|[:\-,\[]\s+)[>|%@`&*!]", source):
        return f"{problem}: put a value that starts with a sign in quotes"
    if re.search(r":\s+\{\w+\}", source):
        return f'{problem}: put a value with braces in quotes, as in "{{node}}.mgmt"'
    if "mapping values" in problem:
        return f'{problem}: check the indentation, and put a value with ": " in quotes'
    return problem


class _Builder:
    """Builds the tree from the parser's events, without recursion."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        self.root: Table | Items | str | None = None
        self.line = 1
        self.documents = 0
        self.open: list[tuple[Table | Items, str | None]] = []
        self.keys: list[tuple[str, int] | None] = []
        self.anchors: dict[str, Table | Items | str | None] = {}

    def stop(self, line: int, message: str, path: str = "") -> NoReturn:
        """Raise ConfigError: nothing after this can be understood."""
        self.problems.add(Mark(self.problems.file, line, path), message)
        raise self.problems.error()

    def take(self, event: yaml.Event) -> None:
        """Take one event of the parser."""
        line = event.start_mark.line + 1 if event.start_mark else 1
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event, line)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._begin(event, line)
        elif isinstance(event, yaml.CollectionEndEvent):
            value, anchor = self.open.pop()
            self.keys.pop()
            self._put(value, value.mark, anchor)
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event.anchor, self._mark(line))
        elif isinstance(event, yaml.DocumentStartEvent):
            self.documents += 1
            if self.documents > 1:
                self.stop(line, "expected one document, got a second one (---)")

    def _scalar(self, event: yaml.ScalarEvent, line: int) -> None:
        if event.tag is not None:
            self._refuse_tag(event.tag, line)
        plain = event.implicit[0]
        value = Plain(event.value) if plain else event.value
        if self._wants_key():
            self.keys[-1] = (value, line)
        else:
            self._put(None if plain and value in NULLS else value, self._mark(line), event.anchor)

    def _alias(self, anchor: str | None, mark: Mark) -> None:
        if self._wants_key():
            self.stop(mark.line, "expected a plain key, got an alias as a key", mark.path)
        if anchor is None or anchor not in self.anchors:
            wanted = f"an anchor &{anchor} that ends above"
            self.stop(mark.line, f"expected {wanted}, got *{anchor} without one", mark.path)
        self._put(self.anchors[anchor], mark, None)

    def _begin(self, event: yaml.CollectionStartEvent, line: int) -> None:
        mark = self._mark(line)
        if self._wants_key():
            self.stop(line, "expected a plain key, got a mapping or a list as a key", mark.path)
        if len(self.open) >= MAX_DEPTH:
            self.stop(line, f"expected at most {MAX_DEPTH} levels, got more")
        if event.tag is not None:
            self._refuse_tag(event.tag, line)
        table = isinstance(event, yaml.MappingStartEvent)
        self.open.append((Table(mark) if table else Items(mark), event.anchor))
        self.keys.append(None)

    def _wants_key(self) -> bool:
        return bool(self.open) and isinstance(self.open[-1][0], Table) and self.keys[-1] is None

    def _refuse_tag(self, tag: str, line: int) -> None:
        self.problems.add(self._mark(line), f"expected a value without a tag, got {quoted(tag)}")

    def _mark(self, line: int) -> Mark:
        """Return the place of the value that comes next: the line of its key, if it has one."""
        if not self.open:
            return Mark(self.problems.file, line, "")
        holder, key = self.open[-1][0], self.keys[-1]
        if isinstance(holder, Items):
            return Mark(self.problems.file, line, below(holder.mark.path, f"[{len(holder)}]"))
        if key is None:
            return Mark(self.problems.file, line, holder.mark.path)
        return Mark(self.problems.file, key[1], below(holder.mark.path, key[0]))

    def _put(self, value: Table | Items | str | None, mark: Mark, anchor: str | None) -> None:
        if anchor is not None:
            self.anchors[anchor] = value
        if not self.open:
            self.root, self.line = value, mark.line
            return
        holder, key = self.open[-1][0], self.keys[-1]
        holder.size += getattr(value, "size", 1)
        if holder.size > MAX_VALUES:
            self.stop(mark.line, f"expected at most {MAX_VALUES:,} values, got more by aliases")
        if isinstance(holder, Items):
            holder.append(value)
            holder.marks.append(mark)
        elif key is not None:
            self.keys[-1] = None
            if self._is_new(holder, key[0], mark):
                holder.put(str(key[0]), value, mark)

    def _is_new(self, table: Table, key: str, mark: Mark) -> bool:
        if key == "<<" and isinstance(key, Plain):
            remedy = "repeat the value with *NAME, or use `extends` in a profile"
            self.problems.add(mark, f"expected no merge key, got <<: {remedy}")
            return False
        if key in table:
            first = f"line {table.marks[key].line} has it already"
            self.problems.add(mark, f"expected each key once, got it again: {first}")
            return False
        return True
