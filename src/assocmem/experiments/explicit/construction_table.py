"""What the stored table of explicit memories says of one construction: dimensions, and the work of making it.

A row of the table is one instance, searched for the smallest dimension in which the construction retrieves
every pair (`assocmem.experiments.explicit.constructions.smallest_dimension`).
"""

import numpy as np

from assocmem.experiments.frames import DataFrame


def smallest_dimensions(table: DataFrame, n: int, construction: int) -> np.ndarray:
    """Smallest sufficient dimensions of the stored instances, in the order of the table.

    Parameters
    ----------
    table : DataFrame
        Columns ``n``, ``construction`` (its place in `CONSTRUCTIONS`), ``d``, ``products`` and ``steps``.
    n : int
        Number of pairs.
    construction : int
        Place in `CONSTRUCTIONS`.

    Returns
    -------
    ndarray, shape (instances,)
        Empty where there are none.
    """
    return _of(table, n, construction, "d")


def median_products(table: DataFrame, n: int, construction: int) -> float:
    """Median number of products of size ``n x d x n`` that making the memory takes.

    A step of conjugate gradients counts as two products of size ``n x d x d``, so as ``2 d / n`` of them.

    Parameters
    ----------
    table, n, construction
        As in `smallest_dimensions`.

    Returns
    -------
    float
    """
    products, steps, d = (_of(table, n, construction, name) for name in ("products", "steps", "d"))
    return float(np.median(products + 2 * steps * d / n))


def _of(table, n, construction, name):
    rows = (table["n"] == n) & (table["construction"] == construction)
    return table.loc[rows, name].to_numpy()
