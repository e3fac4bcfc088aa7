#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the two wheels of Relascope from programs that are built: relascope_app (programs, libraries, data, documents) and
relascope (pure Python, resources/python). LibTorch and Qt are not in them: they are those of the packages torch and
PySide6-Essentials beside them, which DT_RPATH names. Needs readelf, strip, a C++ compiler and patchelf.

usage: make_wheel.py BUILD_FOLDER OUT
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TOP / "resources/python"))
import backend  # noqa: E402

TAG = "manylinux_2_35_x86_64"
# The newest versions of symbols that a library of this tag may need (PEP 600; GCC 12, as in auditwheel's table).
NEWEST = {"GLIBC": "2.35", "GLIBCXX": "3.4.30", "CXXABI": "1.3.13", "GCC": "12.0.0"}
MOST = 70e6
SYSTEM = re.compile(r"ld-linux-x86-64\.so|lib(c|m|dl|rt|util|pthread|resolv|gcc_s|stdc\+\+|z|expat|X11|glib-2\.0)\.so\.")
FOREIGN = re.compile(r"lib(torch|c10|gomp|cudart|cupti|Qt6)")  # of torch, NVIDIA's packages and PySide6
SEARCH = "$ORIGIN/../../torch/lib:$ORIGIN/../../PySide6/Qt/lib:$ORIGIN/../lib/relascope"
# OpenCV shares OpenCL's memory with OpenGL by these, which no one here asks for, and would need a library of GL for them.
NO_GLX = "librelascope_noglx.so"
NO_GLX_SOURCE = 'extern "C" { ' + " ".join(
    f"void* {name}() {{ return nullptr; }}" for name in ("glXGetCurrentContext", "glXGetCurrentDisplay", "glXGetProcAddressARB")) + " }\n"


class Problem(Exception):
    pass


def run(*words):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True)
    if done.returncode:
        raise Problem(f"{words[0]} failed: {done.stderr.strip()}")
    return done.stdout


def needed(file):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-dW", file))


def installed_libraries():
    """{name: path} of the libraries of this system, as the dynamic linker knows them."""
    lines = re.findall(r"^\s*(\S+) \(libc6,x86-64.*\) => (\S+)$", run("/sbin/ldconfig", "-p"), re.MULTILINE)
    return {name: pathlib.Path(path) for name, path in reversed(lines)}


def symbol_problem(file):
    """The first symbol version that a file needs and the tag does not have; empty if there is none."""
    for family, version in re.findall(r"Name: ([A-Z]+)_([0-9.]+) ", run("readelf", "-VW", file).split("Version needs section", 1)[-1]):
        if family in NEWEST and tuple(map(int, version.split("."))) > tuple(map(int, NEWEST[family].split("."))):
            return f"{family}_{version}"
    return ""


def copy_program_files(build, stage):
    """The programs and what they need. Returns the system's libraries that were copied, by their name here."""
    names = [name for name in ("relascope", "relascope-cli") if (build / "bin" / name).is_file()]
    if len(names) != 2:
        raise Problem(f"'{build}/bin' has not both programs; bash app/package.sh --wheel builds them")
    programs, libraries = stage / "bin", stage / "lib/relascope"
    programs.mkdir(parents=True)
    libraries.mkdir(parents=True)
    for name in names:
        shutil.copyfile(build / "bin" / name, programs / name)
        (programs / name).chmod(0o755)
    for kernels in (build / "bin").glob("librelascope_cuda*.so"):  # if they were compiled; opened at run time
        shutil.copyfile(kernels, libraries / kernels.name)
    there, copied = installed_libraries(), {}
    todo = [*programs.iterdir(), *libraries.iterdir()]
    while todo:
        file = todo.pop()
        for name in needed(file):
            if SYSTEM.match(name) or FOREIGN.match(name) or (libraries / name).exists():
                continue
            if name == "libGLX.so.0" and file.name.startswith("libopencv_core"):
                source = stage.parent / "noglx.cpp"
                source.write_text(NO_GLX_SOURCE)
                run("g++", "-shared", "-fPIC", "-O2", "-nostdlib", f"-Wl,-soname,{NO_GLX}", source, "-o", libraries / NO_GLX)
                run("patchelf", "--replace-needed", name, NO_GLX, file)
                continue
            if name not in there:
                raise Problem(f"{file.name} needs {name}, which this system does not have")
            shutil.copyfile(there[name], libraries / name)
            copied[name] = there[name]
            todo.append(libraries / name)
    for file in [*programs.iterdir(), *libraries.iterdir()]:
        run("strip", "--strip-unneeded", file)
        run("patchelf", "--force-rpath", "--set-rpath", SEARCH if file.parent == programs else "$ORIGIN", file)
        newer = symbol_problem(file)
        if newer:
            raise Problem(f"{file.name} needs {newer}, which {TAG} does not have (build on Debian 12)")
    return copied


def copy_rights(copied, folder):
    """The copyright files of the Debian packages whose libraries are in the wheel."""
    folder.mkdir(parents=True)
    # A library is known by the name that its package gives it, with or without /usr in front.
    names = {str(path.resolve()) for path in copied.values()}
    asked = [*names, *(name[len("/usr"):] for name in names if name.startswith("/usr/"))]
    found = subprocess.run(["dpkg-query", "-S", *asked], capture_output=True, text=True).stdout
    owners = dict(reversed(line.split(": ")) for line in found.splitlines())
    for name in sorted(names):
        owner = owners.get(name) or owners.get(name[len("/usr"):])
        text = pathlib.Path("/usr/share/doc") / (owner or "-").split(":")[0] / "copyright"
        if not text.is_file():
            raise Problem(f"the copyright of '{name}' was not found ('{text}'), without which a wheel cannot be published")
        shutil.copyfile(text, folder / f"{text.parent.name}.txt")


def copy_data(shared, stage):
    """What an installation has in share/, but the package for Python, which is the other wheel."""
    data, documents = stage / "share/relascope", stage / "share/doc/relascope"
    data.mkdir(parents=True)
    documents.mkdir(parents=True, exist_ok=True)
    for text in (shared / "jargon.txt.gz", TOP / "resources/text/jargon-extract.txt.gz"):
        if text.is_file():
            shutil.copyfile(text, data / text.name)
    shutil.copytree(TOP / "resources/example/run", data / "example")
    for document in [*(TOP / "resources/docs").glob("*.md"), *(TOP / "resources/docs").glob("*.svg"), TOP / "CHANGELOG.md", TOP / "LICENSE"]:
        shutil.copyfile(document, documents / document.name)


def make_app(build, out, torch):
    version = backend.VERSION
    with tempfile.TemporaryDirectory(prefix="relascope-wheel-") as work:
        stage = pathlib.Path(work) / "relascope_app"
        copied = copy_program_files(build, stage)
        copy_rights(copied, stage / "share/doc/relascope/copyright")
        copy_data(TOP / ".venv/share/relascope", stage)
        source = (TOP / "app/install/relascope_app/__init__.py").read_text()
        (stage / "__init__.py").write_text(source.replace("@TORCH@", torch))
        files = {f"relascope_app/{path.relative_to(stage)}": path.read_bytes() for path in sorted(stage.rglob("*")) if path.is_file()}
    info = backend.Wheel("relascope-app", "Trains relational Transformers and looks inside them while they learn", requires=[
        f"torch=={torch}", "PySide6-Essentials>=6.5,<7", f"relascope=={version}"], tag=f"py3-none-{TAG}", text=(
            "The window `relascope` and the command line `relascope-cli` of [Relascope](https://pypi.org/project/relascope/) for Linux "
            "(x86-64, GLIBC 2.35 or later).\n\nInstall it in an environment of its own, since it needs one version of torch: "
            "`uv tool install relascope-app` or `pipx install relascope-app`.\n"),
        commands={"relascope": "relascope_app:window", "relascope-cli": "relascope_app:command_line"},
        executable=lambda path: path.startswith("relascope_app/bin/"))
    name = backend.write(out, info, files)
    size = (out / name).stat().st_size
    if size > MOST:
        raise Problem(f"{name} has {size / 1e6:.1f} MB, more than the {MOST / 1e6:.0f} that it may have")
    unpacked = sum(map(len, files.values()))
    print(f"{name}: {size / 1e6:.1f} MB, {unpacked / 1e6:.0f} MB installed, {len(copied)} libraries of this system, no symbol newer than "
          f"GLIBC_{NEWEST['GLIBC']} and GLIBCXX_{NEWEST['GLIBCXX']}")


def main(build, out):
    lines = (pathlib.Path(build) / "CMakeCache.txt").read_text()
    torch = re.search(r"^RELASCOPE_TORCH_DIR:INTERNAL=(.*)$", lines, re.MULTILINE).group(1)
    version = re.search(r"^__version__ = '([^'+]+)", (pathlib.Path(torch) / "version.py").read_text(), re.MULTILINE).group(1)
    out = pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("relascope*.whl"):
        old.unlink()
    try:
        make_app(pathlib.Path(build), out, version)
        pure = backend.build_wheel(out)
    except Problem as problem:
        sys.exit(f"relascope: no wheel: {problem}")
    print(f"{pure}: {(out / pure).stat().st_size / 1e3:.0f} kB, pure Python")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip().splitlines()[-1])
    main(*sys.argv[1:])
