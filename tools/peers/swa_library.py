"""swa's kernels, inputs and oracle for PyTorch tensors: kernels/library/swa_library.h through
ctypes, on libswa_portable.so (ninja swa_portable in a build with SWA_ARCHS)."""

import ctypes

import torch

_INT = ctypes.c_long
_POINTER = ctypes.c_void_p
_STRIDES = _INT * 3
_FORWARD = 2
_DTYPES = {torch.bfloat16: 3, torch.float16: 4, torch.float32: 2}
_PADDED, _PACKED = 1, 2
_BOTTOM_RIGHT, _TOP_LEFT = 1, 2


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


class _Check(ctypes.Structure):
    """struct swa_check_result, member for member."""

    _fields_ = (
        [("struct_size", ctypes.c_int), ("passed", ctypes.c_int)]
        + [(name, _INT) for name in ("rows", "nonfinite", "mismatches")]
        + [("error", ctypes.c_double), ("bound", ctypes.c_double), ("message", ctypes.c_char * 256)]
    )


def _strides(tensor):
    """Of [batch, tokens, heads, dim]: from one entry, one head and one token to the next."""
    return _STRIDES(tensor.stride(0), tensor.stride(2), tensor.stride(1))


class Library:
    def __init__(self, path):
        self._library = ctypes.CDLL(path)
        self._library.swa_kernel.restype = ctypes.c_char_p
        self._library.swa_random_normal.argtypes = [
            _POINTER, ctypes.c_int, _INT, ctypes.c_ulong, ctypes.c_uint]

    def random_normal(self, shape, dtype, seed, stream):
        """The numbers of `swa bench`: q is stream 0, k 1, v 2 and the sink logits 3."""
        tensor = torch.empty(shape, dtype=dtype, device="cuda")
        torch.cuda.synchronize()
        if self._library.swa_random_normal(
                tensor.data_ptr(), _DTYPES[dtype], tensor.numel(), seed, stream) != 0:
            raise RuntimeError("swa_random_normal failed")
        torch.cuda.synchronize()
        return tensor

    def _struct(self, call, out, lse):
        heads_q, dim = call.q.shape[2:]
        lse_strides = _STRIDES() if lse is None else _STRIDES(*lse.stride())
        struct = _Attention(
            version=1, struct_size=ctypes.sizeof(_Attention), task=_FORWARD,
            dtype=_DTYPES[call.q.dtype], layout=_PACKED if call.packed else _PADDED,
            anchor=_TOP_LEFT if call.top_left else _BOTTOM_RIGHT,
            has_sink_logits=call.sink_logits is not None, batch=call.batch,
            heads_q=heads_q, heads_kv=call.k.shape[2], n_q=call.max_q, n_k=call.max_k, head_dim=dim,
            head_dim_v=call.v.shape[3], left=-1 if call.left is None else call.left,
            right=-1 if call.right is None else call.right,
            window=call.left + 1 if call.causal and call.left is not None else 0,
            scale=call.scale, softcap=call.softcap, q=call.q.data_ptr(),
            k=call.k.data_ptr(), v=call.v.data_ptr(), out=out.data_ptr(),
            q_strides=_strides(call.q), k_strides=_strides(call.k), v_strides=_strides(call.v),
            out_strides=_strides(out), lse_strides=lse_strides,
            stream=torch.cuda.current_stream().cuda_stream)
        if lse is not None:
            struct.lse = lse.data_ptr()
        if call.sink_logits is not None:
            struct.sink_logits = call.sink_logits.data_ptr()
        kept = []  # ctypes keeps no array alive that a pointer member points to
        if call.packed:
            for of, lengths in (("q", call.lengths_q), ("k", call.lengths_k)):
                counts = (_INT * len(lengths))(*lengths)
                starts = (_INT * (len(lengths) + 1))(*[sum(lengths[:i])
                                                       for i in range(len(lengths) + 1)])
                setattr(struct, f"lengths_{of}", ctypes.addressof(counts))
                setattr(struct, f"offsets_{of}", ctypes.addressof(starts))
                kept += [counts, starts]
        return struct, kept

    def kernel(self, call):
        """The name of the kernel that forward() launches."""
        struct, _kept = self._struct(call, call.q, None)
        name = self._library.swa_kernel(ctypes.byref(struct))
        if name is None:
            raise RuntimeError(struct.message.decode())
        return name.decode()

    def forward(self, call, out, lse):
        """out like q; lse float32 [batch, heads_q, tokens]. On the current stream."""
        struct, _kept = self._struct(call, out, lse)
        if self._library.swa_forward(ctypes.byref(struct)) != 0:
            raise RuntimeError(struct.message.decode())

    def check(self, call, out, lse=None):
        """Sampled rows against the oracle of `swa verify`: passed, rows, error, bound, message."""
        struct, _kept = self._struct(call, out, lse)
        verdict = _Check(struct_size=ctypes.sizeof(_Check))
        torch.cuda.synchronize()
        if self._library.swa_check(ctypes.byref(struct), ctypes.byref(verdict)) != 0:
            raise RuntimeError(struct.message.decode())
        return {"passed": bool(verdict.passed), "rows": verdict.rows, "error": verdict.error,
                "bound": verdict.bound, "message": verdict.message.decode()}
