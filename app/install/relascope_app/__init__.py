# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs of Relascope as a package: bin/, lib/relascope/ and share/, as an installation has them.

The commands `relascope` and `relascope-cli` replace this Python by the program. What that needs from elsewhere (LibTorch of
the package torch, Qt of PySide6-Essentials, libraries of the system) is looked for first, since the dynamic linker names a
file and not the package that has it.
"""
from __future__ import annotations

import ctypes
import os
import pathlib
import platform
import re
import sys
from typing import NoReturn, Optional

HERE = pathlib.Path(__file__).resolve().parent
TORCH = "@TORCH@"  # the version that the programs are built with; make_wheel.py writes it
GLIBC = (2, 35)    # of the wheel's tag
OWN = "uv tool install relascope-app, or pipx install relascope-app"

# Libraries of the system that Qt needs: (package of Debian and Ubuntu, package of Fedora).
QT_NEEDS = {
    "libGL.so.1": ("libgl1", "libglvnd-glx"),
    "libEGL.so.1": ("libegl1", "libglvnd-egl"),
    "libX11.so.6": ("libx11-6", "libX11"),
    "libxkbcommon.so.0": ("libxkbcommon0", "libxkbcommon"),
    "libfontconfig.so.1": ("libfontconfig1", "fontconfig"),
    "libfreetype.so.6": ("libfreetype6", "freetype"),
    "libglib-2.0.so.0": ("libglib2.0-0", "glib2"),
    "libgthread-2.0.so.0": ("libglib2.0-0", "glib2"),
    "libdbus-1.so.3": ("libdbus-1-3", "dbus-libs"),
    "libgssapi_krb5.so.2": ("libgssapi-krb5-2", "krb5-libs"),
    "libbrotlidec.so.1": ("libbrotli1", "libbrotli"),
    "libzstd.so.1": ("libzstd1", "libzstd"),
}
# What a kind of display adds, by the name of Qt's plugin.
DISPLAY_NEEDS = {
    "xcb": {
        "libxcb-cursor.so.0": ("libxcb-cursor0", "xcb-util-cursor"),
        "libxcb-icccm.so.4": ("libxcb-icccm4", "xcb-util-wm"),
        "libxcb-util.so.1": ("libxcb-util1", "xcb-util"),
        "libxcb-image.so.0": ("libxcb-image0", "xcb-util-image"),
        "libxcb-keysyms.so.1": ("libxcb-keysyms1", "xcb-util-keysyms"),
        "libxcb-render-util.so.0": ("libxcb-render-util0", "xcb-util-renderutil"),
        "libxcb-randr.so.0": ("libxcb-randr0", "libxcb"),
        "libxcb-render.so.0": ("libxcb-render0", "libxcb"),
        "libxcb-shape.so.0": ("libxcb-shape0", "libxcb"),
        "libxcb-shm.so.0": ("libxcb-shm0", "libxcb"),
        "libxcb-sync.so.1": ("libxcb-sync1", "libxcb"),
        "libxcb-xfixes.so.0": ("libxcb-xfixes0", "libxcb"),
        "libxcb-xkb.so.1": ("libxcb-xkb1", "libxcb"),
        "libX11-xcb.so.1": ("libx11-xcb1", "libX11-xcb"),
        "libxkbcommon-x11.so.0": ("libxkbcommon-x11-0", "libxkbcommon-x11"),
    },
    "wayland": {
        "libwayland-client.so.0": ("libwayland-client0", "libwayland-client"),
        "libwayland-cursor.so.0": ("libwayland-cursor0", "libwayland-cursor"),
    },
}


def glibc_problem() -> str:
    """Why the C library of this system does not do; empty if it does."""
    found = re.match(r"(\d+)\.(\d+)", platform.libc_ver()[1] or "")
    if platform.libc_ver()[0] != "glibc" or not found:
        return f"this system has no GLIBC, and the programs need {GLIBC[0]}.{GLIBC[1]}; build Relascope from its sources here"
    if tuple(map(int, found.groups())) >= GLIBC:
        return ""
    return (f"this system has GLIBC {found.group(0)}, and the programs need {GLIBC[0]}.{GLIBC[1]} (Debian 12, Ubuntu 22.04, Fedora 36 or "
            "later); build Relascope from its sources here")


def torch_problem(site: pathlib.Path) -> str:
    """Why LibTorch beside this package does not do; empty if it does."""
    torch = site / "torch"
    way = f"install Relascope in an environment of its own ({OWN}), or pip install torch=={TORCH} in this one"
    if not (torch / "lib/libtorch_cpu.so").is_file():
        return f"there is no torch in '{site}', whose LibTorch {TORCH} the programs need; {way}"
    try:
        found = re.search(r"^__version__ = '([^'+]+)", (torch / "version.py").read_text(), re.MULTILINE)
    except (OSError, UnicodeDecodeError):
        found = None
    version = found.group(1) if found else "unknown"
    return "" if version == TORCH else f"'{torch}' is version {version} of torch, and the programs need {TORCH}; {way}"


def display() -> str:
    """The plugin of Qt that will paint: "xcb", "wayland", "offscreen"."""
    named = os.environ.get("QT_QPA_PLATFORM", "").split(";")[0].split(":")[0]
    return named or ("wayland" if os.environ.get("WAYLAND_DISPLAY") else "xcb" if os.environ.get("DISPLAY") else "")


def lacks(library: str) -> bool:
    """Whether a library of the system is absent, or needs another that is."""
    try:
        ctypes.CDLL(library)
    except OSError:
        return True
    return False


def qt_problem(site: pathlib.Path) -> str:
    """Why the window cannot be painted; empty if it can."""
    if not (site / "PySide6/Qt/lib/libQt6Widgets.so.6").is_file():
        return (f"there is no Qt in '{site}', which the window needs; pip install 'PySide6-Essentials>=6.5,<7' in this environment, or "
                "use relascope-cli, which needs none")
    needs = {**QT_NEEDS, **DISPLAY_NEEDS.get(display().replace("wayland-egl", "wayland"), {})}
    missing = [library for library in needs if lacks(library)]
    if not missing:
        return ""
    debian, fedora = (" ".join(dict.fromkeys(needs[library][system] for library in missing)) for system in (0, 1))
    return (f"the window needs {', '.join(missing)}, which this system lacks; sudo apt install {debian} (Debian, Ubuntu) or sudo dnf install "
            f"{fedora} (Fedora) brings {'it' if len(missing) == 1 else 'them'}, and relascope-cli works without")


def environment() -> dict:
    """The variables of the program. libcurl, which is Debian's, looks for certificates in the place of Debian alone."""
    variables = dict(os.environ)
    names = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR")
    fedora = "/etc/pki/tls/certs/ca-bundle.crt"
    if not any(variables.get(name) for name in names) and os.path.exists(fedora) and \
            not os.path.exists("/etc/ssl/certs/ca-certificates.crt"):
        variables["SSL_CERT_FILE"] = fedora
    return variables


def problem(window: bool, site: Optional[pathlib.Path] = None) -> str:
    """What is missing here, with the way out; empty if nothing is."""
    site = site or HERE.parent
    return glibc_problem() or torch_problem(site) or (qt_problem(site) if window else "")


def _start(name: str) -> NoReturn:
    said = problem(window=name == "relascope")
    if said:
        print(f"{name}: {said}", file=sys.stderr)
        sys.exit(1)
    program = HERE / "bin" / name
    try:
        os.execve(program, [str(program), *sys.argv[1:]], environment())
    except OSError as error:
        print(f"{name}: '{program}' cannot be started ({error.strerror}); install relascope-app again", file=sys.stderr)
        sys.exit(1)


def window() -> NoReturn:
    _start("relascope")


def command_line() -> NoReturn:
    _start("relascope-cli")
