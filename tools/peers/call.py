"""What a kernel is asked for, and how libraries count a window: no library is imported here."""

from dataclasses import dataclass
from typing import Any


class Refused(Exception):
    """A library does not offer what a call asks for; the message says what."""


class NotCalled(Exception):
    """A library may offer it, and the adapter does not call it so."""


def _keys(left, right):
    """Keys that a query sees, itself included; None without a bound."""
    return None if left is None else left + 1


def _left(left, right):
    """Keys before the query; -1 without a bound."""
    return -1 if left is None else left


def _left_right(left, right):
    """Keys on either side of the query; -1 without a bound. Libraries call a global causal layer
    (-1, -1) with causal set."""
    if left is None and right == 0:
        return -1, -1
    return _left(left, right), -1 if right is None else right


# The one place where a mask becomes the form of a library. It comes as keys besides the query's
# own on either side, None without a bound; a causal window of W keys is (W - 1, 0).
WINDOWS = {"keys": _keys, "left": _left, "left_right": _left_right}


def window_as(form: str, left: int | None, right: int | None):
    if form not in WINDOWS:
        raise ValueError(f"WINDOW = '{form}' is none of {', '.join(WINDOWS)}")
    return WINDOWS[form](left, right)


@dataclass
class Call:
    """q [batch, n_q, heads_q, dim], k and v [batch, n_k, heads_kv, dim]; batch is 1 and all tokens
    of the sequences follow one another where they have lengths. Query r of a sequence sits at its
    keys - queries + r, or at r where top_left. `window` is in the adapter's form."""

    q: Any
    k: Any
    v: Any
    left: int | None = None  # keys before the query's own; None: all
    right: int | None = 0  # and after it
    top_left: bool = False
    window: Any = None
    scale: float = 1.0
    softcap: float = 0.0
    sink_logits: Any = None  # float32 [heads_q]
    lengths_q: list[int] | None = None
    lengths_k: list[int] | None = None

    @property
    def causal(self) -> bool:
        return self.right == 0

    @property
    def packed(self) -> bool:
        return self.lengths_q is not None

    @property
    def batch(self) -> int:
        return len(self.lengths_q) if self.packed else self.q.shape[0]

    @property
    def max_q(self) -> int:
        return max(self.lengths_q) if self.packed else self.q.shape[1]

    @property
    def max_k(self) -> int:
        return max(self.lengths_k) if self.packed else self.k.shape[1]

    @property
    def group(self) -> int:
        return self.q.shape[2] // self.k.shape[2]

    def starts(self, of: str):
        """int32 [batch + 1] on the device: where each sequence of q or k begins (cu_seqlens)."""
        import torch

        lengths = self.lengths_q if of == "q" else self.lengths_k
        if lengths is None:
            lengths = [(self.q if of == "q" else self.k).shape[1]] * self.q.shape[0]
        starts = torch.tensor([0, *lengths], dtype=torch.int64).cumsum(0)
        return starts.to(torch.int32).to(self.q.device)

    def flat(self, tensor):
        """[all tokens, heads, dim], the form of variable-length calls; no copy."""
        return tensor.reshape(-1, *tensor.shape[2:])

    def pages(self, size: int):
        """k and v as pages [pages, size, heads_kv, dim] and, int32 on the device, the pages of each
        sequence [batch, pages of a sequence]; what the last one has too much is 0."""
        import torch

        if self.packed:
            raise NotCalled("packed keys are not called from pages here")
        tokens = self.k.shape[1]
        each = -(-tokens // size)
        paged = []
        for x in (self.k, self.v):
            if tokens % size != 0:
                x = torch.nn.functional.pad(x, (0, 0, 0, 0, 0, each * size - tokens))
            paged.append(x.reshape(-1, size, *x.shape[2:]))
        table = torch.arange(self.batch * each, dtype=torch.int32, device=self.k.device)
        return *paged, table.reshape(self.batch, each)

    def refuse(self, **offers: bool) -> None:
        """Raises for what the call has, unless the library offers it: Refused where it does not
        (False), NotCalled where the adapter says nothing."""
        needs = {
            "softcap": self.softcap > 0,
            "sink_logits": self.sink_logits is not None,
            "packed": self.packed,
            "two_sided": self.right != 0,
            "top_left": self.top_left,
        }
        for what, needed in needs.items():
            words = what.replace("_", " ")
            if needed and what not in offers:
                raise NotCalled(f"not called with {words} here")
            if needed and not offers[what]:
                raise Refused(f"has no {words}")
