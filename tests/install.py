#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests what `cmake --install` writes: a tree that runs from where it is moved to, with LibTorch's libraries for the CPU
and no others; a manual page that has every option, and the completion of bash; the files for the desktop; and its removal.

usage: install.py BUILD_FOLDER [TEST...]
"""
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path()
ID = "org.relascope.Relascope"


def run(*words, code=0, **how):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, **how)
    if done.returncode != code:
        raise AssertionError(f"{words}: exit status {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def files_in(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


def needed(library):
    """(libraries that an ELF file names, its search path)"""
    text = run("readelf", "-d", library)
    return set(re.findall(r"NEEDED.*\[(.*)\]", text)), re.findall(r"\((RPATH|RUNPATH)\).*\[(.*)\]", text)


class Tree(unittest.TestCase):
    """One installation, moved after it was made."""

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="relascope-install-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        # What the builder of this folder has installed stays known to `uninstall`.
        for name in ("install_manifest.txt", "install_prefix.txt"):
            kept = BUILD / name
            text = kept.read_text() if kept.exists() else None
            cls.addClassCleanup(lambda kept=kept, text=text: kept.write_text(text) if text is not None else
                                kept.unlink(missing_ok=True))
        prefix = cls.folder / "prefix"
        run("cmake", "--install", BUILD, "--prefix", prefix)
        cls.files = files_in(prefix)
        (prefix / "share/notes").mkdir()
        (prefix / "share/notes/mine.txt").write_text("not of this program")
        cls.copy = cls.folder / "a folder"
        shutil.copytree(prefix, cls.copy)
        cls.uninstalled = run("cmake", f"-DBUILD={BUILD}", "-P", TOP / "app/install/uninstall.cmake")
        cls.left = files_in(prefix) | {str(path.relative_to(prefix)) for path in prefix.rglob("*")}
        cls.window = (cls.copy / "bin/relascope").exists()

    def program(self, name, *words, code=0, **variables):
        """Runs a program of the moved tree with the environment of a stranger."""
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        environment = {"HOME": str(home), "PATH": "/usr/bin:/bin", "QT_QPA_PLATFORM": "offscreen", **variables}
        return run(self.copy / "bin" / name, *words, code=code, env=environment, cwd=self.folder)

    def test_uninstall_leaves_what_others_wrote(self):
        self.assertEqual(self.left, {"share", "share/notes", "share/notes/mine.txt"})
        self.assertIn("removed", self.uninstalled)

    def test_libraries_are_those_needed_and_no_others(self):
        libraries = {path.name: path for path in (self.copy / "lib/relascope").iterdir()}
        opened = {"librelascope_cuda.so", "librelascope_cuda_graphs.so"}  # at run time
        programs = [path for path in (self.copy / "bin").iterdir()]
        wanted, todo = set(), programs + [libraries[name] for name in opened & set(libraries)]
        while todo:
            names, search = needed(todo.pop())
            for name in names & set(libraries) - wanted:
                wanted.add(name)
                todo.append(libraries[name])
            for _, folders in search:
                self.assertIn(folders, ("$ORIGIN", "$ORIGIN/../lib/relascope"))
        self.assertEqual(set(libraries) - opened, wanted)
        self.assertIn("libtorch_cpu.so", wanted)
        cli, window = self.copy / "bin/relascope-cli", self.copy / "bin/relascope"
        self.assertEqual(needed(cli)[1], [("RPATH", "$ORIGIN/../lib/relascope")])  # before LD_LIBRARY_PATH
        self.assertFalse([name for name in needed(cli)[0] if "Qt" in name])
        if window in programs:  # what computes are other processes
            self.assertEqual(needed(window)[1], [])
            self.assertFalse([name for name in needed(window)[0] if re.search("torch|c10|cuda|opencv", name)])

    def test_nothing_is_loaded_from_the_current_folder(self):
        for program in (BUILD / "bin").iterdir():
            if program.is_file() and os.access(program, os.X_OK):
                for _, folders in needed(program)[1]:
                    self.assertNotIn("", folders.split(":"), program)

    def test_runs_where_it_was_moved_to(self):
        wrong = self.folder / "wrong"
        wrong.mkdir()
        for name in ("libc10.so", "libtorch_cpu.so"):
            (wrong / name).write_text("of another LibTorch")
        where = str(self.folder / "run")
        self.program("relascope-cli", "train", "quick", "--steps", "2", "--out", where, LD_LIBRARY_PATH=str(wrong))
        self.assertTrue((self.folder / "run/run.json").exists())
        # The English text is found in share/relascope. (Debian's own copy may be there as well.)
        self.assertIn("share/relascope/jargon.txt.gz", self.files)
        self.program("relascope-cli", "train", "text", "--steps", "1", "--out", self.folder / "text")
        package, source = self.copy / "share/relascope/python", TOP / "resources/python"
        for folder in "", "relascope", "examples":
            files = {path.name: path.read_bytes() for path in (source / folder).iterdir() if path.is_file()}
            self.assertEqual({path.name: path.read_bytes() for path in (package / folder).iterdir() if path.is_file()}, files)

    def test_window_opens_a_run(self):
        if not self.window:
            self.skipTest("built without the window")
        run_folder = self.folder / "shown"
        self.program("relascope-cli", "train", "quick", "--steps", "3", "--out", run_folder)
        picture = self.folder / "window.png"
        self.program("relascope", "--screenshot", picture, "--size", "1200x800", "--run", run_folder)
        self.assertEqual(struct.unpack(">II", picture.read_bytes()[16:24]), (1200, 800))

    def cuda(self, torch):
        entries = json.loads(self.program("relascope-cli", "devices", "--json", RELASCOPE_TORCH=str(torch)))
        return next(entry.get("reason", "") for entry in entries if entry["name"].startswith("cuda"))

    def test_cuda_library_of_the_user_must_be_of_the_same_build(self):
        torch = self.folder / "environment/lib/python3.11/site-packages/torch"
        self.assertIn("where no LibTorch is", self.cuda(self.folder))
        (torch / "lib").mkdir(parents=True)
        fake = BUILD / "tests/fake_kernels/torch"
        shutil.copy(fake / "version.py", torch)
        self.assertIn("cannot be loaded", self.cuda(self.folder / "environment"))
        shutil.copy(fake / "lib/libtorch_cuda.so", torch / "lib")
        for named in (self.folder / "environment", torch, torch.parent):
            self.assertIn("no CUDA device was found", self.cuda(named))
            self.assertIn(f"\nLibTorch's CUDA library: {torch}/lib/libtorch_cuda.so\n",
                          self.program("relascope-cli", "devices", RELASCOPE_TORCH=str(named)))
        version = (torch / "version.py").read_text()
        for old, new in (("'2.11.0", "'2.10.0"), ("git_version = '", "git_version = 'f")):
            (torch / "version.py").write_text(version.replace(old, new))
            self.assertIn("is another build of LibTorch", self.cuda(torch))
        (torch / "version.py").write_bytes(bytes(range(256)) * 4096)
        self.assertIn("has no version.py of LibTorch", self.cuda(torch))

    def commands(self):
        """{command: its long options}, as --help prints them."""
        help_text = self.program("relascope-cli", "--help")
        names = re.findall(r"^  ([a-z]+) ", help_text.split("Subcommands:")[1], re.MULTILINE)
        self.assertGreater(len(names), 15)
        return {name: set(re.findall(r"^  (?:-\w,)?(--[a-z0-9-]+)", self.program("relascope-cli", name, "--help"), re.MULTILINE))
                for name in names}

    def test_manual_has_every_option(self):
        commands = self.commands()
        page = self.copy / "share/man/man1/relascope-cli.1"
        if not page.exists():
            self.skipTest("help2man is not installed")
        manual = page.read_text().replace("\\-", "-")
        for command, options in commands.items():
            section = manual.split(f".SH {command.upper()}\n")[1].split("\n.SH")[0]
            for option in options:
                self.assertIn(option, section)
        self.assertNotIn("words", commands)
        if self.window:  # whose own list says which words are commands
            for command in set(commands) - {"train"}:
                texts = {re.sub(r"\S*/bin/relascope(-cli)? ", "", self.program(name, command, "--help")) for name in
                         ("relascope", "relascope-cli")}  # relascope hands over
                self.assertEqual(len(texts), 1, command)
        if shutil.which("man"):
            warnings = subprocess.run(["man", "-l", "--warnings", "-E", "UTF-8", "-Tutf8", "-Z", page], capture_output=True,
                                      text=True, env={**os.environ, "MANWIDTH": "80", "LC_ALL": "C.UTF-8"}).stderr
            self.assertEqual(warnings, "")

    def complete(self, line):
        words = line.split(" ")
        script = (f"source 'share/bash-completion/completions/{words[0]}'; compopt() {{ :; }}; COMP_WORDS=({' '.join(map(repr, words))}); "
                  f"COMP_CWORD={len(words) - 1}; _relascope bin/{words[0]} {words[-1]!r} {words[-2]!r}; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
        return run("bash", "--norc", "-c", script, cwd=self.copy).split()

    def test_completions_complete(self):
        cases = {"relascope-cli tra": ["train"],
                 "relascope-cli train relational-games-b": ["relational-games-between"],
                 "relascope-cli train quick --rendez": ["--rendezvous"],
                 "relascope-cli train quick --set data.train_s": ["data.train_size="],
                 "relascope-cli inspect run --show di": ["difference"],
                 "relascope-cli ablate run --how me": ["mean"],
                 "relascope-cli train quick --epochs ": [],
                 "relascope-cli train --resume lib/relas": ["lib/relascope"],
                 "relascope-cli info lib/relas": ["lib/relascope"]}
        if self.window:
            cases["relascope --page stu"] = ["study"]
            cases["relascope trai"] = ["train"]
            cases["relascope lib/relas"] = ["lib/relascope"]
        for line, words in cases.items():
            with self.subTest(line=line):
                self.assertEqual(self.complete(line), words)

    def test_desktop_files_are_valid(self):
        if not self.window:
            self.skipTest("built without the window")
        share = self.copy / "share"
        entry = share / f"applications/{ID}.desktop"
        if shutil.which("desktop-file-validate"):
            self.assertEqual(run("desktop-file-validate", entry), "")
        types = set(re.search(r"^MimeType=(.*);$", entry.read_text(), re.MULTILINE)[1].split(";"))
        described = share / f"metainfo/{ID}.metainfo.xml"
        if shutil.which("appstreamcli"):
            run("appstreamcli", "validate", "--no-net", described)
        self.assertIn(f'<release version="{self.version()}"', described.read_text())
        self.assertEqual(types - {"inode/directory"}, set(re.findall(r"<mediatype>(.*)</mediatype>", described.read_text())))
        if shutil.which("update-mime-database"):
            run("update-mime-database", share / "mime")
            globs = (share / "mime/globs2").read_text()
            found = {pattern: kind for kind, pattern in re.findall(r"^\d+:(\S+?):(\S+)$", globs, re.MULTILINE)}
            self.assertEqual(found, {"*.safetensors": "application/x-safetensors", "*.pt": "application/x-pytorch-checkpoint",
                                     "*.pth": "application/x-pytorch-checkpoint", "*.ckpt": "application/x-pytorch-checkpoint",
                                     "run.json": "application/x-relascope-run", "study.json": "application/x-relascope-study"})
            self.assertLessEqual(set(found.values()), types)
        self.assertIn(f"share/icons/hicolor/scalable/apps/{ID}.svg", self.files)
        for side in (16, 24, 32, 48, 64, 128, 256, 512):
            icon = (share / f"icons/hicolor/{side}x{side}/apps/{ID}.png").read_bytes()
            self.assertEqual(struct.unpack(">II", icon[16:24]), (side, side))

    def version(self):
        return self.program("relascope-cli", "--version").split()[1]


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main(verbosity=1)
