"""Windows of their own: the conversion form, questions to a person, and help."""
