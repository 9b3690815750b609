"""Attention of PyTorch, on one GPU, for the cases that `swa verify export` wrote.

    swa verify export --suite section6 --out FOLDER
    python3 torch_outputs.py FOLDER --with sdpa        # a boolean mask, [n_q, n_k]
    swa verify check FOLDER
    python3 torch_outputs.py FOLDER --with flash_attn  # the FlashAttention-2 inside PyTorch
    swa verify check FOLDER

Each run replaces the outputs of the one before. The cases have one window of W keys, the query
itself included, or none, and bottom-right anchors: FlashAttention's window_size=(W - 1, 0). Other
cases are said to be unsupported.
"""

import argparse
import pathlib
import tomllib

import numpy as np
import torch
from torch.nn.functional import scaled_dot_product_attention

KNOWN = {"name", "note", "n_q", "n_k", "window", "heads_q", "heads_kv", "head_dim", "dtype", "seed", "batch"}
ROWS_AT_ONCE = 4096  # of a mask: PyTorch makes 2 bytes of each of its elements


def sdpa(q, k, v, window):
    """[batch, heads, tokens, dim] each. Returns the output; no log-sum-exp."""
    n_q, n_k, group = q.shape[2], k.shape[2], q.shape[1] // k.shape[1]
    k, v = (x.repeat_interleave(group, 1) for x in (k, v))
    keys = torch.arange(n_k, device=q.device)
    parts = []
    for first in range(0, n_q, ROWS_AT_ONCE):
        rows = slice(first, min(first + ROWS_AT_ONCE, n_q))
        at = torch.arange(n_q, device=q.device)[rows, None] + n_k - n_q
        mask = keys <= at
        if window is not None:
            mask &= keys > at - window
        parts.append(scaled_dot_product_attention(q[:, :, rows], k, v, mask))
    return torch.cat(parts, 2), None


def flash_attn(q, k, v, window):
    """[batch, heads, tokens, dim] each. Returns the output and the log-sum-exp."""
    q, k, v = (x.transpose(1, 2).contiguous() for x in (q, k, v))
    left, right = (-1, -1) if window is None else (window - 1, 0)
    out, lse = torch.ops.aten._flash_attention_forward(
        q, k, v, None, None, q.shape[1], k.shape[1], 0.0, True, False,
        window_size_left=left, window_size_right=right)[:2]
    return out.transpose(1, 2), lse


def write_outputs(folder, case, attention):
    types = {"bf16": torch.bfloat16, "fp16": torch.half}
    q, k, v = (torch.from_numpy(np.load(folder / f"{x}.npy")).cuda().to(types[case["dtype"]])
               for x in "qkv")
    window = case.get("window", "none")
    out, lse = attention(q, k, v, None if window == "none" else window)
    np.save(folder / "o.npy", out.float().cpu().numpy())
    (folder / "lse.npy").unlink(missing_ok=True)
    if lse is not None:
        np.save(folder / "lse.npy", lse.float().cpu().numpy())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--with", dest="kernel", choices=["sdpa", "flash_attn"], required=True)
    arguments = parser.parse_args()
    attention = {"sdpa": sdpa, "flash_attn": flash_attn}[arguments.kernel]
    for case in tomllib.loads((arguments.folder / "cases.toml").read_text())["case"]:
        here = arguments.folder / case["name"]
        other = sorted(case.keys() - KNOWN)
        if other or case.get("dtype") not in ("bf16", "fp16"):
            reason = other[0] if other else f"dtype {case.get('dtype', 'fp32')}"
            (here / "unsupported.txt").write_text(f"not called with {reason} here\n")
            continue
        for folder in [here, *sorted(here.glob("probe-*"))]:
            write_outputs(folder, case, attention)


if __name__ == "__main__":
    main()
