"""700 blood cells out of the file inside scanpy."""
