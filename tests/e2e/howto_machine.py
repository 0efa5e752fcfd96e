"""A machine of its own for a how-to page: nothing that the page installs is visible outside, and
all its processes end with its shell.

Linux namespaces hide the folders, the network and the processes of this machine. Addresses of the
pages are on the loopback interface, and `howto_programs` has programs for what needs systemd.
"""

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from e2e.howto_shell import Shell
from e2e.programs import environment

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(__file__).with_name("howto_programs")
NAMESPACES = ("--mount", "--net", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc")
ADDRESSES = ("192.168.1.20", "10.0.0.11")
NAMES = ("belvedere.example.org", "tools.example.org")
# Empty at first. Their subfolders are those that packages of the distribution create.
FOLDERS = [
    *("/opt/belvedere", "/var/lib/haproxy", "/var/lib/nginx", "/var/log/nginx"),
    *("/run/haproxy", "/run/systemd/system", "/etc/systemd/system"),
]
PREPARATION = f"""\
set -e
ip link set lo up
for address in {" ".join(ADDRESSES)}; do ip address add $address/32 dev lo; done
hostname server-1
mkdir {{folder}}/etc
mount -t tmpfs tmpfs {{folder}}/etc
cp -r --preserve=mode /etc/. {{folder}}/etc 2> /dev/null || :
mount --bind {{folder}}/etc /etc
for path in /opt /var/lib /var/log /run /etc/systemd; do mount -t tmpfs tmpfs $path; done
mkdir -p {" ".join(FOLDERS)}
echo '127.0.0.1 localhost server-1 {" ".join(NAMES)}' > /etc/hosts
set +e
"""


@cache
def _command() -> tuple[str, ...]:
    """Root of this machine, or else of a user namespace."""
    words = ["unshare", *NAMESPACES, *(["--map-root-user"] if os.geteuid() != 0 else [])]
    if shutil.which("unshare") is None or subprocess.run([*words, "true"]).returncode != 0:
        pytest.skip("needs root or user namespaces (unshare)")
    return tuple(words)


def start(folder: Path) -> Shell:
    """A terminal of root on the new machine, in a folder with the repository in `belvedere`."""
    libraries = [path for path in sys.path if path.endswith("site-packages")]
    path = [str(PROGRAMS), str(Path(sys.executable).parent), os.environ["PATH"], "/usr/sbin:/sbin"]
    env = environment(
        PATH=os.pathsep.join(path),
        # The packages that `pip install` would download are there; nothing is downloaded.
        PYTHONPATH=os.pathsep.join(libraries),
        PIP_NO_INDEX="1",
        PIP_NO_DEPS="1",
        PIP_NO_COMPILE="1",
        PIP_NO_BUILD_ISOLATION="0",
        PIP_DISABLE_PIP_VERSION_CHECK="1",
    )
    shell = Shell(folder, "", env, before=_command())
    shell.addresses.clear()
    (folder / "work" / "belvedere").symlink_to(ROOT)
    output = shell.run(PREPARATION.format(folder=folder))
    assert shell.code == 0, output
    return shell
