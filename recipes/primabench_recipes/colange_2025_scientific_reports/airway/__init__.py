"""Eight airway RNA-seq samples out of the file inside InMoose."""
