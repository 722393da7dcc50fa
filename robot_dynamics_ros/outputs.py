"""Everything the package writes for a user: beside its place under a name of its own, then renamed; never half."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.errors import ConfigError, DataError

BAG_MARK = "robot_dynamics"  # key of the custom data in the metadata of every bag this package writes
EFFORT_UNIT = "effort_unit"  # the same for the unit of its efforts: A or %, where a table states it


def command_line() -> str:
    """The command line of this process, by which what it writes names its origin."""
    return shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])


@contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """A block that writes `path`. Raises DataError naming it where the system refuses."""
    try:
        yield
    except OSError as error:
        raise DataError(f"{path}: cannot be written ({error.strerror or error})") from error


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A new file beside `path` to write into; it replaces `path` when the block ends without an error.

    Otherwise it is removed and `path` stays as it was. The new file has a name nobody could foresee, and a link at
    `path` is replaced, not followed. Raises OSError with `path` as its filename, for example on a full disk.
    """
    path = Path(path)
    temporary: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}."[:64], dir=path.parent)
        os.close(handle)
        temporary = Path(name)
        yield temporary
        with temporary.open("rb") as stream:
            os.fsync(stream.fileno())
        temporary.chmod(path.stat().st_mode & 0o777 if path.is_file() else 0o644)
        temporary.replace(path)
        temporary = None
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def write_atomically(path: str | Path, text: str) -> None:
    """Replace `path` by `text`: a reader sees the old or the new file. Raises OSError naming `path`.

    Bytes of file names that are no UTF-8 become `?`.
    """
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", errors="replace")


def write_arrays(path: str | Path, **arrays: Any) -> None:
    """Replace `path` by an .npz of these arrays. Raises OSError naming `path`."""
    with replacing(path) as temporary, temporary.open("wb") as stream:
        np.savez(stream, **arrays)


def refuse_existing(option: str, *paths: Path) -> None:
    """Raises ConfigError for the first path where something stands already."""
    for path in paths:
        if path.exists():
            raise ConfigError(option, str(path), "exists already; choose another name, or remove it")


def refuse_bag(path: str | Path, overwrite: bool = False, inputs: Iterable[str | Path] = ()) -> None:
    """Raise DataError unless a bag may be written at `path`.

    A new name or an empty directory may be used. With `overwrite` a bag that this package has written may be replaced;
    an input, a link, and whatever holds anything else never is.
    """
    path = Path(path)
    if not path.is_symlink() and (not path.exists() or (path.is_dir() and not any(path.iterdir()))):
        return
    place = path.resolve()
    if any(place == used or place in used.parents for used in (Path(p).resolve() for p in inputs)):
        raise DataError(f"{path}: is an input of this command and is not replaced; choose another name")
    if not is_own_bag(path):
        raise DataError(f"{path}: exists already and is no bag that robot-dynamics wrote; choose another name")
    if not overwrite:
        raise DataError(f"{path}: exists already; choose another name")


def is_own_bag(path: Path) -> bool:
    """True for a directory, not a link, of mcap files and a metadata.yaml that bears this package's mark."""
    if path.is_symlink() or not path.is_dir():
        return False
    files = list(path.iterdir())
    if any(f.is_symlink() or not f.is_file() or (f.suffix != ".mcap" and f.name != "metadata.yaml") for f in files):
        return False
    try:
        return f"{BAG_MARK}:" in (path / "metadata.yaml").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False


def remove_bag(path: Path) -> None:
    """Remove a bag of this package; nothing where there is none. Raises DataError for anything else."""
    refuse_bag(path, overwrite=True)
    if path.is_dir():
        shutil.rmtree(path)


@contextmanager
def new_bag(path: str | Path, overwrite: bool = False, inputs: Iterable[str | Path] = ()) -> Iterator[Path]:
    """A directory's name, free, of the same last part, to write a bag into; moved to `path` when the block ends.

    What stood there (see refuse_bag) is removed after that. Raises DataError naming `path`.
    """
    path = Path(path)
    refuse_bag(path, overwrite, inputs)
    beside: Path | None = None
    try:
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            beside = Path(tempfile.mkdtemp(prefix=f".{path.name}."[:64], dir=path.parent))
            yield beside / path.name
            refuse_bag(path, overwrite, inputs)
            if path.exists():
                path.rename(beside / "old")
            try:
                (beside / path.name).rename(path)
            except BaseException:  # Ctrl-C, too: what stood there would be removed with what is beside it
                if (beside / "old").exists():
                    (beside / "old").rename(path)
                raise
    finally:
        if beside is not None:
            shutil.rmtree(beside, ignore_errors=True)


def plain(value: Any) -> Any:
    """Arrays to lists, dataclasses to dicts, numbers that are not finite to None, for JSON."""
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [plain(v) for v in (value.tolist() if isinstance(value, np.ndarray) else value)]
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else None
    return value.item() if isinstance(value, np.generic) else value
