"""A fuzz driver: mutants of built images through everything that reads an image.

`python -m tests.fuzz --help` says how to run it. A failure is named by SEED:INDEX, which makes the
same mutant again wherever the corpus is the same.
"""
