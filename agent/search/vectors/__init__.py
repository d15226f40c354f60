"""Optional search by meaning. `protocol` is the interface to rankings, `encoder` the one to models: `local` runs a
model folder in this process, `remote` calls an OpenAI-compatible server."""

import os

# Embedding is background work, so it uses one core; on a busy machine a library's threads wait for each other (measured
# with numpy at a load of 11: 44 passages per second of processor time with one thread, 5 with two). The libraries read
# these variables when they are imported, which is after this.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
