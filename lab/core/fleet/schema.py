"""The JSON Schema of the fleet file: `python -m lab.core.fleet.schema` prints it.

`docs/reference/fleet.schema.json` is its committed output, for editors and other tools.
"""

import json
import sys
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from lab.core.fleet.document import FleetDocument


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
    """Return the schema."""
    schema = FleetDocument.model_json_schema(schema_generator=_WithoutNull)
    return {"$schema": GenerateJsonSchema.schema_dialect, **schema}


def fleet_schema_text() -> str:
    """Return the schema as the published file holds it."""
    return json.dumps(fleet_schema(), indent=2) + "\n"


if __name__ == "__main__":
    sys.stdout.write(fleet_schema_text())
