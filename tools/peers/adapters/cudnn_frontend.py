"""cuDNN's attention through its graph frontend (nvidia-cudnn-frontend)."""

import torch

from call import Refused

NAME = "cuDNN"
WINDOW = "keys"  # its left bound counts the keys of the window


def version():
    import cudnn

    return f"{torch.backends.cudnn.version()}, frontend {cudnn.__version__}"


def prepare(call):
    import cudnn

    call.refuse(packed=True, sink_logits=True, two_sided=True, top_left=True)
    if call.packed:
        return _packed(call)
    alignment = cudnn.diagonal_alignment
    types = {torch.bfloat16: cudnn.data_type.BFLOAT16, torch.float16: cudnn.data_type.HALF}
    handle = cudnn.create_handle()
    graph = cudnn.pygraph(
        handle=handle, io_data_type=types[call.q.dtype],
        intermediate_data_type=cudnn.data_type.FLOAT, compute_data_type=cudnn.data_type.FLOAT)
    # [batch, heads, tokens, dim] there: the strides say how they lie.
    views = [x.transpose(1, 2) for x in (call.q, call.k, call.v)]
    out = torch.empty_like(call.q)
    lse = torch.empty(*views[0].shape[:3], 1, dtype=torch.float32, device=call.q.device)
    q, k, v = (graph.tensor_like(x) for x in views)
    tensors = {q: views[0], k: views[1], v: views[2]}
    more = {}
    if call.sink_logits is not None:
        sinks = call.sink_logits.reshape(1, -1, 1, 1)
        more["sink_token"] = graph.tensor_like(sinks)
        tensors[more["sink_token"]] = sinks
    o, stats = graph.sdpa(
        name="sdpa", q=q, k=k, v=v, generate_stats=True, attn_scale=call.scale,
        diagonal_alignment=alignment.TOP_LEFT if call.top_left else alignment.BOTTOM_RIGHT,
        diagonal_band_left_bound=call.window, diagonal_band_right_bound=call.right, **more)
    view = out.transpose(1, 2)
    o.set_output(True).set_dim(list(view.shape)).set_stride(list(view.stride()))
    stats.set_output(True).set_data_type(cudnn.data_type.FLOAT)
    stats.set_dim(list(lse.shape)).set_stride(list(lse.stride()))
    try:
        graph.validate()
        graph.build_operation_graph()
        graph.create_execution_plans([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])
        graph.check_support()
        graph.build_plans()
    except cudnn.cudnnGraphNotSupportedError as error:  # any other error is no refusal
        raise Refused(f"cuDNN says: {str(error).splitlines()[0][:150]}") from error
    workspace = torch.empty(max(graph.get_workspace_size(), 1), dtype=torch.uint8,
                            device=call.q.device)
    tensors.update({o: view, stats: lse})

    def run():
        cudnn.set_stream(handle=handle, stream=torch.cuda.current_stream().cuda_stream)
        graph.execute(tensors, workspace, handle=handle)
        return out, lse.squeeze(-1)

    return run


def _packed(call):
    import cudnn.sdpa.fwd.torch_op  # noqa: F401: registers the operator

    left = -1 if call.window is None else call.window
    right = -1 if call.right is None else call.right
    bottom_right = not call.top_left and (left >= 0 or right >= 0)
    q, k, v = (call.flat(x) for x in (call.q, call.k, call.v))
    starts_q, starts_k = call.starts("q"), call.starts("k")

    def run():
        out = torch.ops.cudnn.sdpa_fwd(
            q, k, v, call.scale, is_causal=call.causal, causal_bottom_right=bottom_right,
            window_left=left, window_right=right, sinks=call.sink_logits, cu_seqlens_q=starts_q,
            cu_seqlens_kv=starts_k, max_seqlen_q=call.max_q, max_seqlen_kv=call.max_k,
            return_lse=False)[0]
        return out.view_as(call.q), None

    return run
