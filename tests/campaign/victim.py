"""One solve that a fault is done to, and one after it, in a process of its own.

Started by :mod:`tests.campaign.faults` with the number of a socket, on which it tells how it stands
in lines of JSON, and waits for a byte between the two solves.
"""

from __future__ import annotations

import json
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from solvers.core.errors import GpuBridgeError
from solvers.core.problem import Problem
from solvers.highs import child
from tests.campaign.doors import DOORS
from tests.highs.models import covering, packing

MODELS: dict[str, Callable[[int], Problem]] = {
    "lp": lambda seed: packing(300, 600, seed),
    "mip": lambda seed: covering(400, 200, seed, integer=True),
}
"""A linear program of a second or so, and a mixed-integer one of more than a minute."""


def main() -> None:
    """Solve as the words say, tell of it, and solve a small model by the same door."""
    line = socket.socket(fileno=int(sys.argv[1]))
    words = json.loads(sys.argv[2])
    folder = Path(words["folder"])
    door, options = DOORS[words["door"]], words["options"]
    problem = MODELS[words["model"]](words["seed"])
    for name in ("SMALL_LP", "SMALL_MIP", "SMALL_STUBBORN"):
        setattr(child, name, -1)  # everything goes to children
    small = {"method": "highs", "device": "cpu"}
    door(covering(6, 5), small, folder)  # what is imported first is not what is looked at

    def tell(event: str, **fields: Any) -> None:
        line.sendall(json.dumps({"event": event, **fields}).encode() + b"\n")

    try:
        tell("begins")
        _, claim = door(problem, options, folder)[0]
        told = {"status": claim.status.name, "reason": claim.reason, "words": claim.message}
    except KeyboardInterrupt:
        told = {"raised": "KeyboardInterrupt"}
    except GpuBridgeError as error:
        told = {"raised": type(error).__name__, "words": str(error), "ours": True}
    except Exception as error:
        told = {"raised": type(error).__name__, "words": str(error)}
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tell("answer", **told)
    line.recv(1)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    _, claim = door(covering(20, 10), small, folder)[0]
    tell("next", status=claim.status.name)


if __name__ == "__main__":
    main()
