#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests the two wheels that app/package.sh --wheel makes of a build folder: installed by pip into a fresh environment beside the
LibTorch of .venv and the Qt of PyPI, with nothing in PATH and an empty HOME. Says how large they are and how soon a window is painted.

usage: wheel.py BUILD_FOLDER [TEST...]     exit status 77 where patchelf, the window or Qt's wheel is not
RELASCOPE_PYSIDE names a folder with the wheels of tests/pyside-requirements.txt, in place of .venv/share/relascope/pyside.
"""
import importlib.util
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile

TOP = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path()
QT = pathlib.Path(os.environ.get("RELASCOPE_PYSIDE") or TOP / ".venv/share/relascope/pyside")
sys.path.insert(0, str(TOP / "app/install"))
import make_wheel  # noqa: E402


def run(*words, code=0, **how):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, **how)
    if done.returncode != code:
        raise AssertionError(f"{words}: exit status {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout + (done.stderr if code else "")


def size_of(picture):
    return struct.unpack(">II", picture.read_bytes()[16:24])


class Wheels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="relascope-wheel-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        begin = time.monotonic()
        run(sys.executable, TOP / "app/install/make_wheel.py", BUILD, cls.folder)
        made = time.monotonic() - begin
        cls.app, cls.pure = (next(cls.folder.glob(name)) for name in ("relascope_app-*.whl", "relascope-*.whl"))
        cls.environment = cls.folder / "environment"
        run(sys.executable, "-m", "venv", cls.environment)
        cls.site = next((cls.environment / "lib").glob("python3*/site-packages"))
        libraries = next((TOP / ".venv/lib").glob("python3*/site-packages"))
        for name in ("torch", "nvidia"):  # 1.3 GB
            (cls.site / name).symlink_to(libraries / name)
        numpy = pathlib.Path(importlib.util.find_spec("numpy").origin).parent
        for folder in (numpy, numpy.with_name("numpy.libs")):
            if folder.is_dir():
                (cls.site / folder.name).symlink_to(folder)
        cls.home = cls.folder / "home"
        cls.home.mkdir()
        begin = time.monotonic()
        cls.pip("install", "--no-deps", *QT.glob("*.whl"), cls.app, cls.pure)
        installed = time.monotonic() - begin
        begin = time.monotonic()
        cls.start("relascope", "--screenshot", cls.folder / "first.png", "--size", "1200x800", "--run",
                  cls.site / "relascope_app/share/relascope/example")
        print(f"{cls.app.name}: {cls.app.stat().st_size / 1e6:.1f} MB, made in {made:.0f} s, installed with Qt in {installed:.1f} s, first window "
              f"painted in {time.monotonic() - begin:.1f} s", file=sys.stderr)

    @classmethod
    def pip(cls, *words):
        return run(cls.environment / "bin/python", "-m", "pip", words[0], "-q", "--disable-pip-version-check", "--no-cache-dir", *words[1:],
                   env={**os.environ, "HOME": str(cls.home)})

    @classmethod
    def variables(cls, **more):
        return {"HOME": str(cls.home), "PATH": "", "QT_QPA_PLATFORM": "offscreen", "XDG_RUNTIME_DIR": str(cls.home), **more}

    @classmethod
    def start(cls, command, *words, code=0, **more):
        return run(cls.environment / "bin" / command, *words, code=code, cwd=cls.home, env=cls.variables(**more))

    def python(self, text, **how):
        return run(self.environment / "bin/python", "-c", text, cwd=self.home, env=self.variables(), **how)

    def test_names_and_contents(self):
        version = make_wheel.backend.VERSION
        self.assertEqual(self.app.name, f"relascope_app-{version}-py3-none-{make_wheel.TAG}.whl")
        self.assertEqual(self.pure.name, f"relascope-{version}-py3-none-any.whl")
        self.assertLess(self.app.stat().st_size, make_wheel.MOST)
        files = zipfile.ZipFile(self.app).namelist()
        for path in ("bin/relascope", "bin/relascope-cli", "share/relascope/example/run.json", "share/doc/relascope/index.md"):
            self.assertIn("relascope_app/" + path, files)
        self.assertFalse([path for path in files if re.search(r"lib(torch|c10|gomp|cud|cupti|nv|Qt6|mkl|GL|X11|c\.so|stdc)", path)])
        text = zipfile.ZipFile(self.app).read(f"relascope_app-{version}.dist-info/METADATA").decode()
        needs = re.findall(r"^Requires-Dist: (.*)$", text, re.MULTILINE)
        torch = re.search(r"^torch_version=(.*)$", (TOP / "app/setup.sh").read_text(), re.MULTILINE).group(1)
        self.assertEqual(needs, [f"torch=={torch}", "PySide6-Essentials>=6.5,<7", f"relascope=={version}"])

    def test_programs_look_for_torch_first(self):
        for name in ("relascope", "relascope-cli"):
            text = run("readelf", "-dW", self.site / "relascope_app/bin" / name)
            self.assertEqual(re.findall(r"\((RPATH|RUNPATH)\).*\[(.*)\]", text), [("RPATH", make_wheel.SEARCH)])
        self.assertNotIn("Qt6", run("readelf", "-dW", self.site / "relascope_app/bin/relascope-cli"))
        loaded = run("ldd", self.site / "relascope_app/bin/relascope-cli")
        self.assertNotIn("not found", loaded)
        self.assertNotRegex(loaded, r"libGL|libX11|libQt")
        for line in loaded.splitlines():  # one libgomp, LibTorch's
            if "libgomp" in line or "libtorch" in line:
                self.assertIn("/torch/lib/", line)

    def test_a_newer_symbol_is_an_error(self):
        newest = make_wheel.NEWEST
        try:
            make_wheel.NEWEST = {**newest, "GLIBC": "2.3"}
            with self.assertRaisesRegex(make_wheel.Problem, r"^\S+ needs GLIBC_2\.[0-9.]+, which manylinux_2_35_x86_64 does not have"):
                with tempfile.TemporaryDirectory() as work:
                    make_wheel.copy_program_files(BUILD, pathlib.Path(work) / "relascope_app")
        finally:
            make_wheel.NEWEST = newest

    def test_trains_scans_and_leaves_runs(self):
        where = self.home / "runs/quick"
        self.start("relascope-cli", "train", "quick", "--steps", "40", "--out", where)
        report = self.home / "report.html"
        self.start("relascope-cli", "scan", where, "--seconds", "5", "--examples", "50", "--out", report)
        self.assertGreater(report.stat().st_size, 1000)
        self.start("relascope-cli", "inspect", where, "--sample", "1", "--kind", "relation", "--out", self.home / "relation.png")
        picture = self.home / "window.png"
        self.start("relascope", "--screenshot", picture, "--size", "1200x800", "--run", where)
        self.assertEqual(size_of(picture), (1200, 800))
        # From Python, which finds the program beside the package.
        said = self.python(f"import relascope; print(len(relascope.analyse({str(where)!r}, 'spread', examples=20)['heads']))")
        self.assertGreater(int(said), 0)

    def test_opens_a_window_on_a_display(self):
        if not shutil.which("xvfb-run"):
            self.skipTest("xvfb-run is not installed")
        picture = self.home / "display.png"
        words = [self.environment / "bin/relascope", "--screenshot", picture, "--size", "1200x800", "--run",
                 self.site / "relascope_app/share/relascope/example"]
        script = 'exec env -i DISPLAY="$DISPLAY" XAUTHORITY="$XAUTHORITY" ' + " ".join(
            f"{name}='{value}'" for name, value in self.variables(QT_QPA_PLATFORM="xcb").items()) + ' "$@"'
        run("xvfb-run", "-a", "-s", "-screen 0 1440x900x24", "bash", "-c", script, "look", *words)
        self.assertEqual(size_of(picture), (1200, 800))

    def test_says_where_libraries_come_from(self):
        said = self.start("relascope-cli", "devices")
        self.assertRegex(said, rf"(?m)^LibTorch: .*/torch/lib/libtorch_cpu\.so$")
        self.assertRegex(said, r"(?m)^Qt: .*/PySide6/Qt/lib/libQt6Core\.so\.6 \(6\.[0-9.]+\)$")

    def refusal(self, command="relascope-cli"):
        said = self.start(command, "--version", code=1)
        self.assertEqual(said.count("\n"), 1, said)
        return said

    def test_says_what_is_missing(self):
        torch, qt = self.site / "torch", self.site / "PySide6"
        away = self.folder / "away"
        real = os.readlink(torch)
        torch.unlink()
        try:
            self.assertRegex(self.refusal(), r"^relascope-cli: there is no torch in '.*', whose LibTorch 2\.11\.0 the programs need; install "
                             r"Relascope in an environment of its own \(uv tool install relascope-app, or pipx install relascope-app\), or pip "
                             r"install torch==2\.11\.0 in this one\n$")
            (torch / "lib").mkdir(parents=True)
            (torch / "lib/libtorch_cpu.so").touch()
            (torch / "version.py").write_text("__version__ = '2.10.0+cpu'\n")
            self.assertRegex(self.refusal(), r"^relascope-cli: '.*/torch' is version 2\.10\.0 of torch, and the programs need 2\.11\.0; ")
        finally:
            shutil.rmtree(torch, ignore_errors=True)
            torch.symlink_to(real)
        qt.rename(away)
        try:
            self.assertRegex(self.refusal("relascope"), r"^relascope: there is no Qt in '.*', which the window needs; pip install "
                             r"'PySide6-Essentials>=6\.5,<7' in this environment, or use relascope-cli, which needs none\n$")
            self.start("relascope-cli", "--version")
            self.assertRegex(self.start("relascope-cli", "devices"), r"(?m)^Qt: ")
        finally:
            away.rename(qt)
        self.start("relascope", "--version")

    def test_says_what_the_system_lacks(self):
        lacking = ("import relascope_app as app, os; app.lacks = lambda name: name in ('libGL.so.1', 'libxcb-cursor.so.0'); "
                   "os.environ['QT_QPA_PLATFORM'] = {0!r}; print(app.problem(window={1}))")
        self.assertEqual(self.python(lacking.format("xcb", True)),
                         "the window needs libGL.so.1, libxcb-cursor.so.0, which this system lacks; sudo apt install libgl1 libxcb-cursor0 (Debian, "
                         "Ubuntu) or sudo dnf install libglvnd-glx xcb-util-cursor (Fedora) brings them, and relascope-cli works without\n")
        self.assertIn("the window needs libGL.so.1, which", self.python(lacking.format("offscreen", True)))
        self.assertEqual(self.python(lacking.format("xcb", False)), "\n")
        old = ("import relascope_app as app, platform; platform.libc_ver = lambda: ({0!r}, {1!r}); print(app.problem(window=False))")
        self.assertRegex(self.python(old.format("glibc", "2.31")), r"^this system has GLIBC 2\.31, and the programs need 2\.35 \(Debian 12, ")
        self.assertRegex(self.python(old.format("", "")), r"^this system has no GLIBC, ")

    def test_uninstalls(self):
        run_folder = self.home / "runs/kept"
        self.start("relascope-cli", "train", "quick", "--steps", "2", "--out", run_folder)
        self.pip("uninstall", "-y", "relascope-app", "relascope")
        try:
            left = [path for path in self.site.rglob("*relascope*") if not path.is_symlink()]
            self.assertEqual(left, [])
            self.assertFalse((self.environment / "bin/relascope").exists())
            self.assertTrue((run_folder / "run.json").is_file())
        finally:
            self.pip("install", "--no-deps", self.app, self.pure)


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    for reason in ("patchelf is not installed; bash app/setup.sh installs it" if not shutil.which("patchelf") else "",
                   "built without the window" if not (BUILD / "bin/relascope").exists() else "",
                   f"'{QT}' has no wheel of PySide6-Essentials; bash app/setup.sh fetches it (84 MB)" if not any(QT.glob("*.whl")) else "",
                   "NumPy is not installed" if not importlib.util.find_spec("numpy") else ""):
        if reason:
            print(reason)
            sys.exit(77)
    unittest.main(verbosity=1)
