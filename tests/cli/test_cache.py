# SPDX-License-Identifier: Apache-2.0
"""A cache without room, or that is read-only: builds go on, and what cannot be done says why."""

import os
import subprocess
import unittest

import workshop

PROGRAM = "int main(void) { return 0; }"


class Cache(workshop.Workshop):
    def inside(self, options, *command):
        """`command` with the cache on a file system of its own."""
        full = self.work / "cache"
        full.mkdir(exist_ok=True)
        kept = self.work / "kept"
        copied = f"cp -r '{kept}/.' '{full}' && " if kept.exists() else ""
        remount = f"mount -o remount,{options} '{full}'"
        return subprocess.run(
            ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
             f"mount -t tmpfs none '{full}' && {copied}{remount} && exec " '"$@"', "sh", *command],
            cwd=self.work, env=os.environ | {"HEDDLE_CACHE": str(full)}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def setUp(self):
        super().setUp()
        if self.inside("size=64k", "true").returncode != 0:
            self.skipTest("file systems cannot be mounted here, not even in a user namespace")
        (self.work / "prog.c").write_text(PROGRAM)

    def build(self, options):
        return self.inside(options, workshop.TOOLS / "heddle-cc", "prog.c", "-o", "prog")

    def test_links_go_on(self):
        for options, reason in (("size=64k", "No space left"), ("ro", "Read-only")):
            built = self.build(options)
            self.assertEqual(built.returncode, 0, built.stderr)
            for words in ("warning: prog is linked", reason, "HEDDLE_CACHE"):
                self.assertIn(words, built.stderr)
            self.assertEqual(subprocess.run([self.work / "prog"]).returncode, 0)

    def test_deriving_says_why_not(self):
        environment = {"HEDDLE_CACHE": str(self.work / "kept")}
        subprocess.run([workshop.TOOLS / "heddle-cc", "prog.c", "-o", "prog"], cwd=self.work,
                       env=os.environ | environment, check=True)
        size = sum(file.stat().st_size for file in (self.work / "kept").rglob("*"))
        for options in (f"size={size + 100_000}", "ro"):
            run = self.inside(options, workshop.TOOLS / "heddle", "run", "--", "./prog")
            self.assertEqual(run.returncode, 3, run.stderr)
            self.assertIn("HEDDLE_CACHE", run.stderr)

    def test_a_variant_in_a_read_only_cache_is_used(self):
        environment = {"HEDDLE_CACHE": str(self.work / "kept")}
        subprocess.run([workshop.TOOLS / "heddle-cc", "prog.c", "-o", "prog"], cwd=self.work,
                       env=os.environ | environment, check=True)
        self.heddle("run", "--", "./prog", environment=environment)
        run = self.inside("ro", workshop.TOOLS / "heddle", "run", "--", "./prog")
        self.assertEqual(run.returncode, 0, run.stderr)


if __name__ == "__main__":
    unittest.main()
