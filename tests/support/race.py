"""A program with a race, which ThreadSanitizer must find: two calls write to the same array."""

import threading

import numpy as np

from onehot_fast import one_hot

indices = np.arange(200_000) % 10
out = np.empty((200_000, 10), np.float32)
barrier = threading.Barrier(2)


def write() -> None:
    """Write one-hot rows a few times."""
    barrier.wait()
    for _ in range(3):
        one_hot(indices, 10, out=out, num_threads=2)


threads = [threading.Thread(target=write) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
