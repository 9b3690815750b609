"""swa's own kernels, from its shared library: the one that its dispatch picks for the call."""

import torch

from call import Refused

NAME = "swa"
WINDOW = "keys"
library = None  # a swa_library.Library, set by peers.py


def version():
    return "this build"


def prepare(call):
    out = torch.full_like(call.q, float("nan"))
    lse = torch.full((call.q.shape[0], call.q.shape[2], call.q.shape[1]), float("nan"),
                     device=call.q.device)
    try:
        library.kernel(call)
    except RuntimeError as reason:
        raise Refused(str(reason)) from reason

    def run():
        library.forward(call, out, lse)
        return out, lse

    return run
