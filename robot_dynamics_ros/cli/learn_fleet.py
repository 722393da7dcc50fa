"""`robot-dynamics learn-fleet`: what robots of one model have in common, as the prior of the next one."""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np

from robot_dynamics_ros.cli.options import NewPath
from robot_dynamics_ros.cli.printed import console, stderr


@click.command("learn-fleet")
@click.argument("states", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", type=NewPath(fresh=True, suffix=".npz"), required=True, help="Prior to write, for learn.")
def command(states: tuple[Path, ...], out: Path) -> None:
    """Merge the STATES (directories of `learn`) of robots of one model into a fleet's prior.

    Example: robot-dynamics learn-fleet cells/* --out fleet.npz
    """
    from robot_dynamics_ros.learning.fleet import learn_fleet, save_prior
    from robot_dynamics_ros.learning.update import file_prior

    with stderr.status("reading") as status:
        prior, left = learn_fleet(states, status.update)
    for text in left:
        console.print(f"left out: {text}")
    used = len(states) - len(left)
    save_prior(prior, out)
    first = file_prior(prior.columns)
    ratio = np.sqrt(np.diag(prior.covariance) / np.diag(first.covariance))
    b = prior.columns.base
    console.print(
        f"{used} robots; deviations against the data sheet's, median: {np.median(ratio[:b]):.2f} of links, "
        f"{np.median(ratio[b:]):.2f} of friction and rotors"
    )
    console.print(f"prior: {out}")
