"""`python -m bench arms`: what one recording gives for arms that are not shipped."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from bench.page import report, save_option
from robot_dynamics_ros.errors import ConfigError


@click.command("arms")
@click.argument("names", nargs=-1)
@click.option("--gen3", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Public log of a Gen3.")
@save_option
def command(names: tuple[str, ...], gen3: Path | None, save: bool) -> None:
    """Excite, rehearse, identify, replay with the arms NAMES of bench/arms/arms.csv; default: all.

    Example: python -m bench arms xarm6 gen3
    """
    from bench.arms.zoo import HEAD, arms, recorded, rehearsed

    known = arms()
    for name in names:
        if name not in known:
            raise ConfigError("arms", "NAMES", f"{name!r} is none of {', '.join(known)}")
    with tempfile.TemporaryDirectory() as folder:
        log = [] if gen3 is None else [recorded(known["gen3"], gen3, Path(folder) / "log")]  # fails early, if it does
        rows = [rehearsed(known[name], Path(folder) / name) for name in names or known]
    report([HEAD, *rows, *log], save, "arms", " ".join(names) or "table")
