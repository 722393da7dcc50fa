"""`python -m bench NAME`: the one entry of the laboratory."""

from __future__ import annotations

import click

from robot_dynamics_ros.cli.main import LazyGroup, run

COMMANDS: dict[str, tuple[str, str]] = {
    "reproduce": ("reproduce", "run the papers' protocols and compare the results"),
    "force": ("force", "force errors and coverage on many simulated robots"),
    "wrench": ("wrench", "the open benchmark of contact force and collisions"),
    "duel": ("duel", "identification by this package and by what others do"),
    "arms": ("arms", "what one recording gives for arms that are not shipped"),
    "vendor": ("vendor", "a vendor's force at rest beside ours, before and after identify"),
    "warm-up": ("warm_up", "drift of the contact force of a real arm that warms up"),
    "pictures": ("pictures", "draw the looping picture of the README, and friction of a joint"),
    "learning": ("learning", "learning from ordinary work on many simulated robots"),
    "export": ("export", "motions of exported MuJoCo models"),
    "faults": ("faults", "inject faults into the torque path and check the reaction"),
    "endurance": ("endurance", "long run of torque control with a fault every minute"),
    "speed": ("speed", "benchmarks, compared with other libraries"),
    "latency": ("latency", "rate, latency, losses and CPU of the nodes"),
}


class Laboratory(LazyGroup):
    """The commands above; `speed` leaves BLAS its threads, as the peers it compares with have them."""

    package, table, all_threads = "bench.commands", COMMANDS, "speed"
    groups = {"Commands": COMMANDS}


@click.group("python -m bench", cls=Laboratory, context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """The laboratory of robot_dynamics_ros: papers, zoo, faults, endurance and benchmarks, run from a clone."""


if __name__ == "__main__":
    run(cli)
