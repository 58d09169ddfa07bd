"""What a command line of `gpulab run` asks for, and the commands that ask for it again."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from lab.core.errors import LabError
    from lab.harness.series import Ended


@dataclass(frozen=True)
class Asked:
    """What the command line asks for, to ask for it again.

    `told` are the words that say what is left of the run, and `lab` those that make one.
    """

    names: tuple[str, ...]
    sections: tuple[str, ...]
    tags: tuple[str, ...]
    repeat: int
    seed: int | None
    told: tuple[str, ...]
    name: str
    lab: tuple[str, ...]

    def again(self) -> str:
        """Return the command that runs all of it in the same order."""
        return self._command(self._words, self.options)

    def elsewhere(self) -> str:
        """Return the command that runs all of it on a lab that has what every scenario needs."""
        return self._command(self._words, ("--backend", "kind", "--name", "another-name"))

    @property
    def _words(self) -> Sequence[str]:
        chosen = [("--section", each) for each in self.sections]
        chosen += [("--tag", each) for each in self.tags]
        words = [*self.names, *(word for pair in chosen for word in pair)]
        words += ["--repeat", str(self.repeat)] if self.repeat > 1 else []
        words += ["--seed", str(self.seed)] if self.seed is not None else []
        return words

    def tell(self, ended: "Ended", error: "LabError") -> None:
        """Say what did not hold, what was kept of it, and how to run just that again."""
        click.echo(error.render(), err=True)
        click.echo(f"  evidence: {ended.evidence}", err=True)
        click.echo(f"  $ {self.alone(ended.name)}", err=True)

    def alone(self, scenario: str) -> str:
        """Return the command that runs one scenario, once."""
        return self._command([scenario], self.options)

    @property
    def options(self) -> tuple[str, ...]:
        """Return the options that say which lab it is."""
        return ("--name", self.name, *self.lab)

    def _command(self, words: Sequence[str], options: Sequence[str]) -> str:
        return f"gpulab {shlex.join(('run', *words, *self.told, *options))}"
