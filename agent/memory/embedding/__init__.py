"""Texts to vectors, so that memory is found by what words mean. Optional: nothing here is used before one is configured
or installed, and every search does without.

`encoder` is the seam; `bert` runs a model folder in this process with numpy alone, `server` asks an OpenAI-compatible
one. `embedder` keeps either to a deadline.
"""

import os

# Embedding is work behind the talks: it shall leave the other cores to them, and on a busy machine numpy's threads wait
# for each other (measured: 44 passages for a second of processor time with one thread, 5 with two at a load of 11).
# Read by numpy's libraries when they are loaded, which is after this.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
