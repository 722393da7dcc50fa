"""The robot and its estimates in rerun: live, as .rrd files, and in a browser on this machine."""
