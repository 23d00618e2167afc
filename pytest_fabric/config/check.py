"""A mapping against its model: every complaint becomes a problem at its own line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from pytest_fabric.config.problems import Mark, Problems
from pytest_fabric.config.wording import got, like, quoted
from pytest_fabric.config.yaml_lines import Items, Table

M = TypeVar("M", bound=BaseModel)

#: What pydantic's own complaints about the shape of a value mean.
SHAPES = {
    "model_type": "a mapping",
    "dict_type": "a mapping",
    "tuple_type": "a list",
    "string_type": "a text",
}


def validate(
    model: type[M],
    value: object,
    mark: Mark,
    problems: Problems,
    *,
    keys: type[BaseModel] | None = None,
    partial: bool = False,
) -> M | None:
    """Return the model of a value that stands at `mark`, or None after adding its problems.

    `keys` is the model whose keys are known, when `model` has only some of them. A `partial` value
    may lack keys that are required; then None says only that it cannot stand alone.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        for item in error.errors(include_url=False):
            if not (partial and item["type"] == "missing"):
                where, message = _explain(keys or model, value, mark, item)
                problems.add(where, message)
        return None


def failed_keys(model: type[BaseModel], value: Table) -> set[str]:
    """Return the keys of a mapping that do not fit the model."""
    try:
        model.model_validate(value)
    except ValidationError as error:
        return {str(item["loc"][0]) for item in error.errors(include_url=False) if item["loc"]}
    return set()


def _explain(
    model: type[BaseModel], value: object, mark: Mark, item: ErrorDetails
) -> tuple[Mark, str]:
    *above, last = item["loc"] or ("",)
    if item["type"] == "missing":
        return place(value, mark, above).key(str(last)), "expected this key, found none"
    if item["type"] == "extra_forbidden":
        known = like("a known key", str(last), _keys(model, above))
        return place(value, mark, item["loc"]), f"expected {known}, got {quoted(str(last))}"
    if item["type"] in SHAPES:
        shape = f"expected {SHAPES[item['type']]}, got {got(item['input'])}"
        return place(value, mark, item["loc"]), shape
    return place(value, mark, item["loc"]), " ".join(item["msg"].split())


def place(value: object, mark: Mark, path: Sequence[int | str]) -> Mark:
    """Return where the value at `path` stands, or the nearest one above it that does."""
    for part in path:
        if isinstance(value, Table) and part in value.marks:
            mark = value.marks[str(part)]
            value = value[str(part)]
        elif isinstance(value, Items) and isinstance(part, int) and part < len(value):
            mark = value.marks[part]
            value = value[part]
    return mark


def _keys(model: type[BaseModel], path: Sequence[int | str]) -> list[str]:
    """Return the keys of the model to which `path` leads from `model`."""
    for part in path:
        field = model.model_fields.get(str(part))
        if field is not None:
            model = next(_models(field.annotation), model)
    return list(model.model_fields)


def _models(annotation: object) -> Iterator[type[BaseModel]]:
    """Yield the models that a type such as `Cnp | None` or `tuple[Waiver, ...]` names."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models(argument)
