"""os-ken's example applications in a virtual environment of their own.

os-ken 1.4 was the last release on PyPI that has them, 3.1 the last with the program that runs them; both are old, and what they
need is kept away from the packages that the tests use. Pip keeps what it has downloaded, so that only the first run takes long.
"""

from __future__ import annotations

import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

RUNNER, EXAMPLES = "os-ken==3.1.1", "os-ken==1.4.0"
RUN = "import warnings; warnings.simplefilter('ignore'); from os_ken.cmd.manager import main; main()"


@dataclass(frozen=True)
class Apps:
    """Where they are."""

    python: Path
    directory: Path

    def command(self, name: str, *options: str) -> list[str]:
        """What starts one of them."""
        return [str(self.python), "-c", RUN, *options, str(self.directory / f"{name}.py")]


def apps(directory: Path) -> Apps | str:
    """Installs them; says why that can't be done."""
    environment, wheels = directory / "venv", directory / "wheels"
    python = environment / "bin" / "python"
    for argv in (
        [sys.executable, "-m", "venv", str(environment)],
        [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", RUNNER],
        [str(python), "-m", "pip", "download", "-q", "--no-deps", "-d", str(wheels), EXAMPLES],
    ):
        done = subprocess.run(argv, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode != 0:
            return f"os-ken's applications can't be installed: {done.stderr.strip()[-300:]}"
    with zipfile.ZipFile(next(wheels.glob("*.whl"))) as wheel:
        for name in wheel.namelist():
            if name.startswith("os_ken/app/simple_switch") and name.endswith(".py"):
                (directory / Path(name).name).write_bytes(wheel.read(name))
    return Apps(python, directory)
