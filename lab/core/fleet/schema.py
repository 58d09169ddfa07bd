"""The JSON Schema of the fleet file: `python -m lab.core.fleet.schema` prints it.

`docs/reference/fleet.schema.json` is its committed output, for editors and other tools.
"""

import json
import sys
from typing import Any, Final

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from lab.core.fleet.document import FleetDocument
from lab.core.fleet.not_acted_on import NOT_ACTED_ON

_REFUSED: Final = "Not acted on by this version, which refuses it."


class _WithoutNull(GenerateJsonSchema):
    """An optional key may be left out, but a key without a value is an error: no null."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def field_title_should_be_set(self, schema: object) -> bool:  # noqa: ARG002 - its contract
        return False

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        if schema.get("default", ...) is None:
            return self.generate_inner(schema["schema"])
        return super().default_schema(schema)


def fleet_schema() -> dict[str, Any]:
    """Return the schema; the description of a key that this version refuses says so."""
    schema = FleetDocument.model_json_schema(schema_generator=_WithoutNull)
    for key in NOT_ACTED_ON:
        described = _described(schema, key)
        described["description"] = f"{described.get('description', '')} {_REFUSED}".lstrip()
    return {"$schema": GenerateJsonSchema.schema_dialect, **schema}


def _described(schema: dict[str, Any], key: str) -> dict[str, Any]:
    at = schema
    *outer, last = key.split(".")
    for name in outer:
        items = at["properties"][name.removesuffix("[]")]["items"]
        at = schema["$defs"][items["$ref"].rpartition("/")[2]]
    described: dict[str, Any] = at["properties"][last]
    return described


def fleet_schema_text() -> str:
    """Return the schema as the published file holds it."""
    return json.dumps(fleet_schema(), indent=2) + "\n"


if __name__ == "__main__":
    sys.stdout.write(fleet_schema_text())
