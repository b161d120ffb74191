"""Every check there is, by the kind of its subject and in the order of a report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from primabench_core.testing import (
    baseline_checks,
    dataset_checks,
    metric_laws,
    metric_values,
    metric_weights,
    plugin_checks,
    preparer_checks,
    task_checks,
)

Check = Callable[[Any], None]
"""``check_<name>(subject)``: returns, or raises ``CheckFailure`` or ``NotApplicable``; its docstring says the rule."""

CHECKS: Mapping[str, tuple[Check, ...]] = {
    "plugin": (
        plugin_checks.check_entry_points_resolve,
        plugin_checks.check_specs_are_light,
        plugin_checks.check_api_version,
        plugin_checks.check_specs_pickle,
        plugin_checks.check_requires_core,
    ),
    "metric": (
        metric_values.check_runs,
        metric_values.check_finite_and_in_range,
        metric_values.check_perfect_prediction_reaches_the_optimum,
        metric_values.check_undefined_has_a_reason,
        metric_values.check_truth_stays_private,
        metric_laws.check_repeats,
        metric_laws.check_one_shot_is_every_partition,
        metric_laws.check_empty_shards,
        metric_laws.check_merge_laws,
        metric_laws.check_order_free,
        metric_laws.check_column_order_free,
        metric_laws.check_relabelling,
        metric_laws.check_leaves_its_input_alone,
        metric_weights.check_weights_are_repeated_rows,
    ),
    "task": (
        task_checks.check_panel_resolves,
        task_checks.check_default_dataset_known,
        task_checks.check_synthetic_dataset_builds,
        task_checks.check_valid_prediction_scores,
        task_checks.check_refuses_missing_field,
        task_checks.check_refuses_extra_field,
        task_checks.check_refuses_nan,
        task_checks.check_refuses_infinity,
        task_checks.check_refuses_wrong_type,
        task_checks.check_refuses_wrong_rows,
        task_checks.check_refuses_out_of_range,
        task_checks.check_refuses_unknown_id,
        task_checks.check_refuses_duplicated_id,
        task_checks.check_refuses_missing_id,
    ),
    "dataset": (
        dataset_checks.check_versioned_key,
        dataset_checks.check_says_where_from,
        dataset_checks.check_builds_to_pinned_hash,
        dataset_checks.check_units_are_those_of_the_data,
    ),
    "preparer": (
        preparer_checks.check_ids_disjoint,
        preparer_checks.check_test_answers_missing,
        preparer_checks.check_solution_unreachable,
        preparer_checks.check_lazy_open_reads_no_chunk,
    ),
    "baseline": (
        baseline_checks.check_runs_on_synthetic_data,
        baseline_checks.check_repeats_with_its_seed,
        baseline_checks.check_fits_the_contract,
        baseline_checks.check_oracle_reaches_the_optimum,
    ),
    "recipe": (
        dataset_checks.check_rebuilds_to_the_same_hash,
        dataset_checks.check_no_timestamps,
    ),
}


def name_of(check: Check) -> str:
    """``order_free`` of ``check_order_free``."""
    return check.__name__.removeprefix("check_")
