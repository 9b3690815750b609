"""The portable kernels of swa for PyTorch tensors: swa_attention of lib/verify/swa_plugin.h through
ctypes, on libswa_portable.so (ninja swa_portable in a build with SWA_ARCHS)."""

import ctypes
import math

import torch

_INT = ctypes.c_long
_POINTER = ctypes.c_void_p
_FORWARD = 2
_DTYPES = {torch.bfloat16: 3, torch.float16: 4}
_STRIDES = _INT * 3


class _Attention(ctypes.Structure):
    """struct swa_attention, member for member."""

    _fields_ = (
        [(name, ctypes.c_int) for name in
         ("version", "struct_size", "built_version", "built_size", "task", "memory", "no_lse")]
        + [("granule", _INT)]
        + [(name, ctypes.c_int) for name in ("dtype", "layout", "anchor", "has_sink_logits")]
        + [(name, _INT) for name in
           ("batch", "heads_q", "heads_kv", "n_q", "n_k", "head_dim", "head_dim_v")]
        + [(name, _POINTER) for name in ("lengths_q", "lengths_k", "offsets_q", "offsets_k")]
        + [(name, _INT) for name in ("left", "right", "chunk", "window", "sinks")]
        + [("scale", ctypes.c_double), ("softcap", ctypes.c_double)]
        + [(name, _POINTER) for name in ("q", "k", "v", "sink_logits", "out", "lse")]
        + [(name, _STRIDES) for name in
           ("q_strides", "k_strides", "v_strides", "out_strides", "lse_strides")]
        + [("message", ctypes.c_char * 256), ("max_threads", _INT), ("stream", _POINTER)]
    )


class Library:
    def __init__(self, path):
        self._plugin = ctypes.CDLL(path).swa_plugin

    def forward(self, q, k, v, window=None, out=None, lse=None):
        """q [batch, n_q, heads_q, dim], k and v [batch, n_k, heads_kv, dim], causal, aligned at the
        last key; window: keys a query sees, itself included, or None. Returns out, lse."""
        batch, n_q, heads_q, dim = q.shape
        out = torch.empty_like(q) if out is None else out
        if lse is None:
            lse = torch.empty(batch, heads_q, n_q, device=q.device, dtype=torch.float32)

        def strides(tensor):
            return _STRIDES(tensor.stride(0), tensor.stride(2), tensor.stride(1))

        call = _Attention(
            version=1, struct_size=ctypes.sizeof(_Attention), task=_FORWARD,
            dtype=_DTYPES[q.dtype], layout=1, anchor=1, batch=batch, heads_q=heads_q,
            heads_kv=k.shape[2], n_q=n_q, n_k=k.shape[1], head_dim=dim, head_dim_v=v.shape[3],
            left=-1 if window is None else window - 1, right=0, window=window or 0,
            scale=1 / math.sqrt(dim), q=q.data_ptr(), k=k.data_ptr(), v=v.data_ptr(),
            out=out.data_ptr(), lse=lse.data_ptr(), q_strides=strides(q), k_strides=strides(k),
            v_strides=strides(v), out_strides=strides(out),
            lse_strides=_STRIDES(lse.stride(0), lse.stride(1), lse.stride(2)),
            stream=torch.cuda.current_stream().cuda_stream)
        if self._plugin(ctypes.byref(call)) != 0:
            raise RuntimeError(call.message.decode())
        return out, lse
