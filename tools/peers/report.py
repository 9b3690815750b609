"""Tables of what peers.py measured: ratios to the best peer, and how far they repeat. Needs no GPU.

    python3 report.py table RUN.json
    python3 report.py spread RUN.json RUN.json
    python3 report.py filter RUN.json 'h64x8-d64-W*-N16384'    # records, for swa bench --from
"""

import argparse
import fnmatch
import json
import sys

OURS = "swa"
# A ratio counts only where all of these ran or refused the case by name.
NEEDED = ["FA3 (vLLM)", "FA4", "FlashInfer", "cuDNN", "FlexAttention", "FA2 (PyTorch)"]
LEADS_AT_128 = "FA3"  # FlashAttention-3's own package
NOT_COMPARABLE = "not comparable"


def cases_of(run):
    """name -> kernel -> record, in the order of the run."""
    cases = {}
    for record in run["records"]:
        cases.setdefault(record["case"], {})[record["peer"]] = record
    return cases


def is_timed(record):
    return record is not None and record["status"] == "timed"


def best_peer(records):
    peers = [r for name, r in records.items() if name != OURS and is_timed(r)]
    return min(peers, key=lambda r: r["seconds"], default=None)


def missing(records):
    """Peers without which the row says nothing, with why."""
    gone = []
    for name in NEEDED:
        record = records.get(name)
        if record is None:
            gone.append(f"{name} did not run")
        elif record["status"] not in ("timed", "refused"):
            gone.append(f"{name}: {record['reason']}")
    return gone


def ratio_of(records):
    """The best peer's time over ours; None where the row is not comparable."""
    best, ours = best_peer(records), records.get(OURS)
    if best is None or not is_timed(ours) or missing(records):
        return None
    return best["seconds"] / ours["seconds"]


def order_effect(records):
    """How far the ratios of all peers to ours depend on the order of the runs: the largest."""
    ours = records.get(OURS)
    if not is_timed(ours):
        return None
    effects = []
    for name, r in records.items():
        if name == OURS or not is_timed(r):
            continue
        forward = r["seconds_forward"] / ours["seconds_forward"]
        backward = r["seconds_backward"] / ours["seconds_backward"]
        effects.append(abs(forward / backward - 1))
    return max(effects, default=None)


def spread_of(records):
    """What the quartiles of both leave of the ratio, as a share of it."""
    best, ours = best_peer(records), records.get(OURS)
    if best is None or not is_timed(ours):
        return None
    return sum((r["seconds_q3"] - r["seconds_q1"]) / r["seconds"] for r in (best, ours)) / 2


def remarks(records):
    found = missing(records)
    if next(iter(records.values()))["head_dim"] == 128 and not is_timed(records.get(LEADS_AT_128)):
        found.append("FlashAttention-3's own package not measured")
    for name, r in records.items():
        if r["status"] == "wrong":
            found.append(f"{name} is wrong: {r['reason']}")
        elif r["status"] == "timed" and r["method"] == "launch":
            found.append(f"{name} with launches")
    return list(dict.fromkeys(found))


def cell(record):
    if record is None:
        return ""
    return f"{record['seconds'] * 1e3:.4f}" if is_timed(record) else record["status"]


def percent(share):
    return "" if share is None else f"{100 * share:.1f} %"


def row(name, records, peers):
    best, ratio = best_peer(records), ratio_of(records)
    ours = records.get(OURS)
    cells = [name, f"{cell(ours)} ({ours['kernel']})" if is_timed(ours) else cell(ours)]
    for peer in peers:
        text = cell(records.get(peer))
        cells.append(f"**{text}**" if best is not None and best["peer"] == peer else text)
    cells += [NOT_COMPARABLE if ratio is None else f"{ratio:.2f}", percent(spread_of(records)),
              percent(order_effect(records)), "; ".join(remarks(records))]
    return "| " + " | ".join(cells) + " |"


def peers_of(run):
    return [p for p in dict.fromkeys(r["peer"] for r in run["records"]) if p != OURS]


def heading(peers):
    cells = ["case", "swa ms (kernel)", *[f"{p} ms" for p in peers], "best peer / swa", "IQR",
             "order", "remarks"]
    return "| " + " | ".join(cells) + " |\n|" + "---|" * len(cells)


def about(run):
    versions = ", ".join(f"{name} {version}" for name, version in run["versions"].items())
    return (f"{run['device']}, driver {run['driver']}, CUDA {run['cuda']}, {run['date']}; "
            f"{versions}.\n\n    {run['command']}\n")


def table(run):
    peers = peers_of(run)
    lines = [about(run), heading(peers)]
    lines += [row(name, records, peers) for name, records in cases_of(run).items()]
    for name in peers:
        refusals = {}
        for r in run["records"]:
            if r["peer"] == name and r["status"] == "refused":
                refusals.setdefault(r["reason"], []).append(r["case"])
        for reason, cases in refusals.items():
            lines.append(f"\n{name} refused {', '.join(cases)}: {reason}")
    return "\n".join(lines)


def spread(first, second):
    """Both runs' ratios to the best peer, and how far apart they are."""
    lines = ["| case | first run | second run | apart |", "|---|---|---|---|"]
    largest = []
    other = cases_of(second)
    for name, records in cases_of(first).items():
        a, b = ratio_of(records), ratio_of(other.get(name, {}))
        if a is None or b is None:
            lines.append(f"| {name} | {NOT_COMPARABLE if a is None else f'{a:.3f}'} | "
                         f"{NOT_COMPARABLE if b is None else f'{b:.3f}'} | |")
            continue
        apart = abs(a / b - 1)
        largest.append((apart, name))
        lines.append(f"| {name} | {a:.3f} | {b:.3f} | {percent(apart)} |")
    largest.sort(reverse=True)
    beyond = [f"{name} ({percent(apart)})" for apart, name in largest if apart > 0.03]
    if largest:
        middle = largest[len(largest) // 2][0]
        lines.append(f"\nLargest {percent(largest[0][0])}, median {percent(middle)}; beyond 3 %: "
                     f"{', '.join(beyond) or 'none'}.")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["table", "spread", "filter"])
    parser.add_argument("run")
    parser.add_argument("other", nargs="?")
    arguments = parser.parse_args()
    run = json.load(open(arguments.run))
    if arguments.what == "table":
        print(table(run))
        return
    if arguments.other is None:
        parser.error(f"{arguments.what} needs two arguments")
    if arguments.what == "spread":
        print(spread(run, json.load(open(arguments.other))))
        return
    run["records"] = [r for r in run["records"] if fnmatch.fnmatch(r["case"], arguments.other)]
    json.dump(run, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
