"""Programs that several ranks run together: started here, and what each rank said.

A program is a file that defines ``play(fa, rank, world, given)``, with the adapter as it was imported. What it returns
is JSON. It runs on gloo, on a simulated device, with no build installed yet: `install` makes one the adapter's.
"""

from __future__ import annotations

import datetime
import importlib.util
import json
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def together(program: Path, folder: Path, adapter: Path, *, world: int = 2, limit: float = 240.0, **given: Any) -> Any:
    """What every rank said; one that outlives the limit, or fails, fails the test."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = json.dumps({**given, "port": port, "world": world, "adapter": str(adapter)})
    ranks = []
    for rank in range(world):
        command = [sys.executable, str(Path(__file__)), str(program), str(rank), options]
        with (folder / f"stdout{rank}").open("w") as out, (folder / f"stderr{rank}").open("w") as errors:
            ranks.append(subprocess.Popen(command, stdout=out, stderr=errors))
    deadline = time.monotonic() + limit
    try:
        for rank in ranks:
            rank.wait(timeout=max(0.0, deadline - time.monotonic()))
    finally:
        for rank in ranks:
            rank.kill()
            rank.wait()
    errors = "".join((folder / f"stderr{rank}").read_text()[-3000:] for rank in range(world))
    assert [rank.returncode for rank in ranks] == [0] * world, errors
    return [json.loads((folder / f"stdout{rank}").read_text().splitlines()[-1]) for rank in range(world)]


def load(path: Path | str, name: str) -> Any:
    """A module from its file, under a name of its own."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def install(fa: Any, build: Any, rank: int, **machine: Any) -> Any:
    """Make a simulated build the one that the adapter finds, on a device that can do everything."""
    build.install()
    adapter = fa.Adapter(fa.DATA, fa.CONDITIONS)
    fa.install(adapter)
    known = {"cuda": True, "capability": (10, 0), "device": rank, "free_memory": 1 << 40, "node": "here"}
    known |= {"gpu": f"GPU-{rank}", "multicast": True, "kind": "cpu", **machine}
    fa.probe_machine = lambda: fa.Machine(**known)
    fa.unreachable = lambda machine, gpus: None
    return adapter


def main() -> None:
    sys.path.insert(0, str(ROOT))
    import torch
    import torch.distributed as dist

    program, rank, given = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
    torch.set_num_threads(1)
    address = f"tcp://127.0.0.1:{given['port']}"
    wait = datetime.timedelta(seconds=60)
    dist.init_process_group("gloo", init_method=address, rank=rank, world_size=given["world"], timeout=wait)
    fa = load(given["adapter"], "fi_adapter")
    said = load(program, "program").play(fa, rank, given["world"], given)
    dist.barrier()
    dist.destroy_process_group()
    sys.stdout.write(json.dumps(said) + "\n")


if __name__ == "__main__":
    main()
