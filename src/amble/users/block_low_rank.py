"""Block low-rank matrices: square, cut into blocks, of which those off the diagonal have a few columns in common.

Where entries change smoothly away from the diagonal, as in inverses of what depends on the distance, blocks have a few
dozen singular values that are more than rounding, and a dozen that matter in single precision. With V(I) and W(I) bases
of the rows and of the columns of block I, the block from I to J is V(I) S(I, J) W(J)'; only blocks on the diagonal are
kept as they are. A product with 1000 ranks takes a quarter of the multiplications, or a ninth.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from amble.arrays import NDArray

__all__ = ["BlockLowRank"]

_SAMPLE, _SPARE = 48, 8  # random combinations in which a basis is sought at first, and those that must be left over


class BlockLowRank:
    """A square matrix, from whose right side rows in blocks are multiplied.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
    size : int
        The rows and columns of a block; the last may be smaller.
    accuracy : float
        Singular values of blocks that are smaller than so much of the largest are left out.
    dtype
        The precision of products.

    Examples
    --------
    >>> k = np.arange(100.0)
    >>> matrix = 1.0 / (np.abs(k[:, None] - k) + 1.0)
    >>> blocks, rows = BlockLowRank(matrix, 20, 1e-15, np.float64), np.ones((3, 100))
    >>> bool(np.abs(blocks.joined(blocks.product(blocks.split(rows))) - rows @ matrix).max() < 1e-13)
    True
    """

    def __init__(self, matrix: NDArray[np.float64], size: int, accuracy: float, dtype: Any) -> None:
        n = matrix.shape[0]
        self.n, self.size, self.blocks, self.dtype = n, size, -(-n // size), np.dtype(dtype)
        padded = self.blocks * size
        whole = np.zeros((padded, padded))
        whole[:n, :n] = matrix
        tiles = whole.reshape(self.blocks, size, self.blocks, size)
        each = np.arange(self.blocks)
        near = tiles[each, :, each, :]
        tiles[each, :, each, :] = 0.0
        left, right = self._basis(whole, accuracy), self._basis(whole.T, accuracy)
        rows, columns = self.blocks * left.shape[2], self.blocks * right.shape[2]
        half = (left.transpose(0, 2, 1) @ whole.reshape(self.blocks, size, padded)).reshape(rows, self.blocks, size)
        between = (half.transpose(1, 0, 2) @ right).transpose(1, 0, 2).reshape(rows, columns)
        self._left, self._between = left.astype(dtype), between.astype(dtype)
        self._right = np.concatenate((near, right.transpose(0, 2, 1)), axis=1).astype(dtype)

    def _basis(self, whole: NDArray[np.float64], accuracy: float) -> NDArray[np.float64]:
        """Orthonormal columns that span those of each block of rows, found in random combinations of them."""
        width = _SAMPLE
        while True:
            sample = whole @ np.random.default_rng(0).standard_normal((whole.shape[0], width))
            u, s, _ = np.linalg.svd(sample.reshape(self.blocks, self.size, width), full_matrices=False)
            k = int((s > accuracy * s.max()).sum(axis=1).max())
            if k <= width - _SPARE or width >= self.size:
                return np.asarray(u[:, :, :k])
            width *= 2

    def split(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Rows in blocks, of shape (blocks, rows, size)."""
        padded = np.zeros((rows.shape[0], self.blocks * self.size), self.dtype)
        padded[:, : self.n] = rows
        return np.ascontiguousarray(padded.reshape(-1, self.blocks, self.size).transpose(1, 0, 2))

    def joined(self, blocks: NDArray[Any]) -> NDArray[Any]:
        """The rows of blocks."""
        return blocks.transpose(1, 0, 2).reshape(blocks.shape[1], -1)[:, : self.n]

    def product(self, blocks: NDArray[Any]) -> NDArray[Any]:
        """The rows, times the matrix."""
        lists, both = blocks.shape[1], self._right.shape[1]
        parts = np.empty((self.blocks, lists, both), self.dtype)
        parts[:, :, : self.size] = blocks
        coarse = (blocks @ self._left).transpose(1, 0, 2).reshape(lists, self._between.shape[0]) @ self._between
        parts[:, :, self.size :] = coarse.reshape(lists, self.blocks, both - self.size).transpose(1, 0, 2)
        return np.asarray(parts @ self._right)
