# SPDX-License-Identifier: Apache-2.0
"""Sources of Debian packages, for tests that need other people's programs. They are fetched with an
apt configuration of their own, made from the mirrors the system is configured for: nothing of the
system is changed, not even its package lists. apt checks their signatures."""

import os
import pathlib
import subprocess
import sys

SKIPPED = 77  # what ctest takes for "skipped"
SECONDS = 180


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def home(variable, name):
    """$variable, else a folder of the user's cache."""
    cache = os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache"))
    folder = pathlib.Path(os.environ.get(variable, f"{cache}/{name}")).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def mirrors():
    """The system's suites of Debian itself, but for security updates: not every mirror has them."""
    try:
        told = subprocess.run(
            ["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)",
             "Created-By: Packages", "Origin: Debian", "Label: Debian"],
            check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=SECONDS)
    except (OSError, subprocess.SubprocessError) as problem:
        skip(f"apt does not say where it gets packages from: {problem}")
    return (sorted(set(told.stdout.splitlines())) or
            skip("apt does not know where it gets packages from: apt-get update"))


class DebianSources:
    """The upstream archives of source packages, kept in `folder`."""

    def __init__(self, folder):
        self.folder = folder
        self.apt = ["apt-get", "-o", f"Dir::State::lists={folder}/lists",
                    "-o", f"Dir::Cache={folder}/cache",
                    "-o", f"Dir::Etc::sourcelist={folder}/none.list",
                    "-o", f"Dir::Etc::sourceparts={folder}/parts", "-o", "APT::Sandbox::User=root"]

    def archive(self, package):
        found = [path for path in sorted(self.folder.glob(f"{package}_*.orig.tar.*"))
                 if path.suffix != ".asc"]
        return found[-1] if found else None

    def fetch(self, packages):
        """Skips the test where they cannot be had."""
        missing = [package for package in packages if self.archive(package) is None]
        if not missing:
            return
        for part in ("lists/partial", "cache/archives/partial", "parts"):
            (self.folder / part).mkdir(parents=True, exist_ok=True)
        (self.folder / "none.list").touch()
        (self.folder / "parts" / "sources.list").write_text(
            "".join(f"deb-src {mirror}\n" for mirror in mirrors()))
        try:
            for words in (["update"], ["source", "--download-only", *missing]):
                subprocess.run([*self.apt, *words], cwd=self.folder, check=True, timeout=SECONDS,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        except (OSError, subprocess.SubprocessError) as problem:
            skip(f"the sources of {', '.join(missing)} cannot be had ({problem}); "
                 f"put their archives (*.orig.tar.*) in {self.folder}")

    def unpack(self, package, where, *members):
        """The one folder the archive consists of, or its `members` (patterns below that folder)."""
        archive = self.archive(package)
        listed = subprocess.run(["tar", "-tf", archive], check=True, stdout=subprocess.PIPE,
                                text=True).stdout
        tree = where / listed.split("/", 1)[0]
        if not tree.exists():
            where.mkdir(parents=True, exist_ok=True)
            patterns = ["--wildcards", *(f"*/{member}" for member in members)] if members else []
            subprocess.run(["tar", "-xf", archive, *patterns], cwd=where, check=True)
        return tree
