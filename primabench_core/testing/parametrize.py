"""The checks as pytest parameters; pytest is imported when a test module asks for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen

from primabench_core.testing.report import CheckFailure, NotApplicable
from primabench_core.testing.runner import BoundCheck, collect


@frozen
class PytestCheck:
    """A check that speaks pytest: it skips where it does not apply, and is an expected failure where that is said."""

    bound: BoundCheck

    @property
    def id(self) -> str:
        """``kind.check:subject``."""
        return self.bound.id

    def __call__(self) -> None:
        """Run it."""
        import pytest

        expected = self.bound.expected
        try:
            self.bound()
        except NotApplicable as reason:
            if expected:
                pytest.fail(f"{self.id} was expected to fail ({expected}), but does not apply: {reason}", pytrace=False)
            pytest.skip(str(reason))
        except CheckFailure as error:
            if expected:
                pytest.xfail(expected)
            pytest.fail(f"{self.id}: {error}", pytrace=False)
        if expected:
            pytest.fail(f"{self.id} was expected to fail ({expected}), but it passed", pytrace=False)

    def __repr__(self) -> str:
        return self.id


def parametrize_with_checks(
    distribution: str, expected_failures: Mapping[str, str] | None = None
) -> Callable[[Any], Any]:
    """A decorator that gives a test one parameter ``check`` for each check of a distribution.

    Args:
        distribution: Name of the installed distribution.
        expected_failures: Check id (``kind.check:subject``) to the written reason why it must fail.

    Raises:
        UnknownNameError: the distribution is not installed, or an expected failure names no check.

    Example:
        >>> @parametrize_with_checks("primabench-metrics")  # doctest: +SKIP
        ... def test_conformance(check):
        ...     check()
    """
    import pytest

    checks = [PytestCheck(bound) for bound in collect(distribution, expected_failures)]
    return pytest.mark.parametrize("check", checks, ids=[check.id for check in checks])
