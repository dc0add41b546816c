"""The codec engine: how work runs on several threads, is counted, cancelled and reported."""
