r"""Submissions: one file with the embeddings of all data sets.

Example:
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "mine.csv"
    >>> _ = file.write_text("dataset_id,sample_id,e0,e1\nd001,s1,0.5,1\nd001,s2,0.25,\n")
    >>> found = read_submission(file)
    >>> cover(found, {"d001": ["s1", "s2"]}, {"t": Asked("d001", ("s1",))}).tasks["t"].status
    'scored'
"""

from primabench_task_patient.submission.coverage import Asked, Coverage, TaskCoverage, cover
from primabench_task_patient.submission.faults import SubmissionError, Warned
from primabench_task_patient.submission.reader import Submission, read_submission
from primabench_task_patient.submission.table import LIMITS, Limits

__all__ = [
    "LIMITS",
    "Asked",
    "Coverage",
    "Limits",
    "Submission",
    "SubmissionError",
    "TaskCoverage",
    "Warned",
    "cover",
    "read_submission",
]
