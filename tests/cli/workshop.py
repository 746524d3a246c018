# SPDX-License-Identifier: Apache-2.0
"""A scratch directory with programs built by heddle-cc, and heddle to run on them."""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

TOOLS = pathlib.Path(os.environ["HEDDLE_BIN"])
BUGS = pathlib.Path(__file__).resolve().parents[2] / "bugs"


class Workshop(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.work = pathlib.Path(scratch.name)

    def build(self, source, name="prog", compiler="heddle-cc"):
        """`source`: a path, or the text of a C program."""
        if not isinstance(source, pathlib.Path):
            text, source = source, self.work / f"{name}.c"
            source.write_text(text)
        tool = TOOLS / compiler if compiler.startswith("heddle") else compiler
        subprocess.run([tool, "-g", "-O1", "-pthread", source, "-o", self.work / name], check=True)
        return f"./{name}"

    def heddle(self, *arguments, status=0, environment=None):
        """`status` None: whichever it is."""
        result = subprocess.run([TOOLS / "heddle", *map(str, arguments)], cwd=self.work, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env={**os.environ, **(environment or {})})
        if status is not None:
            self.assertEqual(result.returncode, status,
                             f"heddle {arguments}\n{result.stdout}\n{result.stderr}")
        return result

    def json(self, command, *arguments, **options):
        return json.loads(self.heddle(command, "--json", *arguments, **options).stdout)

    @contextlib.contextmanager
    def small_disk(self, size):
        """A store for heddle on a file system of that size, as its environment."""
        small = self.work / "small"
        small.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", small],
                                 stderr=subprocess.PIPE)
        if mounted.returncode != 0:
            self.skipTest("mount is not allowed here")
        try:
            yield {"HEDDLE_DIR": str(small / "store")}
        finally:
            subprocess.run(["umount", small], check=True)

    def replay_under_another_root(self, pack, times, *files):
        """There Heddle itself is, what that needs, the pack and `files`: no libc where the program had
        it."""
        root = self.work / "root"
        needed = subprocess.run(["ldd", TOOLS / "heddle"], stdout=subprocess.PIPE, text=True,
                                check=True).stdout
        brought = {word for word in needed.split() if word.startswith("/")}
        for file in [*brought, TOOLS / "heddle", *files]:
            target = root / str(file).lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(os.path.realpath(file), target)
        for name in ("tmp", "proc", "dev"):
            (root / name).mkdir(exist_ok=True)
        shutil.copy(pack, root / "run.heddle")
        ended = subprocess.run(["unshare", "-m", "sh", "-c",
                                f"mount -t proc proc {root}/proc && mount --bind /dev {root}/dev && "
                                f"exec chroot {root} {TOOLS}/heddle replay /run.heddle -n {times} "
                                "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if "unshare" in ended.stderr or "mount" in ended.stderr:
            self.skipTest("namespaces are not allowed here")
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        self.assertEqual(json.loads(ended.stdout)["identical"], times)

    def refused(self, *arguments, status=2, says=(), **options):
        """Fails with one clear message that contains all of `says`."""
        message = self.heddle(*arguments, status=status, **options).stderr
        for words in says:
            self.assertIn(words, message)
        return message
