"""A trained ECLARE to look at parts in their surroundings, and its thread rule."""

from tests.systems.eclare.conftest import _one_thread, clustered, saved

__all__ = ["_one_thread", "clustered", "saved"]
