"""FlashAttention-4, the package flash-attn-4 (CuTe DSL)."""

from importlib import metadata

NAME = "FA4"
WINDOW = "left_right"


def version():
    import flash_attn.cute.interface  # noqa: F401

    return metadata.version("flash-attn-4")


def prepare(call):
    from flash_attn.cute.interface import flash_attn_func, flash_attn_varlen_func

    call.refuse(packed=True, softcap=True, sink_logits=True, two_sided=True, top_left=False)
    window = tuple(None if side < 0 else side for side in call.window)
    sinks = None if call.sink_logits is None else call.sink_logits.to(call.q.dtype)
    rest = dict(softmax_scale=call.scale, causal=call.causal and call.left is None,
                window_size=window,
                learnable_sink=sinks, softcap=call.softcap, return_lse=True)
    if call.packed:
        q, k, v = (call.flat(x) for x in (call.q, call.k, call.v))
        starts_q, starts_k = call.starts("q"), call.starts("k")

        def run():
            out = flash_attn_varlen_func(
                q, k, v, cu_seqlens_q=starts_q, cu_seqlens_k=starts_k, max_seqlen_q=call.max_q,
                max_seqlen_k=call.max_k, **rest)[0]
            return out.view_as(call.q), None

        return run
    return lambda: flash_attn_func(call.q, call.k, call.v, **rest)[:2]
