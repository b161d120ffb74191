"""Gene regulation in mouse embryonic stem cells: expression (Semrau 2017) and a network from ChIP and knock-downs."""
