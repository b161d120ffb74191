"""What to do about an error, in Python's words and in those of the command line.

Errors are worded for Python. Advice that names an argument is taken from here, and ``primabench`` prints it as its own
option (:func:`for_command`), wherever in a message it stands and however the error came: also out of another process,
where only its text arrives.
"""

from __future__ import annotations

import re
import shlex
from ast import literal_eval
from collections.abc import Sequence
from functools import cache

from attrs import frozen

_VALUE = r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\[[^\]]*\])"""
_SLOT = re.compile(r"\{(\w+)\}")


@frozen
class Advice:
    """One thing to do, in both wordings; ``{name}`` stands for a value.

    Example:
        >>> METRICS.text(names=["linear_probe"])
        "pass metrics=['linear_probe']"
        >>> for_command(f"Or {METRICS.text(names=['linear_probe'])}.")
        'Or add --metrics linear_probe.'
    """

    python: str
    """For a caller in Python; values are written as their ``repr``."""
    command: str
    """For the command line; values are quoted for a shell, lists joined by commas."""

    def text(self, **values: str | Sequence[str]) -> str:
        """Python's wording with these values."""
        return _SLOT.sub(lambda slot: repr(values[slot[1]]), self.python)

    def translated(self, text: str) -> str:
        """A text in which Python's wording became that of the command line."""
        pattern, names = _pattern(self.python)

        def replaced(found: re.Match[str]) -> str:
            values = {name: literal_eval(found[i]) for i, name in enumerate(names, 1)}
            words = {n: shlex.quote(v if isinstance(v, str) else ",".join(v)) for n, v in values.items()}
            return _SLOT.sub(lambda slot: words[slot[1]], self.command)

        return pattern.sub(replaced, text)


@cache
def _pattern(template: str) -> tuple[re.Pattern[str], tuple[str, ...]]:
    literal, *rest = _SLOT.split(template)
    pattern = re.escape(literal)
    for text in rest[1::2]:
        pattern += _VALUE + re.escape(text)
    return re.compile(pattern), tuple(rest[0::2])


PARTIAL = Advice(
    "allow gaps where the evaluation is made, Evaluation(…, partial=True) or pb.evaluate(…, partial=True): "
    "the others are scored with their coverage",
    "add --partial: the others are scored with their coverage",
)
DROP_IDENTICAL = Advice(
    'pass duplicates="drop_identical" if repeats are equal',
    "evaluate with --duplicates drop_identical if repeats are equal",
)
TEST_ONLY = Advice(
    "pb.fetch_test(task={task}, dataset={dataset})",
    "primabench fetch --test-only --task {task} --dataset {dataset}",
)
LEAVE_OUT = Advice("Leave {column} out.", "Leave it out: --ignore {column}")
LEAVE_ALL_OUT = Advice(
    "give ids and the fields of the contract alone",
    "--ignore '*' leaves out every column that is neither ids nor a field",
)
METRICS = Advice("pass metrics={names}", "add --metrics {names}")
IDS_COLUMN = Advice(
    "Name the column that holds them: --map ids=COLUMN (in Python make it the index of a pandas DataFrame: "
    "pb.evaluate(task, frame.set_index('COLUMN')))",
    "Name the column that holds them: --map ids=COLUMN",
)
EVERY = (PARTIAL, DROP_IDENTICAL, TEST_ONLY, LEAVE_OUT, LEAVE_ALL_OUT, METRICS, IDS_COLUMN)


def for_command(text: str) -> str:
    """A message of an error as the command line words it.

    Example:
        >>> for_command("Next: pb.fetch_test(task='clustering', dataset='a/b@1.0.0')")
        'Next: primabench fetch --test-only --task clustering --dataset a/b@1.0.0'
    """
    for advice in EVERY:
        text = advice.translated(text)
    return text
