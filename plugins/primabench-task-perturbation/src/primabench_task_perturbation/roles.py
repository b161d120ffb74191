"""What the rows of a solution are: cells, and facts about perturbations that were computed once and stored beside them.

Light: specs import it.
"""

from __future__ import annotations

CONTROL = "control"
"""Name of untreated cells, and of the reference of every difference. Never a perturbation that is scored."""
CELL = "cell"
"""A measured cell (or a mean of cells) of its perturbation."""
LOG_FOLD_CHANGE = "log_fold_change"
"""log2 fold change of each gene against control."""
SIGNIFICANCE = "significance"
"""-log10 of the adjusted p-value of each gene, 0 for a gene that was not tested."""
RANK = "rank"
"""Place of each gene in the list of differential genes, from 1; 0 for a gene that is not listed."""
TARGET = "target"
"""1 for the genes that the perturbation is aimed at, else 0."""
MEAN_OF_TRAIN = "mean_of_train"
"""Mean over the training perturbations of their mean profiles; a row of no perturbation."""
ADDITIVE = "additive"
"""Sum of the effects of the parts of a combination, added to control."""

REPLICATE = "replicate"
"""Field of the donor or sample of a row."""
DE_METHOD = "de_method"
"""Coordinate of a solution that names its test of differential expression."""
UNTOLD = "none"
"""Replicate of rows that have none."""

ROLES = (CELL, LOG_FOLD_CHANGE, SIGNIFICANCE, RANK, TARGET, MEAN_OF_TRAIN, ADDITIVE)
