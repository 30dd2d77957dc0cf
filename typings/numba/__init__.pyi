"""The few names of numba that longtail uses: the package ships no types of its own."""

from collections.abc import Callable
from typing import Any, TypeVar, overload

_F = TypeVar("_F", bound=Callable[..., Any])

__version__: str

@overload
def njit(function: _F, /) -> _F: ...
@overload
def njit(*args: Any, **options: Any) -> Callable[[_F], _F]: ...
