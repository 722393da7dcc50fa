"""`python -m bench friction-picture`: friction loops and residual over temperature, for the docs."""

from __future__ import annotations

from pathlib import Path

import click

from bench.papers.pictures import friction_picture


@click.command()
@click.option("--out", default="docs/friction.png", show_default=True, type=click.Path(path_type=Path))
def command(out: Path) -> None:
    """Identify and draw the friction of a simulated joint; about a minute."""
    friction_picture(out)
    click.echo(out)
