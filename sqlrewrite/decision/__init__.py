"""What is decided of one statement: its pairs judged, their predicates placed and checked."""
