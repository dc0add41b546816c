"""How far a session is with opening and reading an image."""

from __future__ import annotations

from enum import Enum, auto


class SessionState(Enum):
    """How far an image is."""

    LOADING = auto()
    READY = auto()
    FAILED = auto()


class MappingState(Enum):
    """Whether the mapping tables were read."""

    UNREAD = auto()
    """Not: the header allows no mapping, or the reading was cancelled."""
    READING = auto()
    READ = auto()
    FAILED = auto()
