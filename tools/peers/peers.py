"""Times swa's kernels beside published ones on one GPU, and writes what these return to be judged.

    python3 peers.py list
    python3 peers.py --library LIBSWA time --swa SWA [--suite perf] [--match NAME,…] [--json FILE]
    python3 peers.py outputs FOLDER --with NAME     # for `swa verify check FOLDER`

Where libraries are (--site, --vllm, --triton, --library) stands before the task. README.md beside
this file says how each library is installed and what is measured.
"""

import argparse
import datetime
import importlib
import importlib.util
import json
import os
import pathlib
import platform
import shlex
import shutil
import site
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ADAPTERS = ["swa", "vllm_fa3", "flash_attn_4", "flash_infer", "cudnn_frontend", "flex_attention",
            "flash_attn_2", "flash_attn_3", "triton_file", "sdpa"]


def load(path):
    """The adapter in a file of the user's."""
    spec = importlib.util.spec_from_file_location(f"adapter_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name in ("WINDOW", "prepare"):
        if not hasattr(module, name):
            sys.exit(f"{path} has no {name}: see README.md")
    if not hasattr(module, "NAME"):
        module.NAME = path.stem
    return module


def find_adapters(arguments):
    adapters = [importlib.import_module(f"adapters.{name}") for name in ADAPTERS]
    adapters += [load(pathlib.Path(path)) for path in arguments.peer]
    if arguments.peers:
        wanted = arguments.peers.split(",")
        unknown = [w for w in wanted if all(w not in (a.NAME, short(a)) for a in adapters)]
        if unknown:
            names = ", ".join(f"{short(a)} ({a.NAME})" for a in adapters)
            sys.exit(f"--peers {unknown[0]} is none of {names}")
        adapters = [a for a in adapters if short(a) == "swa" or a.NAME in wanted
                    or short(a) in wanted]
    return adapters


def short(adapter):
    return adapter.__name__.removeprefix("adapters.")


def versions_of(adapters):
    """name -> version of those that are here; name -> why not of the others."""
    here, absent = {}, {}
    for adapter in adapters:
        try:
            version = getattr(adapter, "version", lambda: "of the user")
            here[adapter.NAME] = str(version())
        except Exception as error:  # noqa: BLE001: a library that cannot be imported is not here
            from timing import first_line
            absent[adapter.NAME] = f"not here: {first_line(error)}"
    return here, absent


def listed_cases(arguments):
    command = [arguments.swa, "bench", "--list", "--format", "json"]
    command += ["--cases", arguments.cases] if arguments.cases else ["--suite", arguments.suite]
    if arguments.match:
        command += ["--match", arguments.match]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(result.stderr)
    return json.loads(result.stdout)["records"]


def problem_refusal(case):
    """Why this file cannot state the case to libraries; None where it can."""
    if case["chunk"] is not None or case["sinks"] != 0:
        return "chunks or sink tokens"
    if case["anchor"] != "bottom-right" or case["cache"] != "contiguous":
        return "another anchor or cache"
    if case["dtype"] not in ("bf16", "fp16"):
        return f"dtype {case['dtype']}"
    if case["head_dim_v"] != case["head_dim"]:
        return "values of another head_dim"
    if case["lengths_q"] is not None and case["layout"] != "packed":
        return "a padded batch"
    return None


def make_call(library, case):
    import torch

    from call import Call

    dtype = {"bf16": torch.bfloat16, "fp16": torch.float16}[case["dtype"]]
    packed = case["lengths_q"] is not None
    batch = 1 if packed else case["batch"]
    n_q = sum(case["lengths_q"]) if packed else case["n_q"]
    n_k = sum(case["lengths_k"]) if packed else case["n_k"]
    tensor = lambda n, heads, dim, stream: library.random_normal(  # noqa: E731
        (batch, n, heads, dim), dtype, case["seed"], stream)
    dim_v = case["head_dim_v"]
    sinks = None
    if case["sink_logits"]:
        # As serving systems hold them: rounded to the type of the rest.
        sinks = library.random_normal((case["heads_q"],), torch.float32, case["seed"], 3)
        sinks = sinks.to(dtype).float()
    return Call(
        q=tensor(n_q, case["heads_q"], case["head_dim"], 0),
        k=tensor(n_k, case["heads_kv"], case["head_dim"], 1),
        v=tensor(n_k, case["heads_kv"], dim_v, 2), left=case["left"], right=case["right"],
        scale=case["scale"],
        softcap=case["softcap"] or 0.0, sink_logits=sinks, lengths_q=case["lengths_q"],
        lengths_k=case["lengths_k"])


def for_adapter(call, adapter):
    import dataclasses

    from call import window_as

    return dataclasses.replace(call, window=window_as(adapter.WINDOW, call.left, call.right))


def normal_result(adapter, call, raw):
    """(out, lse or None) of what an adapter's function returned."""
    if hasattr(adapter, "result"):
        raw = adapter.result(call, raw)
    return tuple(raw[:2]) if isinstance(raw, (tuple, list)) else (raw, None)


EMPTY = {"seconds": None, "seconds_min": None, "seconds_q1": None, "seconds_q3": None,
         "seconds_forward": None, "seconds_backward": None, "rounds": None, "method": None,
         "error": None, "bound": None, "checked_rows": None}


class ContextLost(Exception):
    """A kernel broke the process's GPU context: nothing more can run in it."""

    def __init__(self, peer, reason):
        super().__init__(reason)
        self.peer = peer


def is_context_lost():
    import torch

    try:
        torch.zeros(1, device="cuda").item()
        return False
    except RuntimeError:
        return True


def time_case(library, adapters, absent, case, rounds, flush, broken):
    """A record for each adapter. `broken`: name -> reason of those that broke the process on this
    case before. Throws ContextLost."""
    import torch

    from call import NotCalled, Refused
    from timing import Runner, first_line, interleave, summary

    call = make_call(library, case)
    records, runners = {}, {}

    def note(adapter, status, reason="", **more):
        kernel = adapter.NAME
        if adapter.NAME == "swa" and status == "timed":
            kernel = library.kernel(call)
        records[adapter.NAME] = {**case, "peer": adapter.NAME, "kernel": kernel, "status": status,
                                 "reason": reason, **EMPTY, **more}

    for adapter in adapters:
        if adapter.NAME in absent:
            note(adapter, "missing", absent[adapter.NAME])
            continue
        if adapter.NAME in broken:
            note(adapter, "missing", f"broke the process: {broken[adapter.NAME]}")
            continue
        its = for_adapter(call, adapter)
        try:
            runner = Runner(adapter.prepare(its))
            runner.replay_on_poison()
            out, lse = normal_result(adapter, its, runner.result)
            verdict = library.check(call, out.contiguous(), lse)
        except Refused as refusal:
            note(adapter, "refused", str(refusal))
            continue
        except NotCalled as reason:
            note(adapter, "not called", str(reason))
            continue
        except Exception as error:  # noqa: BLE001: a case that breaks one library is its own
            if is_context_lost():
                raise ContextLost(adapter.NAME, first_line(error)) from error
            torch.cuda.empty_cache()
            note(adapter, "missing", f"broke off: {first_line(error)}")
            continue
        facts = {"error": verdict["error"], "bound": verdict["bound"],
                 "checked_rows": verdict["rows"], "method": runner.method}
        if not verdict["passed"]:
            note(adapter, "wrong", verdict["message"], **facts)
            continue
        runners[adapter.NAME] = runner
        note(adapter, "timed", getattr(runner, "reason", ""), **facts, rounds=rounds)
    if runners:
        for name, milliseconds in interleave(runners, rounds, flush).items():
            records[name].update(summary(milliseconds))
    return records


def driver_version():
    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    if shutil.which(query[0]) is None:
        return "unknown"
    result = subprocess.run(query, capture_output=True, text=True, check=False)
    return result.stdout.splitlines()[0] if result.returncode == 0 else "unknown"


def new_run(here):
    import torch

    return {
        "schema": "swa.peers/1", "date": datetime.date.today().isoformat(),
        "device": torch.cuda.get_device_name(), "driver": driver_version(),
        "cuda": torch.version.cuda, "python": platform.python_version(),
        "versions": {"PyTorch": torch.__version__, **{n: v for n, v in here.items() if n != "swa"}},
        "command": "python3 tools/peers/peers.py " + shlex.join(sys.argv[1:]), "records": []}


# Where a process whose GPU context was lost leaves what it knows to the next one.
STATE = "SWA_PEERS_STATE"


def begin_again(run, broken):
    """This program once more, in a process with a GPU context of its own."""
    with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False) as state:
        json.dump({"run": run, "broken": broken}, state)
    os.environ[STATE] = state.name
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, *sys.argv])


def left_state():
    """(run, broken) of the process before this one; (None, {}) where there was none."""
    path = os.environ.pop(STATE, None)
    if path is None:
        return None, {}
    state = json.loads(pathlib.Path(path).read_text())
    os.unlink(path)
    return state["run"], state["broken"]


def write_run(path, run):
    """What was measured stays, should the rest not come to its end."""
    part = pathlib.Path(f"{path}.part")
    part.write_text(json.dumps(run, indent=1))
    part.replace(path)


def time_all(arguments):
    import torch

    import report
    from swa_library import Library
    from timing import FLUSH_BYTES, first_line

    library = Library(arguments.library)
    adapters = [a for a in find_adapters(arguments) if getattr(a, "TIMED", True)]
    adapters[0].library = library
    here, absent = versions_of(adapters)
    # FlashAttention-3's package and a Triton file are the user's: absent, they have no column.
    extras = {"FA3", "Triton file"}
    adapters = [a for a in adapters if a.NAME in here or a.NAME not in extras]
    flush = torch.empty(FLUSH_BYTES // 4, device="cuda")
    peers = [a.NAME for a in adapters if a.NAME != "swa"]
    run, broken = left_state()
    if run is None:
        run = new_run(here)
        print(report.heading(peers), flush=True)
    done = {record["case"] for record in run["records"]}
    for case in listed_cases(arguments):
        name = case["case"]
        refusal = problem_refusal(case)
        if refusal and not done:
            print(f"{name} left out: {refusal}", flush=True)
        if refusal or name in done:
            continue
        begin, lost = time.monotonic(), False
        try:
            records = time_case(library, adapters, absent, case, arguments.rounds, flush,
                                broken.get(name, {}))
        except ContextLost as error:
            broken.setdefault(name, {})[error.peer] = str(error)
            begin_again(run, broken)
        except Exception as error:  # noqa: BLE001: no memory for the inputs, say
            lost = is_context_lost()
            reason = f"the case broke off: {first_line(error)}"
            records = {a.NAME: {**case, "peer": a.NAME, "kernel": a.NAME, "status": "missing",
                                "reason": reason, **EMPTY} for a in adapters}
        run["records"] += records.values()
        print(report.row(name, records, peers), flush=True)
        print(f"{name}: {time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True)
        if arguments.json:
            write_run(arguments.json, run)
        if lost:
            begin_again(run, broken)
        torch.cuda.empty_cache()


# What outputs() understands of a case file; another key makes a case unsupported.
KNOWN = {"name", "note", "n_q", "n_k", "lengths_q", "lengths_k", "window", "left", "right",
         "causal", "anchor", "heads_q", "heads_kv", "head_dim", "dtype", "seed", "batch", "scale",
         "softcap", "sink_logits", "inputs"}


def call_of_files(folder, case):
    """The tensors of `swa verify export`, [batch, heads, tokens, dim] there."""
    import numpy
    import torch

    from call import Call, NotCalled

    other = sorted(case.keys() - KNOWN)
    if other:
        raise NotCalled(f"not called with {other[0]} here")
    if case.get("dtype") not in ("bf16", "fp16"):
        raise NotCalled(f"not called with dtype {case.get('dtype', 'fp32')} here")
    packed = "lengths_q" in case or "lengths_k" in case
    if packed and ("n_q" in case or "n_k" in case):
        raise NotCalled("not called with a padded batch here")
    types = {"bf16": torch.bfloat16, "fp16": torch.half}

    def read(name):
        values = torch.from_numpy(numpy.load(folder / f"{name}.npy")).cuda()
        return values.transpose(1, 2).contiguous().to(types[case["dtype"]])

    q = read("q")
    sinks = None
    if case.get("sink_logits"):
        sinks = torch.from_numpy(numpy.load(folder / "sink_logits.npy")).float().cuda().reshape(-1)
    window = case.get("window", "none")
    left = case.get("left", "none" if window == "none" else window - 1)
    right = case.get("right", 0 if case.get("causal", True) else "none")
    lengths_q = case.get("lengths_q", case.get("lengths_k"))
    return Call(
        q=q, k=read("k"), v=read("v"), left=None if left == "none" else left,
        right=None if right == "none" else right, top_left=case.get("anchor") == "top-left",
        scale=case.get("scale", q.shape[-1] ** -0.5), softcap=case.get("softcap", 0.0),
        sink_logits=sinks, lengths_q=lengths_q, lengths_k=case.get("lengths_k", lengths_q))


def write_outputs(adapter, folder, case):
    import numpy

    call = for_adapter(call_of_files(folder, case), adapter)
    out, lse = normal_result(adapter, call, adapter.prepare(call)())
    numpy.save(folder / "o.npy", out.float().transpose(1, 2).contiguous().cpu().numpy())
    if lse is not None:
        numpy.save(folder / "lse.npy", lse.float().contiguous().cpu().numpy())


def outputs(arguments):
    """Writes o.npy, and lse.npy, for each case and probe of a folder, or unsupported.txt."""
    import tomllib

    from call import NotCalled, Refused
    from timing import first_line

    arguments.peers = arguments.kernel
    adapter = find_adapters(arguments)[-1]
    if arguments.kernel == "swa":
        from swa_library import Library
        adapter.library = Library(arguments.library)
    elif hasattr(adapter, "version"):
        adapter.version()  # loads what has to be loaded
    root = pathlib.Path(arguments.folder)
    counts = {"written": 0, "unsupported": 0}
    for case in tomllib.loads((root / "cases.toml").read_text())["case"]:
        here = root / case["name"]
        for old in [*here.glob("**/o.npy"), *here.glob("**/lse.npy"), here / "unsupported.txt"]:
            old.unlink(missing_ok=True)
        try:
            for folder in [here, *sorted(here.glob("probe-*"))]:
                write_outputs(adapter, folder, case)
            counts["written"] += 1
        except (NotCalled, Refused) as refusal:
            (here / "unsupported.txt").write_text(f"{refusal}\n")
            counts["unsupported"] += 1
        except Exception as error:  # noqa: BLE001: the file says what a library threw
            (here / "unsupported.txt").write_text(f"broke off: {first_line(error)}\n")
            counts["unsupported"] += 1
    print(f"{adapter.NAME}: outputs of {counts['written']} cases written, "
          f"{counts['unsupported']} unsupported")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--site", action="append", default=[],
                        help="a folder of installed packages (pip install --target)")
    parser.add_argument("--vllm", help="_vllm_fa3_C.abi3.so of vLLM's wheel")
    parser.add_argument("--triton", help="a file with swa_attention(q, k, v, window)")
    parser.add_argument("--library", default="libswa_portable.so", help="swa's shared library")
    parser.add_argument("--peer", action="append", default=[],
                        help="an adapter of your own: see README.md")
    parser.add_argument("--peers", help="these alone, beside swa: names or files of adapters/")
    tasks = parser.add_subparsers(dest="task", required=True)
    tasks.add_parser("list", help="which are here")
    timing = tasks.add_parser("time", help="time all of them in turns")
    timing.add_argument("--swa", default="swa", help="the program, which knows the cases")
    timing.add_argument("--suite", default="perf")
    timing.add_argument("--cases", help="a case file instead of a suite")
    timing.add_argument("--match", help="cases with these names; * and ? are wildcards")
    timing.add_argument("--rounds", type=int, default=30)
    timing.add_argument("--json", help="all records, for report.py and swa bench --from")
    judged = tasks.add_parser("outputs", help="write outputs for swa verify check")
    judged.add_argument("folder")
    judged.add_argument("--with", dest="kernel", required=True,
                        help="the adapter, such as flash_attn_4")
    arguments = parser.parse_args()
    if arguments.task == "time" and arguments.rounds < 2:
        parser.error("--rounds has to be 2 or more: there are two orders")
    if importlib.util.find_spec("torch") is None and not arguments.site:
        sys.exit("peers.py needs PyTorch, which this python3 does not have: see README.md")
    sys.path.insert(0, str(HERE))
    for folder in arguments.site:
        sys.path.insert(1, folder)
        site.addsitedir(folder)  # for the .pth files of a folder
    for name, value in (("SWA_VLLM_FA3", arguments.vllm), ("SWA_TRITON_FILE", arguments.triton)):
        if value:
            os.environ[name] = value
    if arguments.task == "list":
        here, absent = versions_of(find_adapters(arguments))
        for name, words in {**here, **absent}.items():
            print(f"{name:16} {words}")
    elif arguments.task == "time":
        time_all(arguments)
    else:
        outputs(arguments)


if __name__ == "__main__":
    main()
