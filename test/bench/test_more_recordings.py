"""More recordings do no harm: a file of several is at least as good as that of the best single one."""

import numpy as np
import pytest

from bench.force import recordings, zoo
from robot_dynamics_ros.identification.arm.export import write_outputs
from robot_dynamics_ros.identification.arm.identify import identify_recordings
from robot_dynamics_ros.identification.arm.state import Options
from robot_dynamics_ros.identification.dataset.recording import recording
from robot_dynamics_ros.robot_file import load_robot

TUNING = zoo.families("tuning")


@pytest.fixture(scope="module")
def ur5e():
    return load_robot("ur5e")


def force_error(ur5e, logs, unseen, folder):
    """RMS force error [N] of a replay, by the file that these recordings give."""
    found = identify_recordings(ur5e, [recording(log, f"bag_{i}") for i, log in enumerate(logs)], [], Options())
    robot = load_robot(write_outputs(found, folder, [])["robot_file"])
    log = recordings.replayed(robot, unseen.log)
    late = log.time > 2.0
    return np.sqrt(np.mean((log.external_wrench - unseen.truth["external_wrench"])[late, :3] ** 2))


@pytest.mark.long
@pytest.mark.parametrize(("drawn", "count"), [((2, 0, ["lugre", "gms"]), 2), ((8, 2, TUNING), 3)])
def test_several_recordings_are_at_least_as_good_as_the_best_one(ur5e, tmp_path, drawn, count):
    """Force error of a replay that was not used, by the file of each recording alone and of all together; the three
    are of stop and go, slow and periodic motion, and the slow one alone does not support a model.
    """
    who = zoo.individuals(ur5e, *drawn)[1]
    logs = [recordings.recorded(ur5e, who, k)[0] for k in range(count)]
    unseen = recordings.trial(ur5e, who, "moves")
    single = [force_error(ur5e, [log], unseen, tmp_path / str(k)) for k, log in enumerate(logs)]
    together = force_error(ur5e, logs, unseen, tmp_path / "all")
    assert together <= 1.05 * min(single), (single, together)
