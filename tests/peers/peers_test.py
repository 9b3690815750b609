"""tools/peers without a GPU, PyTorch or any library: windows, ratios, and a process that starts again.

    SWA_SOURCE_DIR=… python3 peers_test.py
"""

import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest

SOURCE = pathlib.Path(os.environ["SWA_SOURCE_DIR"])
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "tools/peers"))

import report  # noqa: E402
from call import Call, NotCalled, Refused, window_as  # noqa: E402


def record(case, peer, seconds=None, status="timed", head_dim=64):
    return {"case": case, "peer": peer, "kernel": peer, "head_dim": head_dim, "status": status,
            "reason": "" if status == "timed" else f"{status} here", "method": "graph",
            "seconds": seconds, "seconds_q1": seconds, "seconds_q3": seconds,
            "seconds_forward": seconds, "seconds_backward": seconds}


def row(ours=1.0, head_dim=64, **others):
    """Records of a case in which every needed peer took 2 s, but for `others`."""
    records = {"swa": record("a", "swa", ours, head_dim=head_dim)}
    for name in report.NEEDED:
        records[name] = record("a", name, 2.0, head_dim=head_dim)
    for name, change in others.items():
        records[name].update(change)
    return records


class Windows(unittest.TestCase):
    def test_a_window_of_W_keys_in_each_form(self):
        W = 100
        self.assertEqual(window_as("keys", W - 1, 0), 100)
        self.assertEqual(window_as("left", W - 1, 0), 99)
        self.assertEqual(window_as("left_right", W - 1, 0), (99, 0))
        self.assertEqual(window_as("keys", 0, 0), 1)  # W = 1: the query's own key

    def test_no_window_and_two_sides(self):
        self.assertIsNone(window_as("keys", None, 0))
        self.assertEqual(window_as("left", None, 0), -1)
        self.assertEqual(window_as("left_right", None, 0), (-1, -1))
        self.assertEqual(window_as("left_right", 70, 33), (70, 33))
        self.assertEqual(window_as("left_right", 50, None), (50, -1))
        self.assertEqual(window_as("left_right", None, None), (-1, -1))
        with self.assertRaises(ValueError):
            window_as("width", 3, 0)

    def test_what_an_adapter_does_not_name_is_not_called(self):
        call = Call(q=None, k=None, v=None, softcap=30.0)
        call.refuse(softcap=True)
        with self.assertRaises(Refused):
            call.refuse(softcap=False)
        with self.assertRaises(NotCalled):
            call.refuse()


class Ratios(unittest.TestCase):
    def test_the_best_peer_counts(self):
        records = row(cuDNN={"seconds": 1.5})
        self.assertEqual(report.best_peer(records)["peer"], "cuDNN")
        self.assertEqual(report.ratio_of(records), 1.5)

    def test_a_refusal_leaves_a_row_comparable_and_nothing_else_does(self):
        self.assertEqual(report.ratio_of(row(cuDNN={"status": "refused"})), 2.0)
        for status in ("missing", "wrong", "not called"):
            records = row(cuDNN={"status": status})
            self.assertIsNone(report.ratio_of(records), status)
            self.assertTrue(report.remarks(records), status)
        records = row()
        del records["FA4"]
        self.assertIsNone(report.ratio_of(records))

    def test_a_wrong_peer_is_never_the_best(self):
        self.assertEqual(report.best_peer(row(FA4={"seconds": 0.1, "status": "wrong"}))["seconds"], 2)

    def test_rows_of_head_dim_128_say_who_is_absent(self):
        self.assertEqual(report.remarks(row()), [])
        self.assertIn("own package", report.remarks(row(head_dim=128))[0])

    def test_the_order_effect_is_that_of_the_worst_peer(self):
        records = row(FA4={"seconds_forward": 2.2})
        self.assertAlmostEqual(report.order_effect(records), 0.1)

    def test_two_runs_are_compared_row_by_row(self):
        first = {"records": list(row().values())}
        second = {"records": list(row(ours=1.05).values())}
        text = report.spread(first, second)
        self.assertIn("| a | 2.000 | 1.905 | 5.0 % |", text)
        self.assertIn("beyond 3 %: a", text)
        second["records"].pop()
        self.assertIn("not comparable", report.spread(first, second))


class Restart(unittest.TestCase):
    def test_a_kernel_that_breaks_the_process_costs_its_own_cell_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "run.json"
            run = subprocess.run([sys.executable, __file__, "--play", str(path)],
                                 capture_output=True, text=True, check=True, timeout=60)
            records = json.loads(path.read_text())["records"]
            self.assertEqual(sorted(os.listdir(folder)), ["run.json"])
        self.assertEqual(run.stdout.count("| case |"), 1)
        missing = [(r["case"], r["peer"], r["reason"]) for r in records if r["status"] != "timed"]
        self.assertEqual(missing, [("b", "FA4", "broke the process: illegal access"),
                                   ("b", "cuDNN", "broke the process: another one")])
        self.assertEqual([r["case"] for r in records], [*"aaa", *"bbb", *"ccc"])


def play(path):
    """time_all() on three cases, where two adapters lose the GPU's context on the second."""
    torch = types.ModuleType("torch")
    torch.__version__, torch.version = "none", types.SimpleNamespace(cuda="none")
    torch.empty = lambda *shape, **rest: None
    torch.cuda = types.SimpleNamespace(get_device_name=lambda: "none", empty_cache=lambda: None)
    library = types.ModuleType("swa_library")
    library.Library = lambda path: None
    sys.modules.update(torch=torch, swa_library=library)
    import peers

    adapters = [types.SimpleNamespace(NAME=name, version=lambda: "1")
                for name in ("swa", "FA4", "cuDNN")]
    peers.find_adapters = lambda arguments: adapters
    peers.problem_refusal = lambda case: None
    peers.listed_cases = lambda arguments: [{"case": name, "head_dim": 64} for name in "abc"]

    def time_case(library, adapters, absent, case, rounds, flush, broken):
        for peer, reason in (("FA4", "illegal access"), ("cuDNN", "another one")):
            if case["case"] == "b" and peer not in broken:
                raise peers.ContextLost(peer, reason)
        records = {}
        for a in adapters:
            records[a.NAME] = record(case["case"], a.NAME, 1.0)
            if a.NAME in broken:
                records[a.NAME] |= {"status": "missing",
                                    "reason": f"broke the process: {broken[a.NAME]}"}
        return records

    peers.time_case = time_case
    peers.time_all(types.SimpleNamespace(library="none", rounds=3, json=path))


if __name__ == "__main__":
    if "--play" in sys.argv:
        play(sys.argv[-1])
    else:
        with contextlib.redirect_stderr(io.StringIO()) as words:
            good = unittest.main(exit=False, argv=sys.argv[:1]).result.wasSuccessful()
        print(words.getvalue())
        sys.exit(not good)
