"""FlashInfer: fa3 for prefill, tensor cores for decode from pages."""

import torch

from call import NotCalled

NAME = "FlashInfer"
WINDOW = "left"
_PAGE = 16
_WORKSPACE = 512 << 20


def version():
    import flashinfer

    return flashinfer.__version__


def _workspace(call):
    return torch.zeros(_WORKSPACE, dtype=torch.uint8, device=call.q.device)


def _page_lists(call, table):
    """indptr, indices and tokens of the last page of each sequence."""
    batch, each = table.shape
    device = table.device
    indptr = torch.arange(batch + 1, dtype=torch.int32, device=device) * each
    last = (call.max_k - 1) % _PAGE + 1
    return indptr, table.reshape(-1), torch.full((batch,), last, dtype=torch.int32, device=device)


def _plan(call):
    """What every plan() is told besides the sequences."""
    return {"window_left": call.window, "sm_scale": call.scale, "q_data_type": call.q.dtype,
            "kv_data_type": call.k.dtype}


def _runner(call, wrapper, *keys):
    q = call.flat(call.q)
    out = torch.empty_like(q)
    return lambda: (wrapper.run(q, *keys, out=out).view_as(call.q), None)


def _paged_buffers(lists, ending):
    """Of a wrapper that is captured in a graph: it copies each plan's lists there."""
    names = ("indptr", "indices", "last_page_len")
    return {f"paged_kv_{n}_{ending}": x.clone() for n, x in zip(names, lists, strict=True)}


def _decode(call):
    import flashinfer

    k, v, table = call.pages(_PAGE)
    lists = _page_lists(call, table)
    wrapper = flashinfer.BatchDecodeWithPagedKVCacheWrapper(
        _workspace(call), "NHD", use_cuda_graph=True, use_tensor_cores=True,
        **_paged_buffers(lists, "buffer"))
    heads_q, dim = call.q.shape[2:]
    wrapper.plan(*lists, heads_q, call.k.shape[2], dim, _PAGE, **_plan(call))
    return _runner(call, wrapper, (k, v))


def _append(call):
    """A few queries of each sequence on pages."""
    import flashinfer

    k, v, table = call.pages(_PAGE)
    lists = _page_lists(call, table)
    starts = call.starts("q")
    wrapper = flashinfer.BatchPrefillWithPagedKVCacheWrapper(
        _workspace(call), "NHD", use_cuda_graph=True, qo_indptr_buf=starts.clone(), backend="fa2",
        **_paged_buffers(lists, "buf"))
    heads_q, dim = call.q.shape[2:]
    wrapper.plan(starts, *lists, heads_q, call.k.shape[2], dim, _PAGE, causal=True, **_plan(call))
    return _runner(call, wrapper, (k, v))


def _ragged(call):
    import flashinfer

    starts_q, starts_k = call.starts("q"), call.starts("k")
    wrapper = flashinfer.BatchPrefillWithRaggedKVCacheWrapper(
        _workspace(call), "NHD", use_cuda_graph=True, qo_indptr_buf=starts_q.clone(),
        kv_indptr_buf=starts_k.clone(), backend="fa3")
    heads_q, dim = call.q.shape[2:]
    wrapper.plan(starts_q, starts_k, heads_q, call.k.shape[2], dim, causal=True, **_plan(call))
    return _runner(call, wrapper, call.flat(call.k), call.flat(call.v))


def prepare(call):
    import flashinfer

    call.refuse(packed=True, two_sided=False, top_left=False)
    if call.q.shape[-1] not in (64, 128, 256):
        raise NotCalled(
            f"head_dim {call.q.shape[-1]} has no fa3 kernel, and fa2 is not called here")
    if call.max_q == 1:
        return _decode(call)
    if call.max_q <= 16:
        return _append(call)
    if call.packed or call.batch > 1:
        return _ragged(call)
    q, k, v = call.q[0], call.k[0], call.v[0]
    return lambda: (flashinfer.single_prefill_with_kv_cache(
        q, k, v, causal=True, sm_scale=call.scale, window_left=call.window,
        backend="fa3").view_as(call.q), None)
