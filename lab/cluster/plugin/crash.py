"""The process of a plugin, ended as if it were killed."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field


@dataclass(frozen=True)
class Crashed:
    """What the process has ended with."""

    exit_code: Annotated[int, Field(alias="exitCode")]
