"""What a curator looks at before trusting the source; run as a module with a task, then ``NAME=FILE``."""

import sys

from primabench_recipes.curation.exploring import main
from primabench_recipes.dalla_torre_2025_nature_methods.nucleotide_transformer_revised.card import AUDIT, RECIPES

if __name__ == "__main__":
    main(getattr(RECIPES, sys.argv.pop(1)), AUDIT)
