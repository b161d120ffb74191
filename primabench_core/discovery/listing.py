"""What is installed, as tuples of names. Only usable names are listed; ``primabench doctor`` shows the rest."""

from __future__ import annotations

from primabench_core.discovery import names
from primabench_core.errors import PrimaBenchError


def list_tasks() -> tuple[str, ...]:
    """Names of all installed tasks, sorted; no plugin code runs.

    Raises:
        PluginError: a plugin is broken and ``PRIMABENCH_STRICT=1`` is set (which loads them all).

    Example:
        >>> isinstance(list_tasks(), tuple)
        True
    """
    return _names("task")


def list_datasets(task: str | None = None) -> tuple[str, ...]:
    """Keys ``publication/slug@version`` of datasets, sorted; no plugin code runs.

    Args:
        task: Only datasets that are prepared for this task.

    Raises:
        UnknownNameError: there is no such task.
        PluginError: the task is broken or in conflict; or any plugin is, with ``PRIMABENCH_STRICT=1``.

    Example:
        >>> list_datasets(task="cell_type_annotation")  # doctest: +SKIP
        ('primabench_synthetic/cells@1.0.0', 'wolf_2018_genome_biology/pbmc68k_reduced@1.0.0')
    """
    return _names("dataset") if task is None else _of_task("preparer", task)


def list_baselines(task: str | None = None) -> tuple[str, ...]:
    """Names of baselines, sorted: ``task|name``, or the bare names of one task; no plugin code runs.

    Args:
        task: Only baselines of this task.

    Raises:
        UnknownNameError: there is no such task.
        PluginError: as :func:`list_datasets`.

    Example:
        >>> list_baselines(task="cell_type_annotation")  # doctest: +SKIP
        ('knn', 'logistic', 'majority', 'perfect', 'random')
    """
    return _names("baseline") if task is None else _of_task("baseline", task)


def list_metrics(task: str | None = None) -> tuple[str, ...]:
    """Names of metrics, sorted; or the panel of one task in its own order.

    Args:
        task: Only the metrics of this task's panel. This loads the spec of the task and of its metrics. Parameters
            that no canonical name stands for are written out: ``recall{positive: T cell}``. A metric of the panel
            that cannot be loaded is listed as the task spells it.

    Raises:
        UnknownNameError: there is no such task.
        PluginError: the task is broken or in conflict; or any plugin is, with ``PRIMABENCH_STRICT=1``.

    Example:
        >>> list_metrics(task="cell_type_annotation")  # doctest: +SKIP
        ('accuracy', 'balanced_accuracy', 'macro_f1', 'mcc')
    """
    if task is None:
        return _names("metric")
    from primabench_core.discovery import registry
    from primabench_core.discovery.metric_text import write
    from primabench_core.discovery.metrics import resolve_metric

    panel = []
    for use in registry.load("task", task).metrics:
        try:
            panel.append(resolve_metric(use.name, use.params).text)
        except PrimaBenchError:  # evaluating it fails loud; a list of names must not
            panel.append(write(use.name, use.params))
    return tuple(panel)


def list_benchmarks() -> tuple[str, ...]:
    """Names of all installed benchmarks, sorted; no plugin code runs.

    Raises:
        PluginError: a plugin is broken and ``PRIMABENCH_STRICT=1`` is set.

    Example:
        >>> isinstance(list_benchmarks(), tuple)
        True
    """
    return _names("benchmark")


def refuse_unsound() -> None:
    """With ``PRIMABENCH_STRICT=1``, load every plugin and raise if one is broken; otherwise do nothing.

    Raises:
        PluginError: naming all that are broken, incompatible or in conflict.
    """
    if names.is_strict():
        from primabench_core.discovery import registry

        registry.enforce_strict()


def _names(kind: str) -> tuple[str, ...]:
    refuse_unsound()
    return names.names(kind)


def _of_task(kind: str, task: str) -> tuple[str, ...]:
    """What follows ``task|`` in the names of this kind."""
    refuse_unsound()
    name = str(task).rpartition(":")[2]
    if ":" in str(task) or name not in names.names("task"):
        from primabench_core.discovery import registry

        registry.record_of("task", task)  # says what is wrong with it
    prefix = f"{name}|"
    return tuple(found.removeprefix(prefix) for found in names.names(kind) if found.startswith(prefix))
