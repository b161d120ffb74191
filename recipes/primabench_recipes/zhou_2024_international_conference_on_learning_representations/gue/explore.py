"""What a curator looks at before trusting the source; run as a module with a data set, then ``NAME=FILE``."""

import sys

from primabench_recipes.curation.exploring import main
from primabench_recipes.zhou_2024_international_conference_on_learning_representations.gue.card import AUDIT, RECIPES

if __name__ == "__main__":
    main(getattr(RECIPES, sys.argv.pop(1)), AUDIT)
