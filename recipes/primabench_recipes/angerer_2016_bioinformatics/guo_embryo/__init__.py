"""428 cells of mouse embryos of 2 to 64 cells, 48 genes by qPCR."""
