"""Functions that the specs name."""

from __future__ import annotations


def recall(state: object, average: str, positive: int | str) -> float:
    return 0.5


def prepare(data: object) -> object:
    return data


def build(context: object) -> list[object]:
    return []


def zero(train: object, test: object, seed: int = 0) -> object:
    return 0


def sample_function(x: int) -> int:
    return x + 1


def command(arguments: list[str]) -> int:
    return len(arguments)


def export(result: object, path: object) -> None:
    print(result, path)
