#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests the two Debian packages that CPack makes of a build folder (not compressed, which takes the most time): what they
need, what they hold, and what lintian says where it is installed. tests/bare_tree.sh installs them into a bare Debian.

usage: packages.py BUILD_FOLDER [TEST...]        exit status 77 where dpkg's tools are not
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path()


def run(*words):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(f"{words}: exit status {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="relascope-packages-"))
        cls.addClassCleanup(shutil.rmtree, folder)
        run("cpack", "-G", "DEB", "--config", BUILD / "CPackConfig.cmake", "-B", folder,
            "-D", f"CPACK_PACKAGE_DIRECTORY={folder}", "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=none")
        cls.files = {path.name.split("_")[0]: path for path in folder.glob("*.deb")}
        cls.window = (BUILD / "bin/relascope").exists()

    def field(self, package, name):
        return run("dpkg-deb", "-f", self.files[package], name).strip()

    def needs(self, package):
        return {entry.split(" ")[0].strip(): entry for entry in self.field(package, "Depends").split(", ")}

    def contents(self, package):
        """{path: mode and owner}, without folders."""
        lines = [line.split(None, 5) for line in run("dpkg-deb", "-c", self.files[package]).splitlines()]
        return {line[5]: (line[0], line[1]) for line in lines if not line[0].startswith("d")}

    def test_are_two(self):
        self.assertEqual(set(self.files), {"relascope-cli", "relascope"} if self.window else {"relascope-cli"})

    def test_command_line_needs_no_qt(self):
        needs = self.needs("relascope-cli")
        self.assertFalse([name for name in needs if "qt" in name or name.startswith("libx") or "relascope" in name], needs)
        for name in ("libc6", "libstdc++6", "libopencv-core406", "libzip4", "libcurl4"):
            self.assertIn(name, needs)
        self.assertFalse([name for name in needs if "cuda" in name or "torch" in name], needs)

    def test_window_needs_the_command_line_of_its_version(self):
        if not self.window:
            self.skipTest("built without the window")
        needs = self.needs("relascope")
        self.assertEqual(needs["relascope-cli"], f"relascope-cli (= {self.field('relascope', 'Version')})")
        for name in ("libqt6widgets6", "libqt6svg6", "libqcustomplot2.1-qt6", "fonts-inter", "fonts-jetbrains-mono"):
            self.assertIn(name, needs)

    def test_hold_what_belongs_to_them(self):
        line = self.contents("relascope-cli")
        for path in ("bin/relascope-cli", "lib/relascope/libtorch_cpu.so", "share/man/man1/relascope-cli.1.gz",
                     "share/doc/relascope-cli/copyright", "share/doc/relascope-cli/changelog.gz",
                     "share/doc/relascope/index.md", "share/relascope/jargon.txt.gz"):
            self.assertIn("./usr/" + path, line)
        self.assertFalse([path for path in line if "libtorch_cuda" in path or "fashion" in path or "/tests/" in path])
        both = [line]
        if self.window:
            window = self.contents("relascope")
            both.append(window)
            for path in ("bin/relascope", "share/applications/org.relascope.Relascope.desktop",
                         "share/man/man1/relascope.1.gz", "share/mime/packages/org.relascope.Relascope.xml"):
                self.assertIn("./usr/" + path, window)
            self.assertFalse(set(window) & set(line))
            self.assertFalse([path for path in window if "/lib/" in path])
        for contents in both:
            for path, (mode, owner) in contents.items():
                self.assertEqual(owner, "root/root", path)
                self.assertEqual(mode, "-rwxr-xr-x" if "/bin/" in path else "-rw-r--r--", path)

    def test_descriptions(self):
        for package in self.files:
            text = self.field(package, "Description")
            self.assertRegex(text.splitlines()[0], r"^train relational Transformers ", package)
            self.assertNotIn(self.field(package, "Version"), text)
            self.assertTrue(all(re.match(r" \S", line) for line in text.splitlines()[1:]), text)

    def test_lintian_finds_no_error(self):
        if not shutil.which("lintian"):
            self.skipTest("lintian is not installed")
        done = subprocess.run(["lintian", "--no-cfg", "--fail-on", "error", "--allow-root", "--suppress-tags",
                               "uses-no-compression-for-data-tarball", *self.files.values()],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    for tool in ("cpack", "dpkg-deb", "dpkg-shlibdeps", "readelf"):
        if not shutil.which(tool):
            print(f"{tool} is not installed; apt-get install dpkg-dev")
            sys.exit(77)
    unittest.main(verbosity=1)
