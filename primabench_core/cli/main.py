"""Entry point of ``primabench``: finds the command, runs it, turns errors into exit codes.

Exit codes: 0 all that was asked was done and passed; 1 it ran and something failed (a requirement, a mismatch, a
finding, an item of a batch); 2 usage, unknown name, missing or refused input, store unreachable; 3 an internal fault;
130 interrupted.

Only the module of the command that was asked for is imported: ``primabench list tasks`` loads no array library.
"""

from __future__ import annotations

import argparse
import errno
import io
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import NoReturn

COMMANDS = {
    "demo": "score every baseline on real cells; table, results and a report",
    "list": "names of tasks, datasets, metrics, baselines, benchmarks, recipes, plugins",
    "show": "the card of one task, dataset, metric, baseline, benchmark or recipe",
    "build": "build a dataset into the store with its recipe",
    "push": "publish a built dataset version to another store",
    "fetch": "paths of the train and test data of a task",
    "cache": "what was fetched from remote stores: look, clear, verify",
    "evaluate": "score a file of predictions, or a baseline",
    "compare": "say which differences of two models are real",
    "report": "one page from results: scores, curves, tests, provenance",
    "verify": "check what a result claims, or the bytes of a dataset",
    "check": "conformance checks of a plugin",
    "new": "write a plugin that installs, passes its checks and evaluates",
    "docs": "reference of metrics, cards, hooks and commands as Markdown",
    "doctor": "state of the installation, plugin by plugin",
}
"""Every command and its line in the help, in the order of a first visit."""

OK, FAILED, USAGE, INTERNAL, INTERRUPTED = 0, 1, 2, 3, 130


class Parser(argparse.ArgumentParser):
    """An argument parser whose usage errors name the next command."""

    def error(self, message: str) -> NoReturn:
        """Print what is wrong and leave with exit code 2."""
        self.print_usage(sys.stderr)
        self.exit(USAGE, f"{self.prog}: {message}\n  Next: {self.prog} --help\n")


def _top_parser(commands: dict[str, str]) -> Parser:
    from primabench_core import __version__

    lines = "\n".join(f"  {name:<10} {text}" for name, text in commands.items())
    parser = Parser(
        prog="primabench",
        usage="primabench [--version] [--debug] COMMAND …",
        description="Scores predictions of biological foundation models against held-out truth.",
        epilog=f"commands:\n{lines}\n\n`primabench COMMAND --help` explains one. Exit codes: 0 passed, 1 something "
        "failed,\n2 wrong usage or input, 3 internal fault, 130 interrupted.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"primabench {__version__}")
    parser.add_argument("--debug", action="store_true", help="show tracebacks")
    parser.add_argument("command", nargs="?", metavar="COMMAND", help=argparse.SUPPRESS)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``primabench`` with these arguments and return its exit code.

    Args:
        argv: Arguments without the program's name; by default those of the process.

    Example:
        >>> main(["list", "plugins", "--json"])  # doctest: +SKIP
        0
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    _prepare_output()
    debug = "--debug" in arguments
    arguments = [a for a in arguments if a != "--debug"]
    try:
        code = _run(arguments)
        sys.stdout.flush()
        return code
    except SystemExit as stop:  # argparse
        return stop.code if isinstance(stop.code, int) else USAGE if stop.code else OK
    except KeyboardInterrupt:
        print("primabench: interrupted", file=sys.stderr)  # noqa: T201
        return INTERRUPTED
    except BrokenPipeError:  # the reader of a pipe went away, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except OSError as error:
        if not _is_output_fault(error):
            return _explain(error, debug)
        print(f"primabench: the output cannot be written: {error.strerror}", file=sys.stderr)  # noqa: T201
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the flush at exit fails again
        return USAGE
    except Exception as error:  # noqa: BLE001  (the last line of defence: an error becomes an exit code)
        return _explain(error, debug)


def _prepare_output() -> None:
    """Let any terminal show what we print: a closed output is the null device, unknown letters become ``?``."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123  (lives with the process)
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _is_output_fault(error: OSError) -> bool:
    """Whether writing to standard output failed: a full disk behind it, no file of ours."""
    from primabench_core.errors import PrimaBenchError

    faults = (errno.ENOSPC, errno.EIO, errno.EBADF)
    return not isinstance(error, PrimaBenchError) and error.filename is None and error.errno in faults


def _run(arguments: list[str]) -> int:
    index = next((i for i, a in enumerate(arguments) if not a.startswith("-")), None)
    if index is None:
        parser = _top_parser({**COMMANDS, **_plugin_commands()} if arguments in ([], ["-h"], ["--help"]) else COMMANDS)
        parser.parse_args(arguments)
        parser.print_help()
        return USAGE if not arguments else OK
    name = arguments[index]
    if index > 0:  # options before the command are the program's own
        _top_parser(COMMANDS).parse_args(arguments[: index + 1])
    if name in COMMANDS:
        module = import_module(f"primabench_core.cli.{name}_command")
        parser = Parser(prog=f"primabench {name}", formatter_class=argparse.RawDescriptionHelpFormatter)
        module.configure(parser)
        run: Callable[[argparse.Namespace], int] = module.run
        return run(parser.parse_args(arguments[index + 1 :]))
    return _run_plugin_command(name, arguments[index + 1 :])


def _plugin_commands() -> dict[str, str]:
    """Commands of plugins, and whose they are: what stands in the help below those of core."""
    from primabench_core.discovery.hooks import command_owners

    return {name: f"of {owner}: primabench {name} --help" for name, owner in command_owners().items()}


def _run_plugin_command(name: str, arguments: list[str]) -> int:
    """Run a command that a plugin adds through the hook ``cli_commands``."""
    from primabench_core.discovery.hooks import cli_commands
    from primabench_core.errors import UnknownNameError

    extra = cli_commands()
    if name not in extra:
        raise UnknownNameError("command", name, [*COMMANDS, *extra], remedy="primabench --help")
    return extra[name](arguments)


def _explain(error: Exception, debug: bool) -> int:
    from primabench_core.advice import for_command
    from primabench_core.errors import MetricError, PrimaBenchError

    if debug:
        import traceback

        traceback.print_exc()
    if isinstance(error, PrimaBenchError):
        print(f"primabench: {for_command(str(error))}", file=sys.stderr)  # noqa: T201
        return FAILED if isinstance(error, MetricError) else USAGE
    kind = type(error).__name__
    print(f"primabench: internal fault: {kind}: {error}", file=sys.stderr)  # noqa: T201
    if not debug:
        print("  Next: run again with --debug and report the traceback", file=sys.stderr)  # noqa: T201
    return INTERNAL


if __name__ == "__main__":
    sys.exit(main())
