"""Regulatory networks: edges as rows, and metrics of how weights rank them. DOI 10.1038/s41592-019-0690-6 (BEELINE)."""
