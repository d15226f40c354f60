"""Builds the embedder that the configuration asks for."""

from __future__ import annotations

import logging
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from agent.languages.sentences import Sentence
from agent.search.vectors.encoder import Embedder, Encoder, NoEmbedding
from agent.search.vectors.model_folder import has_graph, read_folder, stamp
from agent.search.vectors.protocol import NoSemanticIndex, SemanticIndex
from agent.search.vectors.remote import RemoteEncoder
from agent.settings import LocalEmbedderSettings, RemoteEmbedderSettings
from gateway.config.schema import Embedding
from gateway.config.schema import LocalEmbedding as LocalConfig
from gateway.config.schema import RemoteEmbedding as RemoteConfig
from gateway.home import Home

if TYPE_CHECKING:
    from agent.search.vectors.local import LocalModel

log = logging.getLogger(__name__)

INSTALL = "pip install 'daybook-assistant[meaning]'"
OLD_MODEL = Sentence("the installed model is of a kind that is no longer supported")
_LOCAL = ("numpy", "onnxruntime", "tokenizers")
_REMOTE = ("numpy",)


def embedding_of(config: Embedding, home: Home) -> LocalEmbedderSettings | RemoteEmbedderSettings | None:
    """The settings of the configuration; with `auto`, of a model in the home that can run here."""
    match config:
        case "none":
            return None
        case LocalConfig():
            return LocalEmbedderSettings(home.path / Path(config.model_dir).expanduser())
        case RemoteConfig():
            key = config.api_key.get_secret_value() if config.api_key else ""
            return RemoteEmbedderSettings(config.base_url, config.model, key)
        case _:
            return LocalEmbedderSettings(model_folder(home)) if is_there(home) and not missing(_LOCAL) else None


def model_folder(home: Home) -> Path:
    return home.state / "models" / "embedding"


def is_there(home: Home) -> bool:
    return has_graph(model_folder(home))


def has_old_model(home: Home) -> bool:
    """True for a model in the layout of an earlier version."""
    try:
        return (model_folder(home) / "model.safetensors").is_file() and not is_there(home)
    except OSError:
        return False


def unreadable(home: Home) -> str:
    """Why the installed model cannot be read, without a full stop, or ""."""
    if is_there(home) or has_old_model(home) or not _lies_there(home):
        return ""
    try:
        read_folder(model_folder(home))
    except NoEmbedding as problem:
        return Sentence("the installed model can't be read: {why}", why=problem)
    return ""


def _lies_there(home: Home) -> bool:
    try:
        return any(model_folder(home).iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True


def missing(libraries: tuple[str, ...] = _LOCAL) -> str:
    """The missing libraries of a local model as a sentence without a full stop, or ""."""
    absent = [name for name in libraries if find_spec(name) is None]
    if not absent:
        return ""
    if len(absent) == 1:
        return Sentence("{library} is not installed (`{install}`)", library=absent[0], install=INSTALL)
    return Sentence("{libraries} are not installed (`{install}`)", libraries=", ".join(absent), install=INSTALL)


def needs(settings: LocalEmbedderSettings | RemoteEmbedderSettings) -> str:
    """`missing` for these settings."""
    return missing(_LOCAL if isinstance(settings, LocalEmbedderSettings) else _REMOTE)


def encoder(settings: LocalEmbedderSettings | RemoteEmbedderSettings) -> Encoder:
    """Builds the encoder of these settings. Blocks. Raises `NoEmbedding`."""
    if isinstance(settings, RemoteEmbedderSettings):
        return RemoteEncoder(settings.base_url, settings.model, settings.api_key)
    return local_encoder(settings)


def local_encoder(settings: LocalEmbedderSettings) -> LocalModel:
    """Loads a local model. Blocks. Raises `NoEmbedding`."""
    if absent := missing():
        raise NoEmbedding(absent)
    from agent.search.vectors.local import LocalModel  # noqa: PLC0415 (70 MB, only for a local model)

    return LocalModel(settings.folder)


class Embedders:
    """One encoder for each model, shared by all agents."""

    def __init__(self) -> None:
        self._known: dict[LocalEmbedderSettings | RemoteEmbedderSettings, Embedder] = {}

    def semantic_index(self, settings: LocalEmbedderSettings | RemoteEmbedderSettings | None) -> SemanticIndex | None:
        if settings is None:
            return None
        if absent := needs(settings):
            log.warning("memory is searched by words only: %s", absent)
            return NoSemanticIndex(absent)
        from agent.search.vectors.semantic import EmbeddingIndex  # noqa: PLC0415 (numpy, only where it is asked for)

        known = self._known.get(settings)
        if known is None:
            folder = settings.folder if isinstance(settings, LocalEmbedderSettings) else None
            stamped = partial(stamp, folder) if folder is not None else lambda: None
            known = self._known[settings] = Embedder(partial(encoder, settings), stamp=stamped)
        return EmbeddingIndex(known)

    def close(self) -> None:
        for embedder in self._known.values():
            embedder.close()
