"""What is to be stored: facts, the pairs that are a case of them, and the Gaussian pairs of the paper."""

import math
from dataclasses import dataclass

import numpy as np
import torch

from assocmem.checks import require, require_instance, require_integer
from assocmem.machine import memory_shortage

CHECKED_COLUMNS = 4096
"""Columns that are checked for finite entries at a time, so that the check takes no memory to speak of."""

WHOLE = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
"""Types in which answers may be given."""

WIDEST_WEIGHTS = 1e100
"""Largest weight over the smallest up to which products of weights neither overflow nor vanish."""

MEAN_OF_ONE = 1e-15
"""Deviation from one up to which the mean of weights is one: what divisions by it leave. Weights that have it
are kept to the last digit, so that a problem stays the same problem however often it is copied."""


@dataclass(frozen=True)
class Pairs:
    """Targets and keys to be associated, each key with a target of its own.

    Attributes
    ----------
    U, V : Tensor, shape (d, n)
        Column i of ``U`` is the target u_i, column i of ``V`` the key v_i; float64 or float32, in any order
        of memory, and zero vectors among them. Kept as they are and not copied, but that gradients are not
        followed, and that half precision and other short types become float32, which holds them exactly.

    Raises
    ------
    ValueError
        If the two are not floating-point matrices of one shape, dtype and device with finite entries, at
        least one row and at least two columns.
    """

    U: torch.Tensor
    V: torch.Tensor

    def __post_init__(self) -> None:
        """Check the tensors; the errors are those of the class."""
        for name, X in (("U", self.U), ("V", self.V)):
            ok = is_dense(X) and X.ndim == 2 and X.is_floating_point()
            require(ok, name, describe(X), "a floating-point tensor of shape (d, n), dense, on cpu or cuda")
            object.__setattr__(self, name, plain(X))
        same = (
            self.U.shape == self.V.shape and self.U.dtype == self.V.dtype and self.U.device == self.V.device
        )
        require(same, "V", describe(self.V), f"like U, {describe(self.U)}")
        require(self.n >= 2, "U", describe(self.U), "at least two columns (n >= 2)")
        require(self.d >= 1, "U", describe(self.U), "at least one row (d >= 1)")
        _require_finite(U=self.U, V=self.V)

    @property
    def d(self) -> int:
        """Dimension of the vectors."""
        return self.U.shape[0]

    @property
    def n(self) -> int:
        """Number of pairs."""
        return self.U.shape[1]

    @property
    def d_out(self) -> int:
        """Dimension of the targets, so rows of a memory."""
        return self.d

    @property
    def d_in(self) -> int:
        """Dimension of the keys, so columns of a memory."""
        return self.d

    @property
    def entries(self) -> int:
        """Number of entries of a memory."""
        return self.d**2

    @property
    def m(self) -> int:
        """Number of targets."""
        return self.n

    @property
    def answers(self) -> torch.Tensor:
        """The target of each key, by its number, shape (n,)."""
        return torch.arange(self.n, device=self.U.device)

    @property
    def weights(self) -> None:
        """None: all pairs count alike."""
        return None

    def answered(self, keys: slice | torch.Tensor = slice(None)) -> torch.Tensor:
        """Targets of some keys, by default of all.

        Parameters
        ----------
        keys : slice or Tensor of integers

        Returns
        -------
        Tensor, shape (d, b)
        """
        return self.U[:, keys]

    def with_vectors(self, U: torch.Tensor, V: torch.Tensor) -> "Pairs":
        """The same associations of other vectors.

        Parameters
        ----------
        U, V : Tensor
            Targets and keys, as many as there are.

        Returns
        -------
        Pairs
        """
        return Pairs(U, V)

    def unweighted(self) -> "Pairs":
        """The same pairs, all of which count alike in any case.

        Returns
        -------
        Pairs
        """
        return self


@dataclass(frozen=True)
class Facts:
    """Keys that each have one of a list of targets for an answer.

    Several keys may have the same answer, targets may be nobody's answer, and targets and keys may have
    dimensions of their own. `Pairs` are the case of one key for each target.

    Keys may have weights, such as how often each fact is asked. A key of weight 2 then counts like two equal
    keys: the mean of losses becomes ``(1/n) sum p_i loss_i``. Weights are read by everything that takes a
    mean of losses: the passes and Hessians of `assocmem.training.passes` and `assocmem.training.list_loss`,
    the fits with their gaps, metrics and checkpoints, and `assocmem.training.gradient_writes`. Nothing else
    reads them, since it does not depend on them: scores, margins, ranks and percentiles are those of single
    keys, whether some memory retrieves all facts is the same question at any weights, and the memories of
    `assocmem.memories` are written with each key once. Removals are of `Pairs`, which have no weights.

    Attributes
    ----------
    targets : Tensor, shape (d_out, m)
        Column j is the target u_j. NumPy arrays are taken as well, here and for the keys; otherwise vectors
        are treated like those of `Pairs`, and where one of the two has float64 and the other has not, both
        have it afterwards.
    keys : Tensor, shape (d_in, n)
        Column i is the key v_i.
    answers : Tensor, shape (n,)
        Numbers of targets, from 0 to ``m - 1``; the target of key i is column ``answers[i]``. By default
        0, 1, ..., n - 1.
    weights : Tensor, shape (n,), or None
        How much each key counts, of float64 and with mean one. Any positive finite numbers may be given, one
        for each key and within a factor of 1e100 of each other; they are divided by their mean. By default
        None: all keys count alike, and nothing is multiplied by ones.

    Raises
    ------
    ValueError
        If the vectors are not floating-point matrices on one device with finite entries, if there are fewer
        than two targets or no key, if the answers are not one number of a target for each key, or if the
        weights are not one positive number for each key.
    """

    targets: torch.Tensor
    keys: torch.Tensor
    answers: torch.Tensor | None = None
    weights: torch.Tensor | None = None

    def __post_init__(self) -> None:
        """Check the tensors; the errors are those of the class."""
        for name, sizes in (("targets", "(d_out, m)"), ("keys", "(d_in, n)")):
            X = _from_array(getattr(self, name))
            ok = is_dense(X) and X.ndim == 2 and X.is_floating_point()
            require(ok, name, describe(X), f"a floating-point tensor of shape {sizes}, dense, on cpu or cuda")
            object.__setattr__(self, name, plain(X))
        if self.targets.dtype != self.keys.dtype:
            object.__setattr__(self, "targets", self.targets.double())
            object.__setattr__(self, "keys", self.keys.double())
        same = self.targets.device == self.keys.device
        require(same, "keys", describe(self.keys), f"on the device of the targets, {self.targets.device}")
        require(self.m >= 2, "targets", describe(self.targets), "at least two columns (m >= 2)")
        require(self.n >= 1, "keys", describe(self.keys), "at least one column (n >= 1)")
        for name, X in (("targets", self.targets), ("keys", self.keys)):
            require(len(X) >= 1, name, describe(X), "at least one row")
        _require_finite(targets=self.targets, keys=self.keys)
        object.__setattr__(self, "answers", self._checked_answers())
        if self.weights is not None:
            object.__setattr__(self, "weights", self._checked_weights())

    def _checked_answers(self) -> torch.Tensor:
        """The answers as a tensor of long integers beside the targets."""
        if self.answers is None:
            enough = self.n <= self.m
            require(enough, "answers", None, f"given, since {self.n} keys have {self.m} targets between them")
            return torch.arange(self.n, device=self.targets.device)
        try:
            answers = torch.as_tensor(self.answers)
        except (TypeError, ValueError, RuntimeError):
            require(False, "answers", type(self.answers).__name__, f"{self.n} integers")
        whole = is_dense(answers) and answers.dtype in WHOLE and answers.shape == (self.n,)
        require(whole, "answers", describe(answers), f"one integer for each of {self.n} keys")
        answers = answers.detach().as_subclass(torch.Tensor).to(self.targets.device, torch.int64)
        outside = ((answers < 0) | (answers >= self.m)).nonzero()
        if len(outside):
            key = int(outside[0])
            require(False, f"answers[{key}]", int(answers[key]), f"from 0 to m - 1 = {self.m - 1}")
        return answers.clone()

    def _checked_weights(self) -> torch.Tensor:
        """The weights over their mean, in float64 beside the targets.

        The sum is exact and every division rounded by itself, so that no device and no number of threads
        makes another problem of the same weights.
        """
        weights = self.weights
        if not isinstance(weights, torch.Tensor):  # which would make numbers of Python short ones
            try:
                weights = np.asarray(weights)
            except (TypeError, ValueError, RuntimeError):
                weights = np.asarray(None)
            numbers = weights.dtype.kind in "fiu"
            require(numbers, "weights", describe(self.weights), f"{self.n} positive numbers")
            weights = torch.from_numpy(weights.astype(np.float64))
        known = is_dense(weights) and (weights.is_floating_point() or weights.dtype in WHOLE)
        known = known and weights.shape == (self.n,)
        require(known, "weights", describe(weights), f"one positive number for each of {self.n} keys")
        weights = weights.detach().as_subclass(torch.Tensor).resolve_neg().to("cpu", torch.float64)
        wrong = (~(torch.isfinite(weights) & (weights > 0))).nonzero()
        if len(wrong):
            key = int(wrong[0])
            require(False, f"weights[{key}]", float(weights[key]), "positive and finite")
        low, high = float(weights.min()), float(weights.max())
        near = low >= high / WIDEST_WEIGHTS
        allowed = f"within a factor of {WIDEST_WEIGHTS:g} of each other"
        require(near, "weights", f"from {low:g} to {high:g}", allowed)
        scaled = torch.ldexp(weights, torch.tensor(-math.frexp(high)[1]))  # else a sum may overflow
        mean = math.fsum(scaled.tolist()) / self.n
        if high <= self.n and abs(math.ldexp(mean, math.frexp(high)[1]) - 1) <= MEAN_OF_ONE:
            scaled, mean = weights.clone(), 1.0
        return (scaled / mean).to(self.targets.device)

    @property
    def U(self) -> torch.Tensor:
        """The targets, shape (d_out, m)."""
        return self.targets

    @property
    def V(self) -> torch.Tensor:
        """The keys, shape (d_in, n)."""
        return self.keys

    @property
    def d_out(self) -> int:
        """Dimension of the targets, so rows of a memory."""
        return self.targets.shape[0]

    @property
    def d_in(self) -> int:
        """Dimension of the keys, so columns of a memory."""
        return self.keys.shape[0]

    @property
    def entries(self) -> int:
        """Number of entries of a memory."""
        return self.d_out * self.d_in

    @property
    def m(self) -> int:
        """Number of targets."""
        return self.targets.shape[1]

    @property
    def n(self) -> int:
        """Number of keys, so of facts."""
        return self.keys.shape[1]

    def answered(self, keys: slice | torch.Tensor = slice(None)) -> torch.Tensor:
        """Targets of some keys, by default of all.

        Parameters
        ----------
        keys : slice or Tensor of integers

        Returns
        -------
        Tensor, shape (d_out, b)
        """
        return self.targets[:, self.answers[keys]]

    def with_vectors(self, U: torch.Tensor, V: torch.Tensor) -> "Facts":
        """The same associations of other vectors.

        Parameters
        ----------
        U, V : Tensor
            Targets and keys, as many as there are.

        Returns
        -------
        Facts
        """
        return Facts(U, V, self.answers, self.weights)

    def chosen(self, which: slice | torch.Tensor) -> "Facts":
        """Some of the facts, with all the targets.

        Parameters
        ----------
        which : slice or Tensor of integers or flags

        Returns
        -------
        Facts
            With the weights of these facts, whose mean is one again.
        """
        weights = None if self.weights is None else self.weights[which]
        return Facts(self.targets, self.keys[:, which], self.answers[which], weights)

    def unweighted(self) -> "Facts":
        """The same facts, all of which count alike.

        Returns
        -------
        Facts
        """
        return self if self.weights is None else Facts(self.targets, self.keys, self.answers)


def _from_array(X: object) -> object:
    """A tensor with the numbers of an array of NumPy; anything else as it is."""
    if not isinstance(X, np.ndarray) or X.dtype.kind != "f" or X.dtype.itemsize > 8:
        return X
    return torch.from_numpy(np.array(X, dtype=X.dtype.newbyteorder("="), order="K"))


def _require_finite(**vectors: torch.Tensor) -> None:
    """Check vectors for inf and nan, and name the first column that has one."""
    for name, X in vectors.items():
        for columns in range(0, X.shape[1], CHECKED_COLUMNS):
            bad = ~torch.isfinite(X[:, columns : columns + CHECKED_COLUMNS]).all(dim=0)
            if bool(bad.any()):
                column = columns + int(bad.nonzero()[0])
                require(False, name, f"a tensor with inf or nan in column {column}", "finite")


def gaussian_pairs(
    n: int,
    d: int,
    *,
    seed: int,
    dtype: torch.dtype = torch.float64,
    device: str | torch.device = "cpu",
) -> Pairs:
    """Draw the pairs of the paper, independent N(0, I_d / d) vectors (eq. ``gaussian_model``).

    The draw happens on the CPU in float64 whatever the device and dtype, so that every device sees the same
    data up to one rounding. The first pairs of a larger draw are the pairs of a smaller one.

    Parameters
    ----------
    n : int
        Number of pairs, at least 2.
    d : int
        Dimension, at least 1.
    seed : int
        Nonnegative.
    dtype : torch.dtype
        ``torch.float64`` or ``torch.float32``.
    device : str or torch.device
        Where the pairs are put.

    Returns
    -------
    Pairs
        ``U`` and ``V`` of shape (d, n).

    Raises
    ------
    ValueError
        Naming the argument, or the memory that is missing.
    """
    require_integer("n", n, 2)
    require_integer("d", d, 1)
    require_integer("seed", seed, 0)
    known = any(dtype is kind for kind in (torch.float64, torch.float32))
    require(known, "dtype", dtype, "torch.float64 or torch.float32")
    require_device(device)
    n, d, seed = int(n), int(d), int(seed)  # short integers of NumPy overflow in products
    shortage = memory_shortage(lambda m: 8 * d * (2 * m + (m if dtype == torch.float32 else 0)), n)
    if shortage:
        raise ValueError(shortage)
    streams = np.random.SeedSequence(seed).spawn(2)
    U, V = (_gaussian_columns(n, d, stream).to(device=device, dtype=dtype) for stream in streams)
    return Pairs(U, V)


def derived_seed(seed: int, *indices: int) -> int:
    """A seed for one of many independent draws, from a base seed and the indices of the draw.

    Parameters
    ----------
    seed : int
        The base seed, nonnegative.
    *indices : int
        What tells this draw from the others, nonnegative.

    Returns
    -------
    int
        Nonnegative and below 2^64.

    Raises
    ------
    ValueError
        For a seed or an index that is no nonnegative integer.
    """
    require_integer("seed", seed, 0)
    for index in indices:
        require_integer("indices", index, 0)
    return int(np.random.SeedSequence(seed, spawn_key=indices).generate_state(1, np.uint64)[0])


def _gaussian_columns(n, d, stream):
    """Independent N(0, I_d / d) vectors as the columns of a tensor of shape (d, n)."""
    rows = np.random.default_rng(stream).standard_normal((n, d))
    rows /= math.sqrt(d)
    return torch.from_numpy(rows).T


def require_device(device: str | torch.device) -> None:
    """Check that torch can use a device.

    Parameters
    ----------
    device : str or torch.device

    Raises
    ------
    ValueError
        For a name torch does not know, or ``cuda`` where there is no GPU.
    """
    try:
        kind = torch.device(device).type if isinstance(device, str | torch.device) else None
    except RuntimeError:
        kind = None
    named = str(device) if isinstance(device, torch.device) else device
    require(kind in ("cpu", "cuda"), "device", named, "cpu or cuda")
    require(
        kind == "cpu" or torch.cuda.is_available(),
        "device",
        str(device),
        "cpu, since no CUDA GPU is available",
    )


def best_device() -> str:
    """``cuda`` where torch has a GPU, else ``cpu``."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def describe(X: object) -> str:
    """Shape, dtype and device of a tensor, for messages.

    Parameters
    ----------
    X : object
        A tensor, or what was passed for one.

    Returns
    -------
    str
        Of an object that is not a tensor, the name of its type.
    """
    if not isinstance(X, torch.Tensor):
        return f"the class {X.__name__}" if isinstance(X, type) else type(X).__name__
    kind = str(X.dtype).removeprefix("torch.")
    if X.is_nested:  # has no shape
        return f"nested {kind} on {X.device}"
    layout = "" if X.layout == torch.strided else str(X.layout).removeprefix("torch.") + " "
    return f"{tuple(X.shape)} {layout}{kind} on {X.device}"


def is_dense(X: object) -> bool:
    """Whether something is a tensor that has all its entries, as one that is sparse or ``meta`` has not."""
    if not isinstance(X, torch.Tensor) or X.is_nested or X.layout != torch.strided:
        return False
    return X.device.type in ("cpu", "cuda")


def plain(X: torch.Tensor) -> torch.Tensor:
    """A tensor that all operations take, of the same numbers; the very one where it is one already.

    Parameters
    ----------
    X : Tensor
        Dense and floating-point. It may require a gradient, be a parameter or another subclass, be of the
        inference mode, stand for the negative of what is stored, or have less than 32 bits a number.

    Returns
    -------
    Tensor
        Of float64 or float32.

    Raises
    ------
    ValueError
        For what is no such tensor.
    """
    require(is_dense(X) and X.is_floating_point(), "X", describe(X), "a floating-point tensor")
    if type(X) is not torch.Tensor:
        X = X.detach().as_subclass(torch.Tensor)
    if X.requires_grad:
        X = X.detach()
    if X.is_inference() and not torch.is_inference_mode_enabled():
        X = X.clone()
    return (X.float() if X.itemsize < 4 else X).resolve_neg()


def require_pairs(pairs: object) -> None:
    """Check that an argument is an instance of `Pairs`, where facts of other kinds will not do."""
    require_instance("pairs", pairs, Pairs)


def require_facts(pairs: object) -> None:
    """Check that an argument is an instance of `Pairs` or of `Facts`."""
    require_instance("pairs", pairs, (Pairs, Facts))


def times_weights(
    pairs: Pairs | Facts, x: torch.Tensor, keys: slice | torch.Tensor = slice(None)
) -> torch.Tensor:
    """Numbers of keys, each multiplied by the weight of its key.

    Parameters
    ----------
    pairs : Pairs or Facts
    x : Tensor, shape (..., b)
        A number, or several, for each of these keys.
    keys : slice or Tensor of integers
        By default all.

    Returns
    -------
    Tensor, shape (..., b)
        Of the type of ``x``; ``x`` itself, and no operation, where there are no weights.
    """
    require_facts(pairs)
    return x if pairs.weights is None else (x * pairs.weights[keys]).to(x.dtype)


def mean_loss(pairs: Pairs | Facts, margins: torch.Tensor) -> float:
    """Mean of the logistic losses ``log(1 + exp(-m_i))`` of margins, by the weights where there are any.

    Parameters
    ----------
    pairs : Pairs or Facts
    margins : Tensor, shape (n,)

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For margins that do not fit the pairs.
    """
    require_facts(pairs)
    require_array("margins", margins, (pairs.n,))
    logs = torch.nn.functional.logsigmoid(margins)  # softplus is off by 2e-9 beyond its threshold
    return float(-(logs if pairs.weights is None else logs * pairs.weights).mean())


def require_array(
    name: str, X: object, shape: tuple[int | None, ...], like: torch.Tensor | None = None
) -> None:
    """Check that an argument is a dense floating-point tensor of a shape.

    Parameters
    ----------
    name : str
        What to call it in a message.
    X : object
        What was passed for it.
    shape : tuple of int or None
        None stands for any size.
    like : Tensor, optional
        One whose dtype and device it has to share.

    Raises
    ------
    ValueError
        Naming the argument, what was passed and what it should be.
    """
    ok = is_dense(X) and X.is_floating_point() and X.ndim == len(shape)
    ok = ok and all(wanted in (None, size) for wanted, size in zip(shape, X.shape, strict=True))
    if not ok:  # messages are made only where they are needed, since fits come here many times a pass
        sizes = ", ".join("any" if size is None else str(size) for size in shape)
        wanted = f"a floating-point tensor of shape ({sizes}{',' * (len(shape) == 1)})"
        require(False, name, describe(X), wanted)
    if like is not None and not (X.dtype == like.dtype and X.device == like.device):
        require(False, name, describe(X), f"of dtype {like.dtype} on {like.device}, like the rest")
