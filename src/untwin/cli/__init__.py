"""The command: parsing, output and exit codes. The work is done by the rooms below; help imports none of them."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command with the arguments of the process; the console entry point."""
    try:
        from untwin.cli.run import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # before or after the command proper, while modules are loaded or streams closed
        code = 130
    sys.exit(code)
