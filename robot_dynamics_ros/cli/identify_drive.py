"""`robot-dynamics identify --what drives`: torque constants, rotor inertia, losses and energy from bags."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from robot_dynamics_ros.cli.printed import console, joint_table, print_files, print_notes, stderr, write_json
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.outputs import refuse_existing


def identify_drive(bags: tuple[Path, ...], robot: str, validate: tuple[Path, ...], topic: str, out: Path) -> None:
    """Torque constants, rotor inertia, losses and energy from bags with motor currents.

    Writes a robot file with the parameters that are sufficiently accurate.
    """
    from robot_dynamics_ros.bags.storage import bag_files
    from robot_dynamics_ros.identification.arm.state import Options
    from robot_dynamics_ros.identification.dataset.initial_model import any_robot
    from robot_dynamics_ros.identification.drive.identify import as_dict, identified_drives, identify_drives
    from robot_dynamics_ros.robot_file import save_robot

    arm = any_robot(robot, bags)
    refuse_existing("--out", path := out / f"{arm.name}_drives.yaml", out / "drives.json")
    with stderr.status("identifying drives"):
        found = identify_drives(arm, bags, validate, Options(topic=topic))
    result = as_dict(found)
    try:
        written = identified_drives(found)
        save_robot(written, path, inputs=bag_files([*bags, *validate]), changed=["drives"])
        result["files"] = {"robot_file": str(path)}
    except DataError as error:
        result["files"], result["warnings"] = {}, [*result["warnings"], str(error)]
    write_json(out / "drives.json", result)
    _show(result)


def _show(result: dict[str, Any]) -> None:
    v = result["validation"]
    heads = ("K_tau Nm/A", "rotor kg m2", "kv Nm s/rad", "T dir Nm", "T rev Nm", "R2", "RMS mA")
    table = joint_table(result["joint_names"], *heads)
    rotor = result["rotor_inertia"] or {"values": [None] * len(result["joint_names"])}
    rows = zip(
        result["joint_names"], result["drives"], rotor["values"], v["current"]["r2"], v["current"]["rms"], strict=True
    )
    for name, fit, inertia, r2, rms in rows:
        x, s = (fit["values"], fit["std"]) if fit else ({}, {})
        K = f"{x['torque_constant']:.2f} +- {s['torque_constant']:.2f}" if fit else "-"
        cells = [inertia, x.get("kv"), x.get("tc_dir"), x.get("tc_rev"), r2, None if rms is None else 1e3 * rms]
        table.add_row(name, K, *("-" if c is None else f"{c:.4g}" for c in cells))
    console.print(table)
    console.print(f"R2 and RMS of the current in motion, {v['samples']} samples; {v['split']}")
    _show_energy(v)
    print_notes(result["statements"], result["warnings"])
    print_files(result["files"])


def _show_energy(v: dict[str, Any]) -> None:
    e = v["energy"]
    if e is None:
        console.print(f"no energy: {v.get('no_energy', 'torque constants are unknown')}")
        return
    names = ("electrical", "electrical_clamped", "mechanical")
    electrical, clamped, mechanical = (e[name][-1] for name in names)
    share = "" if e["efficiency"][-1] is None else f"; efficiency {e['efficiency'][-1]:.2f}"
    console.print(
        f"energy: {electrical:.0f} J electric ({clamped:.0f} J where what flows back is lost), "
        f"{mechanical:.0f} J mechanical{share}"
    )
