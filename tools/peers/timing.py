"""Runs of several kernels on one problem, in turns, on one GPU."""

import statistics

import torch

FLUSH_BYTES = 256 << 20  # more than four times the L2
WARM_UPS = 3


class Runner:
    """A kernel that can be run again and again: a CUDA graph, or launches where it cannot be
    captured."""

    def __init__(self, run):
        self._run = run
        for _ in range(WARM_UPS):
            self.result = run()
        torch.cuda.synchronize()
        self.method = "graph"
        try:
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                self.result = run()
            self.replay = graph.replay
            self._graph = graph
        except Exception as error:  # noqa: BLE001: whatever a library throws in a capture
            torch.cuda.synchronize()
            self.method, self.reason = "launch", f"not captured: {first_line(error)}"
            self.replay = self._replay_by_launch
        self.replay()
        torch.cuda.synchronize()

    def replay_on_poison(self):
        """Once more, on outputs that hold NaN where the graph owns them."""
        results = self.result if isinstance(self.result, (tuple, list)) else [self.result]
        for tensor in results:
            if torch.is_tensor(tensor) and tensor.is_floating_point():
                tensor.fill_(float("nan"))
        self.replay()
        torch.cuda.synchronize()

    def _replay_by_launch(self):
        self.result = self._run()


def first_line(error):
    return (str(error).strip() or type(error).__name__).splitlines()[0][:200]


def interleave(runners, rounds, flush):
    """Milliseconds of each round, by name. Each round begins with another kernel, and every second
    one runs backwards, so that none has a fixed predecessor."""
    names = list(runners)
    times = {name: [] for name in names}
    for round_ in range(-WARM_UPS, rounds):
        shift = (round_ + WARM_UPS) % len(names)
        order = names[shift:] + names[:shift]
        for name in order if round_ % 2 == 0 else reversed(order):
            flush.fill_(round_ % 7)
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            runners[name].replay()
            end.record()
            torch.cuda.synchronize()
            if round_ >= 0:
                times[name].append(start.elapsed_time(end))
    return times


def summary(milliseconds):
    """Seconds: median, least and quartiles; and the medians of both orders."""
    q1, median, q3 = statistics.quantiles(milliseconds, n=4, method="inclusive")
    return {
        "seconds": median * 1e-3, "seconds_min": min(milliseconds) * 1e-3,
        "seconds_q1": q1 * 1e-3, "seconds_q3": q3 * 1e-3,
        "seconds_forward": statistics.median(milliseconds[::2]) * 1e-3,
        "seconds_backward": statistics.median(milliseconds[1::2]) * 1e-3,
    }
