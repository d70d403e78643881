"""The host's memory where the host computes: on CPUs."""

import os
import sys

import jax

# One arena that never gives memory back, in huge pages. By default glibc maps every large buffer
# anew, and zeroing its pages takes as long as a pass of arithmetic over it.
_TUNABLES = {
    "glibc.malloc.arena_max": 1,
    "glibc.malloc.hugetlb": 1,
    "glibc.malloc.mmap_max": 0,
    "glibc.malloc.trim_threshold": 2**40,
}


def restart_reusing_memory() -> None:
    """Starts this program again so that XLA's buffers reuse memory; call it first in `main`.

    Only on Linux, only where JAX computes on the CPU, and not where GLIBC_TUNABLES is set, to
    anything: set it to an empty string to go without. `benchmarks/train_step.py` shows the gain.
    """
    if sys.platform != "linux" or "GLIBC_TUNABLES" in os.environ or jax.default_backend() != "cpu":
        return
    os.environ["GLIBC_TUNABLES"] = ":".join(f"{name}={value}" for name, value in _TUNABLES.items())
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
