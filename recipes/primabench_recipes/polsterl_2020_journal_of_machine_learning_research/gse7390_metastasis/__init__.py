"""198 breast cancers with time to metastasis out of the file inside scikit-survival."""
