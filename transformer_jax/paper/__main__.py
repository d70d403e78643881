"""The paper's tables and figures.

python -m transformer_jax.paper table1
python -m transformer_jax.paper table3 --params
python -m transformer_jax.paper table3 --help
"""

import argparse
import ast
import importlib
import os
import sys
from pathlib import Path

from transformer_jax.errors import InputError

_NAMES = ("table1", "table2", "table3", "table4", "figures")


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m transformer_jax.paper", description="The paper's tables and figures."
    )
    subparsers = parser.add_subparsers(dest="name", metavar="NAME", required=True)
    for name in _NAMES:
        # Only the one that is asked for is imported.
        asked = name in sys.argv[1:2]
        module = importlib.import_module(f"transformer_jax.paper.{name}") if asked else None
        help = _first_line(name)
        subparser = subparsers.add_parser(name, help=help, description=help)
        if module is not None:
            module.add_arguments(subparser)
            subparser.set_defaults(run=module.run)
    arguments = parser.parse_args()
    try:
        arguments.run(arguments)
        sys.stdout.flush()
    except InputError as error:
        sys.exit(f"transformer_jax.paper: {error}")
    except KeyboardInterrupt:
        sys.exit("transformer_jax.paper: interrupted")
    except BrokenPipeError:  # whoever reads, `head` for example, has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _first_line(name: str) -> str:
    """Of the docstring of a module that is not imported."""
    source = Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]


if __name__ == "__main__":
    main()
