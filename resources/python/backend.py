# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the wheel of the package with Python alone (PEP 517 and 660), so that pip installs it without a network."""
import base64
import dataclasses
import hashlib
import io
import pathlib
import re
import tarfile
import zipfile
from typing import Callable, Dict, List

HERE = pathlib.Path(__file__).resolve().parent
VERSION = re.search(r'__version__ = "(.+)"', (HERE / "relascope/version.py").read_text()).group(1)


@dataclasses.dataclass
class Wheel:
    """What a wheel says of itself, in Relascope's version. text: its page, in Markdown; commands: {name: "module:function"}."""
    name: str
    summary: str
    requires: List[str]
    text: str
    tag: str = "py3-none-any"
    commands: Dict[str, str] = dataclasses.field(default_factory=dict)
    executable: Callable[[str], bool] = lambda path: False

    def metadata(self) -> bytes:
        lines = ["Metadata-Version: 2.1", f"Name: {self.name}", f"Version: {VERSION}", f"Summary: {self.summary}",
                 "License: GPL-3.0-or-later", "Requires-Python: >=3.9", *(f"Requires-Dist: {one}" for one in self.requires),
                 "Description-Content-Type: text/markdown", "", self.text]
        return "\n".join(lines).encode()


PACKAGE = Wheel("relascope", "Writes, watches and reads runs of relational Transformers for Relascope, and drives its engine",
                ["numpy>=1.21"], "Writes runs that the window of Relascope shows while they grow, watches models of PyTorch, reads runs, and "
                "asks Relascope's engine. NumPy is all that it needs.\n\n`uv tool install relascope-app` installs the window and the command line.\n")


def write(folder, wheel, files):
    """Writes a wheel with these files, whose list it states with their checksums. Returns its name."""
    project = wheel.name.replace("-", "_")
    info, name = f"{project}-{VERSION}.dist-info", f"{project}-{VERSION}-{wheel.tag}.whl"
    pure = str(wheel.tag.endswith("-any")).lower()
    files = {**files, f"{info}/METADATA": wheel.metadata(),
             f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: relascope\nRoot-Is-Purelib: {pure}\nTag: {wheel.tag}\n".encode()}
    if wheel.commands:
        lines = ["[console_scripts]", *(f"{command} = {function}" for command, function in wheel.commands.items())]
        files[f"{info}/entry_points.txt"] = ("\n".join(lines) + "\n").encode()
    lines = [f"{info}/RECORD,,"]
    with zipfile.ZipFile(pathlib.Path(folder) / name, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path, data in files.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            lines.insert(0, f"{path},sha256={digest},{len(data)}")
            entry = zipfile.ZipInfo(path)  # of the same bytes, whenever it is built
            entry.external_attr = (0o100755 if wheel.executable(path) else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
        archive.writestr(zipfile.ZipInfo(f"{info}/RECORD"), "\n".join(lines) + "\n")
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return write(wheel_directory, PACKAGE, {f"relascope/{path.name}": path.read_bytes()
                                            for path in sorted((HERE / "relascope").iterdir()) if path.suffix in (".py", ".typed")})


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return write(wheel_directory, PACKAGE, {"relascope.pth": f"{HERE}\n".encode()})


def build_sdist(sdist_directory, config_settings=None):
    name = f"relascope-{VERSION}"
    with tarfile.open(pathlib.Path(sdist_directory) / f"{name}.tar.gz", "w:gz") as archive:
        for path in HERE / "pyproject.toml", HERE / "backend.py", *sorted((HERE / "relascope").glob("*.py")), HERE / "relascope/py.typed":
            archive.add(path, f"{name}/{path.relative_to(HERE)}")
        metadata = tarfile.TarInfo(f"{name}/PKG-INFO")
        data = PACKAGE.metadata()
        metadata.size = len(data)
        archive.addfile(metadata, io.BytesIO(data))
    return f"{name}.tar.gz"
