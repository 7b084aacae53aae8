"""Run the command and kill it (kill -9) before one of the steps that reach the disk.

`python killed.py STEP LIST ARGUMENTS...`: the steps that the command takes are listed in the file LIST if it comes
through, as with STEP -1: one [name of the call, path] each.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1] / "store")]  # tests are no package
steps = import_module("steps")


def main(step: int, listed: Path, arguments: list[str]) -> None:
    from untwin.cli.run import run

    taken: list[tuple[str, str]] = []
    with steps.interrupted(step, steps.die, each=lambda name, target: taken.append((name, path_of(target)))):
        code = run(arguments)
    listed.write_text(json.dumps(taken))
    sys.exit(code)


def path_of(target: object) -> str:
    if isinstance(target, int):
        return str(Path(f"/proc/self/fd/{target}").readlink())
    return str(getattr(target, "name", target))


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
