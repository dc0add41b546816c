"""One cluster in, one cluster out: deflate and zstd, chosen by the image's compression type."""
