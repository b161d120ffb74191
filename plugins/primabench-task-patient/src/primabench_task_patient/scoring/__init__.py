"""Scoring of submissions against hidden tasks: the truth, the probe with its interval, the result file, comparisons."""

from primabench_task_patient.scoring.compare import compare
from primabench_task_patient.scoring.inputs import read_inputs
from primabench_task_patient.scoring.registry import Registry, RegistryError, TaskEntry, read_registry
from primabench_task_patient.scoring.result_file import read_result, score_submission, to_json
from primabench_task_patient.scoring.truth import TaskTruth, Truth, read_truth

__all__ = [
    "Registry",
    "RegistryError",
    "TaskEntry",
    "TaskTruth",
    "Truth",
    "compare",
    "read_inputs",
    "read_registry",
    "read_result",
    "read_truth",
    "score_submission",
    "to_json",
]
