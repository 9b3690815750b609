"""FlashAttention-3 as vLLM builds it: variable lengths and pages only."""

import os

import torch

NAME = "FA3 (vLLM)"
WINDOW = "left_right"
_PAGE = 64
_FEW_QUERIES = 16  # calls that serving systems send to a paged cache


def version():
    path = os.environ.get("SWA_VLLM_FA3")
    if not path:
        raise ImportError("--vllm FILE names no _vllm_fa3_C.abi3.so")
    torch.ops.load_library(path)
    return os.environ.get("SWA_VLLM_VERSION", "of vLLM 0.33.0")


def prepare(call):
    call.refuse(packed=True, softcap=True, sink_logits=True, two_sided=True, top_left=False)
    left, right = call.window
    starts_q = call.starts("q")
    q = call.flat(call.q)
    out = torch.empty_like(q)
    k, v, starts_k = call.flat(call.k), call.flat(call.v), call.starts("k")
    used_k = table = None
    if call.max_q <= _FEW_QUERIES and not call.packed:
        k, v, table = call.pages(_PAGE)
        starts_k = None
        used_k = torch.full((call.batch,), call.max_k, dtype=torch.int32, device=q.device)
    sinks = None if call.sink_logits is None else call.sink_logits.to(call.q.dtype)

    def run():
        result = torch.ops._vllm_fa3_C.fwd(
            q, k, v, None, None, None, out, starts_q, starts_k, None, None, used_k, call.max_q,
            call.max_k, table, None, None, None, None, None, None, None, None, call.scale,
            call.causal, left, right, call.softcap, True, None, 0, None, 0, sinks, 1, 0, None)
        lse = result[1]  # [heads, tokens]
        if call.packed:
            return result[0].view_as(call.q), None
        return result[0].view_as(call.q), lse.view(lse.shape[0], call.batch, -1).transpose(0, 1)

    return run
