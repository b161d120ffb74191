"""How the task sees a dataset of perturbed cells: loaded when a dataset is prepared."""
