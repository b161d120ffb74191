"""How the task sees a dataset: loaded when a dataset is prepared."""
