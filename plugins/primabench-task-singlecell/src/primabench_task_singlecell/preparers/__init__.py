"""How the tasks see a dataset of labelled cells: loaded when a dataset is prepared."""
