"""Health of a robot over months: joint parameters of each recording, trends, change points, report."""
