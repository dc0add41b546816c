"""What is told of an image in whole: as JSON objects for programs, as a page for people."""
