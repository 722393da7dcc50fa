"""Ordinary work of a simulated robot: its days are as long as asked."""

from bench.force import zoo
from bench.force.recordings import RATE
from bench.learning.tasks import cycle, task_of
from robot_dynamics_ros.robot_file import load_robot


def test_a_day_of_work_has_the_length_that_was_asked():
    """Also where a rest is too short to be a part of the motion (robot 6, day 18)."""
    robot = load_robot("ur5e")
    who = zoo.individuals(robot, 7, 0, zoo.families("tuning"))[6]
    for day in range(20):
        assert len(cycle(robot, who, task_of(who, day), who.draw(1000 + day), 60.0)[0]) == 60 * RATE
