"""A simulated UR controller: RTDE, dashboard and script servers around a simulated arm, in a process of its own."""
