"""PyTorch's scaled_dot_product_attention with a boolean mask: to be judged, not to be timed."""

import torch
from torch.nn.functional import scaled_dot_product_attention

NAME = "SDPA"
WINDOW = "keys"
TIMED = False
_ROWS_AT_ONCE = 4096  # of a mask: PyTorch makes 2 bytes of each of its elements


def version():
    return f"of PyTorch {torch.__version__}"


def prepare(call):
    call.refuse(two_sided=True, top_left=True)
    q = call.q.transpose(1, 2)
    k, v = (x.transpose(1, 2).repeat_interleave(call.group, 1) for x in (call.k, call.v))
    n_q, n_k = q.shape[2], k.shape[2]

    def run():
        keys = torch.arange(n_k, device=q.device)
        parts = []
        for first in range(0, n_q, _ROWS_AT_ONCE):
            rows = slice(first, min(first + _ROWS_AT_ONCE, n_q))
            at = torch.arange(n_q, device=q.device)[rows, None]
            at = at if call.top_left else at + n_k - n_q
            mask = torch.ones(at.shape[0], n_k, dtype=torch.bool, device=q.device)
            if call.right is not None:
                mask &= keys <= at + call.right
            if call.left is not None:
                mask &= keys >= at - call.left
            parts.append(scaled_dot_product_attention(q[:, :, rows], k, v, mask, scale=call.scale))
        return torch.cat(parts, 2).transpose(1, 2), None

    return run
