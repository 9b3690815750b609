"""PyTorch's SDPA on the cases that `swa verify export` wrote: python3 sdpa.py FOLDER"""
import pathlib, sys, tomllib, numpy as np, torch
from torch.nn.functional import scaled_dot_product_attention as sdpa

def mask_of(case, n_q, n_k):  # [n_q, n_k]: True where a query sees a key
    q = torch.arange(n_q)[:, None] + (0 if case.get("anchor") == "top-left" else n_k - n_q)
    k, reach = torch.arange(n_k), lambda value: float(str(value).replace("none", "inf"))
    left = reach(case["window"]) - 1 if "window" in case else reach(case.get("left", "none"))
    return (k <= q + reach(case.get("right", 0))) & ((k >= q - left) | (k < case.get("sinks", 0)))

def attention(case, q, k, v):  # [batch, heads, tokens, dim] each; one sequence after the other
    o, packed, at_q, at_k = q.new_zeros(*q.shape[:3], v.shape[3]), "n_q" not in case, 0, 0
    lengths_q = case.get("lengths_q") or packed and case["lengths_k"] or [q.shape[2]] * len(q)
    lengths_k = case.get("lengths_k") or packed and case["lengths_q"] or [k.shape[2]] * len(k)
    for i, (n_q, n_k) in enumerate(zip(lengths_q, lengths_k)):
        b, rows, keys = 0 if packed else i, slice(at_q, at_q + n_q), slice(at_k, at_k + n_k)
        if n_k: o[b, :, rows] = sdpa(q[b, :, rows], k[b, :, keys], v[b, :, keys],
                        mask_of(case, n_q, n_k), scale=case.get("scale"), enable_gqa=True)
        if packed: at_q, at_k = at_q + n_q, at_k + n_k
    return o

types = {"fp64": torch.double, "fp32": torch.float, "bf16": torch.bfloat16, "fp16": torch.half}
for case in tomllib.loads(pathlib.Path(sys.argv[1], "cases.toml").read_text())["case"]:
    here = pathlib.Path(sys.argv[1], case["name"])
    if other := {"softcap", "sink_logits", "mask"} & case.keys():
        (here / "unsupported.txt").write_text(f"SDPA, as it is called here, has no {min(other)}")
    for folder in [] if other else [here, *here.glob("probe-*")]:
        q, k, v = (torch.from_numpy(np.load(folder / f"{x}.npy")) for x in "qkv")
        o = attention(case, *(x.to(types[case.get("dtype", "fp32")]) for x in (q, k, v)))
        np.save(folder / "o.npy", o.float() if o.dtype == torch.bfloat16 else o)
