"""Optional search by meaning. `protocol` is the interface to rankings, `encoder` the one to models: `local` runs a
model folder in this process, `remote` calls an OpenAI-compatible server."""

import os

# Embedding is work behind the talks: it shall leave the other cores to them, and on a busy machine the threads of a
# library wait for each other (measured with numpy: 44 passages for a second of processor time with one thread, 5 with
# two at a load of 11). Read by the libraries when they are loaded, which is after this.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
