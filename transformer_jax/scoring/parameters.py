"""EVALB's parameter files: which brackets and words count."""

import re
from dataclasses import dataclass, fields
from pathlib import Path

from transformer_jax import files
from transformer_jax.errors import InputError


@dataclass(frozen=True)
class Parameters:
    """What a parameter file says, under the same names in lower case.

    Without a file EVALB deletes and equates nothing and has the other defaults of this class.
    """

    delete_label: tuple[str, ...] = ()
    """Constituents that do not count, and tags whose words do not exist."""
    delete_label_for_length: tuple[str, ...] = ()
    """Tags whose words do not count in the length of a sentence."""
    quote_label: tuple[str, ...] = ()
    """Tags of quotes that a wrong tag on one side deletes on that side only; put back there."""
    eq_label: tuple[tuple[str, str], ...] = ()
    eq_word: tuple[tuple[str, str], ...] = ()
    labeled: int = 1
    """0 compares brackets without their labels."""
    cutoff_len: int = 40
    """The second summary is about sentences of this length at most."""
    max_error: int = 10
    """The program stops at the second error after so many; `evalb` never does."""
    debug: int = 0
    """1 prints the words and brackets of each sentence."""

    @classmethod
    def read(cls, path: str | Path) -> "Parameters":
        """Reads a parameter file of EVALB (COLLINS.prm, new.prm, nk.prm, ...).

        Raises:
          InputError: the file cannot be read, or a line is not understood. (EVALB says so and
            goes on without the line.)
        """
        values: dict = {}
        for number, line in enumerate(files.read_lines(path), 1):
            line = line.rstrip()
            if line.startswith("#") or len(line) < 3:  # as EVALB
                continue
            name, *given = line.split()
            name = name.lower()
            wanted = 2 if name.startswith("eq_") else 1
            if name not in (field.name for field in fields(cls)) or len(given) != wanted:
                raise InputError(
                    f"{path}, line {number}: {line!r} is no parameter of EVALB with {wanted} "
                    f"value{'s' * (wanted > 1)}; the names are "
                    f"{', '.join(field.name.upper() for field in fields(cls))}"
                )
            if name.startswith("eq_"):
                values[name] = (*values.get(name, ()), tuple(given))
            elif name.endswith(("_label", "_length")):
                values[name] = (*values.get(name, ()), *given)
            elif not re.fullmatch(r"\d+", given[0], re.ASCII):
                raise InputError(
                    f"{path}, line {number}: {name.upper()} is {given[0]!r}: give a whole number"
                )
            else:
                values[name] = int(given[0])
        if values.get("debug", 0) > 1:
            raise InputError(f"{path}: DEBUG {values['debug']} is not supported; give 0 or 1")
        return cls(**values)


COLLINS = Parameters(
    delete_label=("TOP", "-NONE-", ",", ":", "``", "''", "."),
    delete_label_for_length=("-NONE-",),
    eq_label=(("ADVP", "PRT"),),
)
"""COLLINS.prm, with which results on the Penn Treebank are reported."""
