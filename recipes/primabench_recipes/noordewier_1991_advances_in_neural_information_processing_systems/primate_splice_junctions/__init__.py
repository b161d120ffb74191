"""3,190 primate splice junctions of the UCI repository."""
