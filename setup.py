"""Build of the package and of its C++ core; every name and version comes from package.xml."""

import os
import platform
import re
import shutil
import sys
import sysconfig
import xml.etree.ElementTree as ElementTree
from glob import glob
from pathlib import Path

from setuptools import Extension, find_namespace_packages, setup

try:
    import pybind11
except ImportError:
    FOUND = "is not installed"
else:
    FOUND = "" if pybind11.version_info >= (3,) else f"{pybind11.__version__} is too old"
if FOUND:  # reported when the core is built; name and version can be asked for without it
    from setuptools.command.build_ext import build_ext
else:
    from pybind11.setup_helpers import ParallelCompile, Pybind11Extension, build_ext

HERE = Path(__file__).resolve().parent
if Path.cwd() != HERE and not Path("cpp_core").exists():  # colcon --symlink-install runs this in a folder of links
    Path("cpp_core").symlink_to(HERE / "cpp_core")
PACKAGE = ElementTree.parse(HERE / "package.xml").getroot()
NAME, VERSION = PACKAGE.findtext("name"), PACKAGE.findtext("version")

# A kernel named *_<isa>.cpp is compiled for that instruction set; the core chooses one at run time. The flags are also
# in cpp_core/CMakeLists.txt.
X86 = sysconfig.get_platform().endswith(("x86_64", "amd64"))  # of the target: tools/wheels.py sets it
SOURCE_FLAGS = {
    "_avx2.cpp": ["-mavx2", "-mfma"] if X86 else [],
    "_avx512.cpp": ["-mavx512f", "-mavx512dq", "-mavx512vl", "-mavx2", "-mfma"] if X86 else [],
    "unit_models.cpp": ["-O2"],
    "dispatch.cpp": ["-DROBOT_DYNAMICS_SOME_KERNELS"],
}
if shutil.which("ccache"):
    for name in ("CC", "CXX"):
        os.environ.setdefault(name, f"ccache {sysconfig.get_config_var(name)}")


def has_avx2() -> bool:
    """Whether this machine runs the AVX2 kernels."""
    try:
        return X86 and {"avx2", "fma"} <= set(Path("/proc/cpuinfo").read_text().split())
    except OSError:  # no Linux
        return False


def needs_recompile(obj: str, src: str) -> bool:
    """True when the object is older than its source or any header in its dependency file."""
    deps = Path(obj).with_suffix(".d")
    if not Path(obj).exists() or not deps.exists():
        return True
    built = Path(obj).stat().st_mtime
    names = re.sub(r"\\\n", " ", deps.read_text()).split(":", 1)[1].split()
    return any(not Path(name).exists() or Path(name).stat().st_mtime > built for name in names)


class BuildCore(build_ext):
    """build_ext that adds the flags of each source by its file name. Ends with one line where pybind11 does not do."""

    def run(self):
        if FOUND and self.extensions:
            raise SystemExit(f"pybind11 {FOUND}: {sys.executable} -m pip install 'pybind11>=3.0' (apt has 2.x)")
        super().run()

    def build_extensions(self):
        compile_one = self.compiler._compile

        def compile_with_isa(obj, src, ext, cc_args, extra_postargs, pp_opts):
            flags = next((f for suffix, f in SOURCE_FLAGS.items() if src.endswith(suffix)), [])
            deps = ["-MMD", "-MF", str(Path(obj).with_suffix(".d"))]
            print(f"compiling {src}", flush=True)
            compile_one(obj, src, ext, cc_args, [*extra_postargs, *flags, *deps], pp_opts)

        self.compiler._compile = compile_with_isa
        if os.environ.get("ROBOT_DYNAMICS_KERNELS") == "one":
            for extension in self.extensions:
                extension.sources = [s for s in extension.sources if self.wanted(s)]
        self.force = True  # the objects decide what is compiled and linked: a set of kernels may have been added
        super().build_extensions()

    def wanted(self, source: str) -> bool:
        """Whether a source belongs to a core with one set of kernels: AVX2, or the baseline where AVX2 is missing."""
        kernel = re.search(r"kernel_(\w+)\.cpp$", source)
        compiled = (Path(self.build_temp) / source).with_suffix(".o").exists()
        return not kernel or compiled or kernel[1] == ("avx2" if has_avx2() else "baseline")


NODES = ("hardware_node", "estimator_node", "composed_node", "viewer_node")
KERNELS = sorted(glob("cpp_core/src/kernels/*.cpp"))


def extension(name: str, sources: list[str]) -> Extension:
    """A module of the core's headers and kernels."""
    if FOUND:
        return Extension(name, sources)
    return Pybind11Extension(
        name,
        sources,
        depends=sorted(glob("cpp_core/include/**/*.hpp", recursive=True) + glob("cpp_core/bindings/*.?pp")),
        include_dirs=["cpp_core/include", "cpp_core/bindings"],
        cxx_std=17,
        extra_compile_args=["-O3", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off", "-fvisibility=hidden"],
        libraries=["rt"] if platform.system() == "Linux" else [],
    )


if not FOUND:
    ParallelCompile("NPY_NUM_BUILD_JOBS", default=os.cpu_count() or 1, needs_recompile=needs_recompile).install()
modules = [extension(f"{NAME}._core", sorted(glob("cpp_core/bindings/unit_*.cpp")) + KERNELS)]
if os.environ.get("ROBOT_DYNAMICS_BENCH"):  # the laboratory, of a clone only
    modules.append(extension("bench.speed.native", ["bench/speed/native.cpp", *KERNELS]))


def share(folder: str, *patterns: str) -> tuple[str, list[str]]:
    """Files of a top-level folder as installed under share/<package>/<folder>."""
    return (f"share/{NAME}/{folder}", sorted(f for p in patterns for f in glob(f"{folder}/{p}")))


extras = {
    "ros": [  # where no ROS installation is sourced
        "ros-kilted-rclpy",
        "ros-kilted-rmw-fastrtps-cpp",
        *(f"ros-kilted-{kind}-msgs" for kind in ("std", "sensor", "geometry", "diagnostic", "trajectory")),
        "ros-kilted-visualization-msgs",
        "ros-kilted-std-srvs",
        "setuptools<80",
    ],
    # wheels for x86-64 up to 3.12 only; pip refuses to compile it (its sources name another version)
    "franka": ['pylibfranka>=0.21; python_version < "3.13" and platform_machine == "x86_64"'],
    "mujoco": ["mujoco>=3.7"],  # what exported models run in; also a plant of the laboratory
    "viewer": ["rerun-sdk>=0.39"],
    "metrics": ["prometheus-client>=0.20"],  # parameter metrics_port of the nodes
    "reports": ["matplotlib>=3.8.4", "jinja2>=3.1"],
    "pandas": ["pandas>=2.2"],  # Log.to_pandas, RobotFile.to_pandas
    "tables": ["pyarrow>=14", "h5py>=3.11"],  # import and identify of .parquet and .h5; .csv and .npz need nothing
}
extras["demo"] = extras["reports"]  # what `make demo` installs; `make test` installs dev
extras["test"] = ["pytest>=7.4", "pytest-timeout>=2.2", "hypothesis>=6.100"]  # colcon test looks for pytest here
extras["dev"] = [
    *extras["test"],
    *extras["demo"],
    *extras["franka"],
    *extras["pandas"],
    *extras["tables"],
    *extras["viewer"],
    *extras["metrics"],
    "pytest-xdist>=3.8",
    "pytest-cov>=5.0",
    "ruff>=0.6",
    *extras["mujoco"],
    "clang-format>=18",
    "mypy>=1.11",
    "types-PyYAML>=6.0",
    "pybind11-stubgen>=2.5",
    "mkdocs-material>=9.6",
    "colcon-common-extensions>=0.3",
    "bloom>=0.12",  # its generator reads package.xml in a test
    "py-rattler-build>=0.60",  # renders recipe.yaml in a test
]

setup(
    name=NAME,
    version=VERSION,
    description=PACKAGE.findtext("description"),
    long_description=(HERE / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    author="robot_dynamics_ros maintainers",
    python_requires=">=3.10",
    package_dir={"": "."},  # an editable install is then a path, which type checkers follow
    packages=find_namespace_packages(include=[NAME, f"{NAME}.*"], exclude=["*.__pycache__", "*.__pycache__.*"]),
    package_data={NAME: ["__init__.pyi", "_core.pyi", "py.typed", "data/**/*", "drivers/ur/torque.script"]},
    include_package_data=True,
    # make builds the core in place itself and installs only the dependencies
    ext_modules=[] if os.environ.get("ROBOT_DYNAMICS_CORE_BUILT_IN_PLACE") else modules,
    cmdclass={"build_ext": BuildCore},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
        share("launch", "*.launch.py"),
        share("config", "*.yaml", "*.rviz", "*.xml", "*.json"),
        share("config/robots", "*.yaml"),
        share("config/plants", "*.yaml"),
        share("config/trajectories", "*.yaml"),
        share("config/security", "*.xml"),
    ],
    install_requires=[
        "numpy>=1.26",  # that of Ubuntu 24.04; the wheels of pin take 2.2 or later
        "scipy>=1.11,!=1.12.*,!=1.13.*,!=1.14.*",  # whose nnls fails where columns are nearly dependent
        "pydantic>=2.10",
        "PyYAML>=6.0",
        "click>=8.1",
        "rich>=13.7",
        "rosbags>=0.11.6",
        # wheels for x86-64 up to 3.12 only: elsewhere it is a choice, compiled on the spot
        'ur-rtde>=1.6.5; python_version < "3.13" and platform_machine != "aarch64"',
        "pin>=3.3.1",
        "clarabel>=0.7",
        "threadpoolctl>=3.5",
    ],
    extras_require=extras,
    entry_points={
        "console_scripts": [
            "robot-dynamics = robot_dynamics_ros.cli.main:main",
            *(f"{node} = {NAME}.nodes.executables:{node}" for node in NODES),
        ]
    },
    zip_safe=False,
)
