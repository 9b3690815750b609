"""Times swa's portable kernels beside the FlashAttention-2 inside PyTorch, on one GPU.

    python3 flash_attention_2.py --library libswa_portable.so [--rounds 30] [--match TEXT]

Both run in one process, captured in CUDA graphs, in turns, each after a fill of 256 MB; the order
changes with each round. Inputs are random normal bf16, layout [batch, tokens, heads, dim]. Both
outputs are compared with attention in fp32 on sampled rows. W counts the keys a query sees, itself
included: FlashAttention's window_size=(W - 1, 0).
"""

import argparse
import statistics

import torch

from swa_library import Library

# name, batch, heads_q, heads_kv, head_dim, W or None, n_q, n_k
CASES = [
    ("64/8 d64 W128 N8192", 1, 64, 8, 64, 128, 8192, 8192),
    ("64/8 d64 W128 N32768", 1, 64, 8, 64, 128, 32768, 32768),
    ("64/8 d64 W256 N32768", 1, 64, 8, 64, 256, 32768, 32768),
    ("64/8 d64 W512 N32768", 1, 64, 8, 64, 512, 32768, 32768),
    ("64/8 d64 W1024 N32768", 1, 64, 8, 64, 1024, 32768, 32768),
    ("64/8 d128 W128 N32768", 1, 64, 8, 128, 128, 32768, 32768),
    ("32/16 d128 W1024 N8192", 1, 32, 16, 128, 1024, 8192, 8192),
    ("32/16 d128 W1024 N32768", 1, 32, 16, 128, 1024, 32768, 32768),
    ("32/8 d128 W4096 N32768", 1, 32, 8, 128, 4096, 32768, 32768),
    ("16/8 d256 W1024 N32768", 1, 16, 8, 256, 1024, 32768, 32768),
    ("4/1 d256 W512 N32768", 1, 4, 1, 256, 512, 32768, 32768),
    ("causal 32/8 d128 N16384", 1, 32, 8, 128, None, 16384, 16384),
    ("causal 64/8 d64 N16384", 1, 64, 8, 64, None, 16384, 16384),
    ("chunk 2048 on 32768, 32/8 d128 W4096", 1, 32, 8, 128, 4096, 2048, 32768),
    ("decode B128 n_k 8192, 32/8 d128 W4096", 128, 32, 8, 128, 4096, 1, 8192),
    ("decode B128 n_k 8192, 32/8 d128 W1024", 128, 32, 8, 128, 1024, 1, 8192),
    ("decode B128 n_k 8192, 64/8 d64 W128", 128, 64, 8, 64, 128, 1, 8192),
    ("decode B1 n_k 131072, 32/8 d128 W4096", 1, 32, 8, 128, 4096, 1, 131072),
]


def flash_attention_2(q, k, v, window):
    left, right = (-1, -1) if window is None else (window - 1, 0)
    return torch.ops.aten._flash_attention_forward(
        q, k, v, None, None, q.shape[1], k.shape[1], 0.0, True, False,
        window_size_left=left, window_size_right=right)[:2]


def error_of(out, q, k, v, window, rows):
    """|out - reference| / |reference| over sampled rows of the first sequence, in fp32."""
    group = q.shape[2] // k.shape[2]
    wrong = total = 0.0
    for row in rows:
        last = k.shape[1] - q.shape[1] + row
        first = 0 if window is None else max(0, last - window + 1)
        keys = k[0, first:last + 1].float().repeat_interleave(group, 1)
        values = v[0, first:last + 1].float().repeat_interleave(group, 1)
        scores = torch.einsum("hd,khd->hk", q[0, row].float(), keys) * q.shape[3] ** -0.5
        expected = torch.einsum("hk,khd->hd", scores.softmax(-1), values)
        wrong += (out[0, row].float() - expected).square().sum().item()
        total += expected.square().sum().item()
    return (wrong / total) ** 0.5


def capture(run):
    for _ in range(3):
        run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    return graph


def time_case(library, flush, case, rounds):
    name, batch, heads_q, heads_kv, dim, window, n_q, n_k = case
    make = lambda tokens, heads: torch.randn(batch, tokens, heads, dim, device="cuda").bfloat16()
    q, k, v = make(n_q, heads_q), make(n_k, heads_kv), make(n_k, heads_kv)
    out = torch.full_like(q, float("nan"))
    lse = torch.full((batch, heads_q, n_q), float("nan"), device="cuda")
    kept = {}

    def peer():
        kept["out"] = flash_attention_2(q, k, v, window)[0]

    graphs = {"swa": capture(lambda: library.forward(q, k, v, window, out, lse)),
              "FA2": capture(peer)}
    seconds = {who: [] for who in graphs}
    for round_ in range(rounds):
        order = list(graphs.items())
        for who, graph in order if round_ % 2 == 0 else reversed(order):
            flush.fill_(round_)
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            graph.replay()
            end.record()
            torch.cuda.synchronize()
            seconds[who].append(start.elapsed_time(end))
    rows = sorted({0, n_q // 3, n_q // 2, n_q - 1})
    median = {who: statistics.median(times) for who, times in seconds.items()}
    spread = {who: (lambda s: s[2] - s[0])(statistics.quantiles(times, n=4))
              for who, times in seconds.items()}
    print(f"| {name} | {median['swa']:.4f} | {spread['swa']:.4f} | {median['FA2']:.4f} | "
          f"{spread['FA2']:.4f} | {median['FA2'] / median['swa']:.2f} | "
          f"{error_of(out, q, k, v, window, rows):.1e} | "
          f"{error_of(kept['out'], q, k, v, window, rows):.1e} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--library", required=True)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--match", default="", help="time the cases whose name holds this")
    arguments = parser.parse_args()
    library = Library(arguments.library)
    torch.manual_seed(0)
    flush = torch.empty(64 << 20, device="cuda")
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, CUDA {torch.version.cuda}")
    print("| case | swa ms | IQR | FA2 ms | IQR | FA2 / swa | error swa | error FA2 |")
    print("|---|---|---|---|---|---|---|---|")
    for case in CASES:
        if arguments.match in case[0]:
            time_case(library, flush, case, arguments.rounds)


if __name__ == "__main__":
    main()
