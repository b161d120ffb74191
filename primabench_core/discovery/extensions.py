"""Functions of the facade that a plugin serves through the entry-point group ``primabench.extensions``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from primabench_core.errors import MissingPluginError, UnknownNameError


def load_extension(name: str, distribution: str) -> Callable[..., Any]:
    """The function that a plugin declares under this name.

    Args:
        name: Entry-point name.
        distribution: The distribution that usually brings it, for the install line.

    Raises:
        MissingPluginError: no installed distribution declares it, or it needs a library that is not installed.
        PluginError: it is declared, but broken, disabled or in conflict.
    """
    from primabench_core.discovery import registry

    try:
        function: Callable[..., Any] = registry.load("extension", name)
    except UnknownNameError as error:
        raise MissingPluginError(
            f"primabench_core.{name} comes with the plugin {distribution}, which is not installed.",
            remedy=f"pip install {distribution}",
        ) from error
    return function


def forward(name: str, distribution: str) -> Callable[..., Any]:
    """A function that loads the extension when it is called.

    The facade shows this function, installed or not, so that ``dir()``, ``hasattr``, ``help()`` and ``import *``
    neither fail nor import a plugin; only a call does.

    Args:
        name: Entry-point name.
        distribution: The distribution that usually brings it.

    Example:
        >>> forward("get_sequences", "primabench-task-genome").__name__
        'get_sequences'
    """

    def extension(*args: Any, **kwargs: Any) -> Any:
        return load_extension(name, distribution)(*args, **kwargs)

    extension.__name__ = extension.__qualname__ = name
    extension.__module__ = "primabench_core"
    extension.__doc__ = (
        f"Served by the plugin {distribution}; arguments and result are those of the function it declares.\n\n"
        f"Raises:\n    MissingPluginError: it is not installed; ``pip install {distribution}``."
    )
    return extension
