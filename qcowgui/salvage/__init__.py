"""Getting guest data back when the header, the L1 table or L2 tables are gone; never in place."""
