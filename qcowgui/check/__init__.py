"""Judgements over a whole image: who owns each cluster, what contradicts the format."""
