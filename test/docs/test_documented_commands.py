"""Every command of README and docs: its options exist; each that can run here runs on sample data (long)."""

import re
import shlex
import shutil
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from synthetic import synthetic_log, truth_of

from bench.__main__ import cli as laboratory
from robot_dynamics_ros.bags import write_bag
from robot_dynamics_ros.cli.main import COMMANDS, cli
from robot_dynamics_ros.models.urdf_import import robot_from_urdf
from robot_dynamics_ros.robot_file import load_robot, save_robot

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PROGRAMS = {"robot-dynamics": cli, "python -m bench": laboratory}
OURS = re.compile(rf"--|robot-dynamics |python -m bench |({'|'.join(COMMANDS)}) ")
# first match decides; whatever matches none runs
REASONS = {
    r"--ip (?!127)": "needs a robot",
    r" (up|play|record|simulate) ": "runs until it is interrupted; tests of nodes and simulation start it",
    r"--reference": "needs a recording with a force sensor (test/estimators/test_reference.py)",
    r"--vendor": "needs a recording with the vendor's estimate (test/cli/test_vendor.py)",
    r"--collisions": "needs half a minute without contact (test/estimators/test_replay.py)",
    r"--effort current": "needs a recording of currents (test/test_examples.py)",
    r"ur-friction-scales": "needs identified friction (test/control/test_friction_scales.py)",
    r"--what (friction|drives)|docs/friction.*steps\.csv": "minutes long (test/identification/test_identify_joints.py)",
    r"friction/ur5e_friction": "the result of the command before",
    r"learn-fleet|--prior": "needs the states of a fleet (test/learning/test_fleet_command.py)",
    r"\\$m|wear/|fleet/": "a loop of the shell over months of recordings (test/health/test_health_years.py)",
    r"docs/your_own_robot": "runs in test_your_own_robot.py",
}


def documented():
    """(page, words) of every line in a fenced block that calls a command of this package."""
    for page in PAGES:
        blocks = re.findall(r"^ *```(\w*)\n(.*?)^ *```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
        for block in (text for language, text in blocks if language in ("", "bash", "text")):
            for line in block.replace("\\\n", " ").splitlines():
                found = re.match(r"\s*(?:\$ )?((?:robot-dynamics|python -m bench) .*?)(?: +# .*)?$", line)
                if found and "|" not in found[1].split("[")[0]:
                    yield page.relative_to(ROOT).as_posix(), found[1]


LINES = list(documented())


def command_of(line):
    program = next(name for name in PROGRAMS if line.startswith(name))
    name, *words = shlex.split(line[len(program) :])
    return PROGRAMS[program].get_command(click.Context(PROGRAMS[program]), name), name, words


def options_of(command):
    """Options of a command, and of the commands of a group."""
    context = click.Context(command)
    own = {option for p in command.get_params(context) for option in (*p.opts, *p.secondary_opts)}
    names = command.list_commands(context) if isinstance(command, click.Group) else []
    return own.union(*(options_of(command.get_command(context, name)) for name in names))


@pytest.mark.parametrize(("page", "line"), LINES, ids=[f"{page}: {line[:60]}" for page, line in LINES])
def test_the_command_and_its_options_exist(page, line):
    command, name, words = command_of(line)
    assert command is not None, name
    assert {word.split("=")[0] for word in re.findall(r"--[a-z][\w-]*", " ".join(words))} <= options_of(command)
    if "[" not in line and "..." not in line:
        command.make_parser(click.Context(command)).parse_args(words)  # a value that is missing, an option too many


def test_every_option_that_a_page_names_exists():
    known = options_of(cli) | options_of(laboratory)
    known |= {"--ros-args", "--symlink-install", "--break-system-packages"}  # of ros2, colcon and pip
    for page in PAGES:
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for code in filter(OURS.match, re.findall(r"`([^`]+)`", text)):
            assert set(re.findall(r"(?<![\w-])--[a-z][\w-]*", code)) <= known, (page.name, code)


def test_every_command_is_documented():
    assert {command_of(line)[1] for _, line in LINES if line.startswith("robot-dynamics")} >= set(COMMANDS) - {"demo"}


def reason(page, line):
    return next((why for pattern, why in REASONS.items() if re.search(pattern, f"{page}: {line} ")), None)


def test_every_reason_is_needed():
    for pattern in REASONS:
        assert any(re.search(pattern, f"{page}: {line} ") for page, line in LINES), pattern


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    """Bags of every name that the pages use, of a UR5e and of an arm from a URDF; robot files and a motion."""
    folder = tmp_path_factory.mktemp("samples")
    shutil.copy(Path(__file__).with_name("own_arm.urdf"), folder / "own.urdf")
    own = robot_from_urdf(folder / "own.urdf", torque_side="motor", effort_unit="Nm", tip="tool0", name="my_arm")
    ur5e = load_robot("ur5e")
    for robot, name in ((own, "own"), (ur5e, "ur")):
        truth = truth_of(robot, seed=3)
        for seed in (1, 2, 3):
            log = synthetic_log(robot, truth, seed, duration=16.0, noise=0.005, amplitude=0.6)
            log.stamp_ns += seed * 30 * 86_400 * 10**9
            write_bag(log, folder / f"{name}{seed}", topics=["joint_states"])
    save_robot(own, folder / "own.yaml")
    save_robot(ur5e, folder / "ur.yaml")
    return folder


RUN = [(page, line) for page, line in LINES if "[" not in line and not reason(page, line)]


@pytest.mark.long
@pytest.mark.parametrize("page", sorted({page for page, _ in RUN}))
def test_what_the_page_shows_runs(page, samples, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    count = 0
    for line in (line for where, line in RUN if where == page):
        _, _, words = command_of(line)
        for k, word in enumerate(words):
            count = provided(word, k and words[k - 1], words, samples, count)
        program = PROGRAMS[next(name for name in PROGRAMS if line.startswith(name))]
        done = CliRunner().invoke(program, shlex.split(line)[3 if line.startswith("python") else 1 :])
        assert done.exit_code in (0, 3), (line, done.output, done.exception)  # 3: written, verdict "not usable"


def provided(word, option, words, samples, count):
    """A sample at the place of an input that is not there yet."""
    if word.startswith("-") or option == "--out" or Path(word).exists():
        return count
    kind = "ur" if any("ur5e" in w for w in words) else "own"
    if word.endswith(".urdf"):
        shutil.copy(samples / "own.urdf", word)
    elif word.endswith(".yaml"):
        Path(word).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(samples / ("ur.yaml" if "ur5e" in word else "own.yaml"), word)
    elif option in (0, "--validate", "--what", "compare") or not option.startswith("--"):
        if not re.fullmatch(r"[a-z]\w*|.*\.(bag|mcap)", word) or word in ("ur5e", "fr3", "compare"):
            return count
        count = count % 3 + 1
        bag = samples / f"{kind}{count}"
        if word.endswith(".mcap"):
            shutil.copy(next(bag.glob("*.mcap")), word)
        else:
            shutil.copytree(bag, word)
    return count
