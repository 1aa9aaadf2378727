"""Types of arrays: of floats, of whole numbers, of truth values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike as ArrayLike
    from numpy.typing import NDArray as NDArray
else:  # numpy.typing takes a millisecond of every start, to document itself
    ArrayLike, NDArray = Any, np.ndarray

__all__ = ["Array", "ArrayLike", "Bools", "Ints", "NDArray"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
