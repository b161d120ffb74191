"""Xiong et al. Journal of Medicinal Chemistry 63, 8749 (2020)."""
