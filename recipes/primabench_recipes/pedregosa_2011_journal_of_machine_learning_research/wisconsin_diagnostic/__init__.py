"""569 fine-needle aspirates out of the file inside scikit-learn."""
