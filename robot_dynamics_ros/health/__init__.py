"""Health of a robot over months: what each recording says about its joints, trends, change points, one report."""
