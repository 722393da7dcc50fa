"""Every rule of the guard, removed in turn from a copy: which test fails? None may go unnoticed.

`make mutants`, or `python tools/mutants.py [WORD]` for the rules whose name holds WORD. Exit status 1 when the
tests pass without a rule. The guard alone is compiled, into a module of its own that takes the place of the core's.
"""

import os
import re
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
HEADER = Path("robot_dynamics/control/guard.hpp")
TESTS = ("test_guard.py", "test_guard_states.py")
MODULE = """
#define robot_dynamics mutant_of_the_guard
#include "{bindings}/bind_guard.cpp"
PYBIND11_MODULE(guard_mutant, m) {{ bindings::guard::bind(m); }}
"""
PLUGIN = """
import guard_mutant
from robot_dynamics_ros import _core
for name in ("Guard", "GuardLimits", "GuardReason", "GuardState"):
    setattr(_core, name, getattr(guard_mutant, name))
from hypothesis import Phase, settings
settings.register_profile("mutants", phases=[Phase.explicit, Phase.generate])  # a failure need not be shrunk
settings.load_profile("mutants")
"""

# rule -> (its text in the header, the text without it); an empty text: nothing is left
MUTANTS: dict[str, tuple[str, str]] = {
    "a command is finite": ("if (!std::isfinite(torque[i])) return trip(GuardReason::command_not_finite, true);", ";"),
    "a command means what the file says": (
        "if (!(semantics == limits_.semantics)) return trip(GuardReason::semantics, false);",
        "",
    ),
    "no command is newer than the states": (
        "if (!(seconds_between(stamp_ns, newest) <= hold()))\n    return note(GuardReason::command_age);",
        "",
    ),
    "magnitude": ("std::clamp(allowed, -limits_.torque[i], limits_.torque[i])", "allowed"),
    "rate": ("std::clamp(cut, out_[i] - step_limit, out_[i] + step_limit)", "cut"),
    "no burst after a late call": ("std::clamp(passed, 0.0, limits_.cycle)", "std::max(passed, 0.0)"),
    "a late call cuts no more than a degraded gap": ("std::min(passed, limits_.degraded_gap)", "passed"),
    "velocity": ("std::fabs(v) >= limits_.velocity[i] && wanted * v > 0", "false"),
    "upper position": ("(stop >= limits_.position_upper[i] && wanted > 0)", "false"),
    "lower position": ("(stop <= limits_.position_lower[i] && wanted < 0)", "false"),
    "way of braking": ("q_[i] + v * std::fabs(v) / (2 * limits_.deceleration[i])", "q_[i]"),
    "limits hit for long": ("if (clamped_cycles_ >= limits_.sustained_cycles) {", "if (false) {"),
    "silence seen by the clock": ("if (!(gap <= limits_.safe_gap)) return trip(GuardReason::state_gap, false);", ""),
    "silence seen in the stamps": (
        "if (have_state_ && active() && !(seconds_between(stamp_ns, state_at_.robot_ns) <= limits_.safe_gap))",
        "if (false)",
    ),
    "degraded": ("if (gap > limits_.degraded_gap) {", "if (false) {"),
    "dead-man switch": ("if (!held(now_ns)) return trip(GuardReason::enable_lost, false);", ""),
    "enable with the switch held": ("!fresh || !held(now_ns)", "!fresh"),
    "a switch let go is not held": ("if (reason == GuardReason::enable_lost) held_ = false;", ""),
    "deadlines on the host's clock": (
        "std::max(seconds_between(now_ns, then.robot_ns), host_ - then.host)",
        "seconds_between(now_ns, then.robot_ns)",
    ),
    "no torque rises in the cycle that latches": (
        "for (int i = 0; i < limits_.n; ++i) out_[i] = toward_zero(before[i], out_[i]);",
        "",
    ),
    "age of a command": ("if (!(age_ <= max_age)) return trip(GuardReason::command_age, false);", ""),
    "first command": ("have_command_ ? limits_.safe_gap : limits_.first_command", "have_command_ ? 0.04 : 1e9"),
    "fading": ("late ? std::max(0.0, 1.0 - (age_ - hold()) / limits_.ramp) : 1.0", "1.0"),
    "frozen": ("frozen_ >= limits_.frozen_cycles &&", "false &&"),
    "apart": ("apart(stamp_ns, q, qd) &&", "false &&"),
    "a state twice is one": ("if (have_state_ && stamp_ns == state_at_.robot_ns) return;", ""),
    "states backwards": (
        "trip(GuardReason::state_clock, false);\n    else",
        "note(GuardReason::state_clock);\n    else",
    ),
    "clock backwards": ("if (stepped_ && now_ns < now_ns_) return trip(GuardReason::state_clock, false);", ""),
    "a state is finite": ("finite && std::isfinite(q[i]) && std::isfinite(qd[i])", "finite"),
    "states not finite for long": (
        "if (++bad_states_ > limits_.hold_cycles && active()) trip(GuardReason::state_not_finite, false);",
        "",
    ),
    "enable only from idle": ("state_ != GuardState::idle || ramping_", "ramping_"),
    "enable not in a ramp": ("state_ != GuardState::idle || ramping_", "state_ != GuardState::idle"),
    "enable with a fresh state": (
        "have_state_ && now_ns >= state_at_.robot_ns && since(now_ns, state_at_) <= limits_.degraded_gap",
        "have_state_",
    ),
    "enable forgets the command before": (
        "reason_ = GuardReason::none;\n  have_command_ = false;",
        "reason_ = GuardReason::none;",
    ),
    "disable ends it": ("trip(GuardReason::none, false);\n  state_ = GuardState::idle;", ""),
    "re-arm leads to idle": (
        "state_ != GuardState::fault)) return false;\n  state_ = GuardState::idle;",
        "state_ != GuardState::fault)) return false;\n  state_ = GuardState::ok;",
    ),
    "re-arm not in a ramp": ("if (ramping_ || (state_ != GuardState::safe", "if ((state_ != GuardState::safe"),
    "latched": ("state_ = hard ? GuardState::fault : GuardState::safe;", "state_ = GuardState::idle;"),
    "a hard fault is zero at once": ("if (hard) {\n    out_.fill(0.0);\n    ramping_ = false;", "if (hard) {"),
    "one ramp": ("} else if (!ramping_) {", "} else {"),
    "limits cut in the ramp": ("if (beyond(i, along) != GuardReason::none)", "if (false)"),
    "never up again in the ramp": ("std::min(std::fabs(along), std::fabs(out_[i]))", "std::fabs(along)"),
    "the host's clock ends a ramp too": ("host_passed > robot_seconds ? host_passed : robot_seconds", "robot_seconds"),
    "a ramp goes on while the clock stands": ("passed > 0 ? std::max(passed, 0.5 * limits_.cycle)", "true ? passed"),
    "nothing without enable": ("} else {\n    out_.fill(0.0);\n  }", "}"),
}
# rule -> what makes up for it, removed together with it: either alone keeps the torque at zero
DOUBLED = {
    "nothing without enable": ("if (hard) {\n    out_.fill(0.0);", "if (hard) {"),
    "enable forgets the command before": ("reason_ = reason;\n  have_command_ = false;", "reason_ = reason;"),
}


def mutant(rule: str) -> str:
    """The header without a rule. Raises ValueError where its text is not there exactly once."""
    text = (ROOT / "cpp_core" / "include" / HEADER).read_text(encoding="utf-8")
    for old, new in (MUTANTS[rule], *((DOUBLED[rule],) if rule in DOUBLED else ())):
        if text.count(old) != 1:
            raise ValueError(f"{rule}: its text is {text.count(old)} times in {HEADER}")
        text = text.replace(old, new)
    return text


def compile_into(folder: Path, header: str) -> None:
    """guard_mutant in `folder`, from a header text."""
    import pybind11

    place = folder / HEADER
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(header, encoding="utf-8")
    source = folder / "module.cpp"
    source.write_text(MODULE.format(bindings=ROOT / "cpp_core" / "bindings"), encoding="utf-8")
    (folder / "mutant_plugin.py").write_text(PLUGIN, encoding="utf-8")
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    includes = [folder, ROOT / "cpp_core/include", ROOT / "cpp_core/bindings", pybind11.get_include()]
    flags = [f"-I{path}" for path in (*includes, sysconfig.get_path("include"))]
    compiler = os.environ.get("CXX", "g++")
    command = [compiler, "-std=c++17", "-O0", "-w", "-shared", "-fPIC", "-fvisibility=hidden", *flags, str(source)]
    subprocess.run([*command, "-o", str(folder / f"guard_mutant{suffix}")], check=True)


def failing_test(folder: Path) -> str:
    """Name of the first test that fails with the module of `folder`; empty: all pass."""
    environment = os.environ | {"PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"}
    tests = [str(ROOT / "test/control" / name) for name in TESTS]
    options = ["-q", "-x", "-p", "mutant_plugin", "-p", "no:cacheprovider", "--hypothesis-seed=0", "--no-header"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *tests], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    if done.returncode == 0:
        return ""
    found = re.search(r"^(?:FAILED|ERROR) \S*?(test_\w+\.py(?:::\w+)*)", done.stdout, re.MULTILINE)
    return found[1] if found else f"pytest ended with {done.returncode}: {done.stdout[-300:]}"


def main(words: list[str]) -> int:
    """Print rule and test; 1 when a rule can go unnoticed, 2 when the guard as it is fails."""
    rules = [rule for rule in MUTANTS if all(word in rule for word in words)]
    survivors = []
    with tempfile.TemporaryDirectory() as place:
        whole = Path(place) / "whole"
        compile_into(whole, (ROOT / "cpp_core/include" / HEADER).read_text(encoding="utf-8"))
        if found := failing_test(whole):
            print(f"the guard as it is: {found}")
            return 2
        for k, rule in enumerate(rules):
            folder = Path(place) / f"m{k}"
            compile_into(folder, mutant(rule))
            found = failing_test(folder)
            print(f"{rule}: {found or 'NO TEST FAILS'}", flush=True)
            survivors += [] if found else [rule]
    print(f"{len(rules)} rules removed, {len(survivors)} unnoticed")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
