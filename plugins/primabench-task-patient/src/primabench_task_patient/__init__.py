"""Patients: embeddings of omics samples, scored by a fixed probe.

Light values are in :mod:`primabench_task_patient.specs`; reading submissions is in
:mod:`primabench_task_patient.submission`, scoring them in :mod:`primabench_task_patient.scoring`.
"""
