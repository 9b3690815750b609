"""FlexAttention of PyTorch, compiled, with a block mask."""

import torch

NAME = "FlexAttention"
WINDOW = "left_right"  # its mask is a function: it gets both sides

_compiled = {}  # of the last problem


def version():
    return f"of PyTorch {torch.__version__}"


def prepare(call):
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    call.refuse(packed=True, two_sided=True, top_left=True)
    n_q, n_k = call.q.shape[1], call.k.shape[1]
    left, right = call.left, call.right

    def near(at, k):
        sees = None
        if left is not None:
            sees = at - k <= left
        if right is not None:
            sees = k - at <= right if sees is None else sees & (k - at <= right)
        return k >= 0 if sees is None else sees

    if call.packed:
        of_q, of_k, shift = _documents(call)

        def mask_mod(b, h, q, k):
            return near(q + shift[q], k) & (of_q[q] == of_k[k])
    else:
        offset = 0 if call.top_left else n_k - n_q

        def mask_mod(b, h, q, k):
            return near(q + offset, k)

    of = (call.q.shape, call.k.shape, call.q.dtype, left, right, call.top_left,
          str(call.lengths_q), str(call.lengths_k))
    if _compiled.get("of") != of:  # compiling takes seconds
        torch._dynamo.reset()
        mask = torch.compile(create_block_mask)(mask_mod, None, None, n_q, n_k, device="cuda")
        _compiled.update(of=of, mask=mask, attention=torch.compile(flex_attention, dynamic=False))
    block_mask, attention = _compiled["mask"], _compiled["attention"]
    q, k, v = (x.transpose(1, 2) for x in (call.q, call.k, call.v))

    def run():
        out, lse = attention(q, k, v, block_mask=block_mask, scale=call.scale,
                             enable_gqa=call.group > 1, return_lse=True)
        return out.transpose(1, 2), None if call.packed else lse

    return run


def _documents(call):
    """Of each token of q and k its sequence; what makes a row of q a position among all keys."""
    device = call.q.device
    of_q, of_k = (torch.repeat_interleave(torch.arange(call.batch), torch.tensor(lengths))
                  for lengths in (call.lengths_q, call.lengths_k))
    last_q = torch.tensor(call.lengths_q).cumsum(0)
    last_k = torch.tensor(call.lengths_k).cumsum(0)
    return of_q.to(device), of_k.to(device), (last_k - last_q)[of_q].to(device)
