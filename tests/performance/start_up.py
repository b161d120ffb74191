"""CPU time of `import primabench_core`, of `primabench list tasks`, and of Python itself.

Run: ``python tests/performance/start_up.py [--repeats N]``. Each runs in processes of its own, interleaved, with its
bytecode compiled; user and system time of the children are summed, and the smallest of the repeats is printed.
"""

from __future__ import annotations

import argparse
import compileall
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

SIDES: dict[str, Sequence[str]] = {
    "python": ["-c", "pass"],
    "import primabench_core": ["-c", "import primabench_core"],
    "primabench list tasks": ["-c", "from primabench_core.cli.main import main; raise SystemExit(main())"],
}
ARGUMENTS = {"primabench list tasks": ["list", "tasks"]}


def compile_all() -> None:
    """Write the bytecode of every distribution that takes part, as an installation does."""
    import primabench_core
    from primabench_core.discovery import names, registry

    registry.check_all()
    folders = {Path(primabench_core.__file__).parent}
    for kind in names.GROUPS:
        for record in names.records(kind):
            module = sys.modules.get(record.target.partition(":")[0].partition(".")[0])
            if module is not None and module.__file__:
                folders.add(Path(module.__file__).parent)
    for folder in folders:
        compileall.compile_dir(folder, quiet=2)


def cpu_of(arguments: Sequence[str]) -> float:
    """Seconds of user and system time of one process."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=7)
    repeats = parser.parse_args().repeats
    compile_all()
    times: dict[str, list[float]] = {name: [] for name in SIDES}
    for _ in range(repeats + 1):  # the first fills the caches of the file system
        for name, code in SIDES.items():
            times[name].append(cpu_of([*code, *ARGUMENTS.get(name, ())]))
    bare = min(times["python"][1:])
    for name, found in times.items():
        best = min(found[1:])
        print(f"{name:24} {best * 1e3:7.1f} ms CPU, {(best - bare) * 1e3:7.1f} ms above Python's own")


if __name__ == "__main__":
    main()
