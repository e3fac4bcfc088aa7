# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the wheel of the package with Python alone (PEP 517 and 660), so that pip installs it without a network."""
import base64
import hashlib
import io
import pathlib
import re
import tarfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
VERSION = re.search(r'__version__ = "(.+)"', (HERE / "relascope/version.py").read_text()).group(1)
INFO = f"relascope-{VERSION}.dist-info"
METADATA = f"""Metadata-Version: 2.1
Name: relascope
Version: {VERSION}
Summary: Writes, watches and reads runs of relational Transformers for Relascope, and drives its engine
License: GPL-3.0-or-later
Requires-Python: >=3.9
Requires-Dist: numpy>=1.21
"""


def _write(folder, files):
    """A wheel with these files, whose list it states with their checksums."""
    name = f"relascope-{VERSION}-py3-none-any.whl"
    files = {**files, f"{INFO}/METADATA": METADATA.encode(),
             f"{INFO}/WHEEL": b"Wheel-Version: 1.0\nGenerator: relascope\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    lines = [f"{INFO}/RECORD,,"]
    with zipfile.ZipFile(pathlib.Path(folder) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            lines.insert(0, f"{path},sha256={digest},{len(data)}")
            wheel.writestr(zipfile.ZipInfo(path), data)  # of the same bytes, whenever it is built
        wheel.writestr(zipfile.ZipInfo(f"{INFO}/RECORD"), "\n".join(lines) + "\n")
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return _write(wheel_directory, {f"relascope/{path.name}": path.read_bytes()
                                    for path in sorted((HERE / "relascope").iterdir()) if path.suffix in (".py", ".typed")})


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return _write(wheel_directory, {"relascope.pth": f"{HERE}\n".encode()})


def build_sdist(sdist_directory, config_settings=None):
    name = f"relascope-{VERSION}"
    with tarfile.open(pathlib.Path(sdist_directory) / f"{name}.tar.gz", "w:gz") as archive:
        for path in HERE / "pyproject.toml", HERE / "backend.py", *sorted((HERE / "relascope").glob("*.py")), HERE / "relascope/py.typed":
            archive.add(path, f"{name}/{path.relative_to(HERE)}")
        metadata = tarfile.TarInfo(f"{name}/PKG-INFO")
        data = METADATA.encode()
        metadata.size = len(data)
        archive.addfile(metadata, io.BytesIO(data))
    return f"{name}.tar.gz"
