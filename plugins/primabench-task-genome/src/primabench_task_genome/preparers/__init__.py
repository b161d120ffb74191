"""How the tasks see a dataset: loaded when a dataset is prepared."""
