"""The few names of numba that longtail uses: the package ships no types of its own."""

from collections.abc import Callable
from typing import Any, TypeVar, overload

_F = TypeVar("_F", bound=Callable[..., Any])

__version__: str

@overload
def njit(function: _F, /) -> _F: ...
@overload
def njit(*args: Any, **options: Any) -> Callable[[_F], _F]: ...

prange: type[range]

def set_num_threads(n: int) -> None: ...
def get_num_threads() -> int: ...
def get_thread_id() -> int: ...
def threading_layer() -> str: ...

class _Config:
    NUMBA_NUM_THREADS: int
    THREADING_LAYER: str

config: _Config
