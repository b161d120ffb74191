"""What a curator looks at before trusting the source; run as a module with a data set, then ``NAME=FILE``."""

import sys

from primabench_recipes.curation.exploring import main
from primabench_recipes.notin_2023_advances_in_neural_information_processing_systems.proteingym.card import (
    AUDIT,
    RECIPES,
)

if __name__ == "__main__":
    main(getattr(RECIPES, sys.argv.pop(1)), AUDIT)
