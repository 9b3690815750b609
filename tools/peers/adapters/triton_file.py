"""A Triton kernel from a file of the user: swa_attention(q, k, v, window) on [heads, tokens, dim],
as the listing swa_triton.py of the chapter has it."""

import importlib.util
import inspect
import os

import torch

from call import Refused

NAME = "Triton file"
WINDOW = "keys"


def _module():
    path = os.environ.get("SWA_TRITON_FILE")
    if not path:
        raise ImportError("--triton FILE names none")
    spec = importlib.util.spec_from_file_location("user_triton", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not hasattr(module, "swa_attention"):
        raise ImportError(f"{path} has no swa_attention(q, k, v, window)")
    parameters = list(inspect.signature(module.swa_attention).parameters)
    if parameters[:4] != ["q", "k", "v", "window"]:
        raise ImportError(f"swa_attention of {path} takes ({', '.join(parameters)})")
    return module


def version():
    import triton

    _module()
    return f"on Triton {triton.__version__}"


def prepare(call):
    call.refuse(softcap=False, sink_logits=False, packed=False, two_sided=False, top_left=False)
    if abs(call.scale * call.q.shape[-1] ** 0.5 - 1) > 1e-6:
        raise Refused("scale: it has its own")
    batch, n_k, heads = call.k.shape[0], call.max_k, call.q.shape[2]
    if batch * heads * n_k * call.k.shape[3] >= 1 << 31:
        raise Refused("offsets beyond 2^31 elements, which the listing computes in 32 bits")
    attention = _module().swa_attention
    batch, n_q, heads, dim = call.q.shape
    window = call.max_k if call.window is None else call.window
    # A head of a batch entry is a head there, and each has its own k and v.
    q = call.q.transpose(1, 2).reshape(batch * heads, n_q, dim).contiguous()
    k, v = (x.transpose(1, 2).repeat_interleave(call.group, 1).reshape(batch * heads, -1, dim)
            .contiguous() for x in (call.k, call.v))

    return lambda: attention(q, k, v, window)


def result(call, out):
    batch, n_q, heads, dim = call.q.shape
    return out.view(batch, heads, n_q, dim).transpose(1, 2).to(call.q.dtype)
