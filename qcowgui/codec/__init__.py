"""One cluster in, one cluster out: the compression types of qcow2, every call bounded."""
