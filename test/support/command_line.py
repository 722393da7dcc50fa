"""The commands in the process of a test."""

from click.testing import CliRunner, Result

from robot_dynamics_ros.cli.main import cli


def robot_dynamics(*words, **options) -> Result:
    """The end of `robot-dynamics WORDS`; options: of click's invoke."""
    return CliRunner().invoke(cli, [str(word) for word in words], **options)


def printed(*words) -> str:
    """What `robot-dynamics WORDS` prints; it ends without an error."""
    done = robot_dynamics(*words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return str(done.output)
