"""3,696 cells of the developing mouse pancreas with spliced and unspliced counts."""
