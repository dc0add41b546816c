"""One opened image: where its bytes come from, what it holds, and what a guest would read."""
