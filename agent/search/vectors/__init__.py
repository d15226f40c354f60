"""Texts to vectors, so that memory is found by what words mean. Optional: nothing here is used before one is configured
or installed, and every search does without.

`protocol` is the seam to the rankings, `encoder` the one to what makes vectors: `local` runs the folder of a model in
this process, which `model_folder` reads, and `remote` asks an OpenAI-compatible server.
"""

import os

# Embedding is work behind the talks: it shall leave the other cores to them, and on a busy machine the threads of a
# library wait for each other (measured with numpy: 44 passages for a second of processor time with one thread, 5 with
# two at a load of 11). Read by the libraries when they are loaded, which is after this.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
