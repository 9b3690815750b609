"""FlashAttention-2 inside PyTorch."""

import torch

NAME = "FA2 (PyTorch)"
WINDOW = "left_right"


def version():
    return f"of PyTorch {torch.__version__}"


def prepare(call):
    call.refuse(packed=True, two_sided=True, softcap=False, sink_logits=False, top_left=False)
    left, right = call.window
    attention = torch.ops.aten._flash_attention_forward
    if call.packed:
        q, k, v = (call.flat(x) for x in (call.q, call.k, call.v))
        starts_q, starts_k = call.starts("q"), call.starts("k")

        def run():
            out = attention(q, k, v, starts_q, starts_k, call.max_q, call.max_k, 0.0, call.causal,
                            False, scale=call.scale, window_size_left=left,
                            window_size_right=right)[0]
            return out.view_as(call.q), None

        return run
    return lambda: attention(
        call.q, call.k, call.v, None, None, call.max_q, call.max_k, 0.0, call.causal, False,
        scale=call.scale, window_size_left=left, window_size_right=right)[:2]
