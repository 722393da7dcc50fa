"""control_msgs/action/FollowJointTrajectory for tests: the ROS generators of the Python index, compiled by gcc.

control_msgs is not on the index. The fields are those of the interface on the wire; ROS installations bring their own.
"""

import json
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PACKAGE = "control_msgs"
NEEDED = ("trajectory_msgs", "geometry_msgs", "std_msgs", "builtin_interfaces", "action_msgs")
NEEDED += ("unique_identifier_msgs", "service_msgs")
POINT = "trajectory_msgs/JointTrajectoryPoint"
BODIES = "trajectory_msgs/MultiDOFJointTrajectoryPoint"
DEFINITIONS = {
    "msg/JointTolerance.msg": "string name\nfloat64 position\nfloat64 velocity\nfloat64 acceleration\nfloat64 effort\n",
    "msg/JointComponentTolerance.msg": "string joint_name\nuint16 component\nfloat64 position\nfloat64 velocity\n"
    "float64 acceleration\nfloat64 effort\n",
    "action/FollowJointTrajectory.action": "trajectory_msgs/JointTrajectory trajectory\n"
    "trajectory_msgs/MultiDOFJointTrajectory multi_dof_trajectory\n"
    "control_msgs/JointTolerance[] path_tolerance\ncontrol_msgs/JointComponentTolerance[] component_path_tolerance\n"
    "control_msgs/JointTolerance[] goal_tolerance\ncontrol_msgs/JointComponentTolerance[] component_goal_tolerance\n"
    "builtin_interfaces/Duration goal_time_tolerance\n---\n"
    "int32 error_code\nstring error_string\n---\n"
    f"std_msgs/Header header\nstring[] joint_names\n{POINT} desired\n{POINT} actual\n{POINT} error\n"
    f"string[] multi_dof_joint_names\n{BODIES} multi_dof_desired\n{BODIES} multi_dof_actual\n"
    f"{BODIES} multi_dof_error\n",
}
VISIBILITY = ("rosidl_generator_c", "rosidl_typesupport_fastrtps_c")


def generate(folder: Path) -> Path:
    """Generate and compile the package below `folder`; returns the directory to put on the module path.

    Raises ImportError without the generators, CalledProcessError when the compiler fails.
    """
    from rosidl_adapter import convert_to_idl
    from rosidl_generator_c import generate_c
    from rosidl_generator_py import generate_py
    from rosidl_generator_type_description import generate_type_hash
    from rosidl_typesupport_c import generate_c as generate_dispatch
    from rosidl_typesupport_fastrtps_c import generate_typesupport_fastrtps_c

    share, tree = Path(sys.prefix) / "share", folder / "tree"
    for name, text in DEFINITIONS.items():
        file = folder / "source" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        convert_to_idl(folder / "source", PACKAGE, Path(name), folder / "idl")
    stems = [str(Path(name).with_suffix("")) for name in DEFINITIONS]
    hashes = [f"{stem}.idl:{folder / 'hash' / f'{stem}.json'}" for stem in stems]

    def arguments(generator: str, out: Path) -> str:
        out.mkdir(parents=True, exist_ok=True)
        given = {"package_name": PACKAGE, "output_dir": str(out), "template_dir": str(share / generator / "resource")}
        given |= {"idl_tuples": [f"{folder / 'idl'}:{stem}.idl" for stem in stems], "target_dependencies": []}
        needed = [f"{d}:{file}" for d in NEEDED for file in sorted((share / d).rglob("*.idl"))]
        given |= {"ros_interface_dependencies": needed, "include_paths": [f"{d}:{share / d}" for d in NEEDED]}
        given["type_description_tuples"] = hashes
        file = folder / f"{generator}.json"
        file.write_text(json.dumps(given))
        return str(file)

    code = tree / PACKAGE
    generate_type_hash(arguments("rosidl_generator_type_description", folder / "hash"))
    generate_c(arguments("rosidl_generator_c", code))
    generate_typesupport_fastrtps_c(arguments("rosidl_typesupport_fastrtps_c", code))
    generate_dispatch(arguments("rosidl_typesupport_c", code), ["rosidl_typesupport_fastrtps_c"])
    generate_py(arguments("rosidl_generator_py", code), ["rosidl_typesupport_c"])
    (code / "__init__.py").touch()
    for name in VISIBILITY:
        macro = f"ROSIDL_{name.removeprefix('rosidl_').upper()}"
        text = f'#pragma once\n#define {macro}_PUBLIC_{PACKAGE} __attribute__((visibility("default")))\n'
        text += f"#define {macro}_EXPORT_{PACKAGE}\n#define {macro}_IMPORT_{PACKAGE}\n"
        (code / "msg" / f"{name}__visibility_control.h").write_text(text)
    _compile(tree)
    return tree


def _compile(tree: Path) -> None:
    """All sources as one extension module."""
    import numpy

    prefix, code = Path(sys.prefix), tree / PACKAGE
    places = [tree, Path(numpy.get_include()), Path(sysconfig.get_path("include")), prefix / "include"]
    include = [f"-I{p}" for p in (*places, *sorted((prefix / "include").iterdir()))]
    kinds = ("generator_c", "typesupport_c", "typesupport_fastrtps_c", "generator_py")
    libraries = [prefix / "lib" / f"lib{p}__rosidl_{kind}.so" for p in NEEDED for kind in kinds]
    names = ("rosidl_typesupport_c", "rosidl_runtime_c", "rosidl_typesupport_fastrtps_c", "rcutils", "rmw")
    libraries += [prefix / "lib" / f"lib{name}.so" for name in names]
    libraries += sorted((prefix / "lib").rglob("libfastcdr.so*"))[:1]

    def compiled(source: Path) -> Path:
        compiler, made = ["g++", "-std=c++17"] if source.suffix == ".cpp" else ["gcc"], Path(f"{source}.o")
        subprocess.run([*compiler, "-w", "-O0", "-fPIC", *include, "-c", source, "-o", made], check=True)
        return made

    with ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(compiled, sorted([*code.rglob("*.c"), *code.rglob("*.cpp")])))
    module = code / f"{PACKAGE}_s__rosidl_typesupport_c{sysconfig.get_config_var('EXT_SUFFIX')}"
    present = [str(library) for library in libraries if library.exists()]
    place = f"-Wl,-rpath,{prefix / 'lib'}"
    subprocess.run(["g++", "-shared", *objects, "-o", module, *present, place], check=True)
