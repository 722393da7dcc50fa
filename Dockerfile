# NOT RUN HERE: the machine this was written on has no Docker. Read it before you rely on it; reports are welcome.
#   docker build -t robot_dynamics --build-arg ROS_DISTRO=jazzy .      # or kilted
#   docker run --rm -it --net=host robot_dynamics robot-dynamics demo
ARG ROS_DISTRO=jazzy
FROM ros:${ROS_DISTRO}
SHELL ["/bin/bash", "-c"]
RUN apt-get update && apt-get install -y --no-install-recommends \
      g++ make ccache python3-venv ros-${ROS_DISTRO}-rviz2 ros-${ROS_DISTRO}-control-msgs \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /robot_dynamics_ros
COPY . .
RUN source /opt/ros/${ROS_DISTRO}/setup.bash && make build
ENV PATH=/robot_dynamics_ros/.venv/bin:${PATH}
CMD ["robot-dynamics", "--help"]
