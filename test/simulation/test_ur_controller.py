"""The simulated UR controller against the unmodified ur_rtde clients, each in a process of its own."""

import subprocess
import sys

from robot_dynamics_ros.simulation.ur_controller.launcher import SimulatedUR


def run_client(code: str, host: str) -> str:
    """Run client code with the ur_rtde interfaces in a subprocess and return what it prints."""
    prelude = "import sys\nimport numpy as np\nimport rtde_receive, rtde_control\nhost = sys.argv[1]\n"
    done = subprocess.run([sys.executable, "-c", prelude + code, host], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_receive_and_movej():
    code = """
receive = rtde_receive.RTDEReceiveInterface(host)
control = rtde_control.RTDEControlInterface(host)
target = np.array(receive.getActualQ()) + [0.2, 0, 0, 0, 0, 0.1]
assert control.moveJ(target.tolist(), 1.0, 4.0)
print(np.abs(np.array(receive.getActualQ()) - target).max())
"""
    with SimulatedUR() as ur:
        assert float(run_client(code, ur.host)) < 1e-2
