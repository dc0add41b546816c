"""Jobs over guest data: options, plan, pipeline, writers, verification."""
