"""What a curator looks at before trusting the source; run as a module with a data set, then ``NAME=FILE``."""

import sys

from primabench_recipes.curation.exploring import main
from primabench_recipes.umarov_2017_plos_one.promoters.card import AUDIT, RECIPES

if __name__ == "__main__":
    main(getattr(RECIPES, sys.argv.pop(1)), AUDIT)
