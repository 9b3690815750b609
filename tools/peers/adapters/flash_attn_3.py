"""FlashAttention-3's own package, flash_attn_interface, where the user has built it."""

NAME = "FA3"
WINDOW = "left_right"


def version():
    import flash_attn_interface

    return getattr(flash_attn_interface, "__version__", "of flash_attn_interface")


def prepare(call):
    from flash_attn_interface import flash_attn_func, flash_attn_varlen_func

    call.refuse(packed=True, softcap=True, two_sided=True, top_left=False)
    rest = dict(softmax_scale=call.scale, causal=call.causal, window_size=call.window,
                softcap=call.softcap)
    out_of = lambda result: result[0] if isinstance(result, tuple) else result  # noqa: E731
    if call.packed:
        q, k, v = (call.flat(x) for x in (call.q, call.k, call.v))
        starts_q, starts_k = call.starts("q"), call.starts("k")
        return lambda: (out_of(flash_attn_varlen_func(
            q, k, v, starts_q, starts_k, call.max_q, call.max_k, **rest)).view_as(call.q), None)
    return lambda: (out_of(flash_attn_func(call.q, call.k, call.v, **rest)), None)
