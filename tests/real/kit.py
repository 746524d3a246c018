# SPDX-License-Identifier: Apache-2.0
"""Builds real programs with heddle-cc, links their variants, and runs their work. Everything is kept
in one folder ($HEDDLE_REAL) and built again when the compilers or the recipe change."""

import hashlib
import os
import pathlib
import shutil
import socket
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import debian_sources  # noqa: E402
from programs import HTTPD_CONF, PAGE, TEXT  # noqa: E402

BUILD_SECONDS = 1800
RUN_SECONDS = 120


class Failure(Exception):
    pass


def digest(*parts):
    sum_ = hashlib.sha256()
    for part in parts:
        sum_.update(part.read_bytes() if isinstance(part, pathlib.Path) else str(part).encode())
    return sum_.hexdigest()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Kit:
    """`compilers`: others in place of heddle-cc and heddle-c++, to compare with."""

    def __init__(self, tools, home, compilers=None):
        self.tools, self.home, self.compilers = tools, home, compilers or {}
        self.heddle = tools / "heddle"
        self.library = tools.parent / "lib"
        self.sources = debian_sources.DebianSources(home)
        self.environment = os.environ | {
            "PATH": f"{tools}:{os.environ['PATH']}", "HEDDLE_CACHE": f"{home}/cache-of-links",
            "HEDDLE_DIR": f"{home}/runs"}
        self.environment.pop("HEDDLE_VARIANT", None)

    def fetch(self, programs):
        self.sources.fetch(sorted({package for program in programs for package in program.packages}))

    def words(self, program):
        trees = {package: next(iter((self.home / program.name).glob(f"{package}.tree/*/")), "")
                 for package in program.packages}
        return {**trees, "jobs": os.cpu_count(), "prefix": self.home / program.name / "prefix",
                "client": self.home / program.name / "client.o", "work": self.work(program)}

    def work(self, program):
        return self.home / program.name / "work"

    def make(self, folder, command, variant="native"):
        for name, other in self.compilers.items():
            first, *rest = command
            # What CMake is told of a compiler's flags is a list, too.
            listed = other.replace(" ", ";")
            command = [*(other.split() if first == name else [first]),
                       *(word.replace(f"={name}", f"={listed if 'CMAKE' in word else other}")
                         for word in rest)]
        result = subprocess.run(command, cwd=folder, env=self.environment | {"HEDDLE_VARIANT": variant},
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, timeout=BUILD_SECONDS)
        if result.returncode != 0:
            raise Failure(f"{' '.join(command)} in {folder}:\n{result.stdout[-3000:]}")

    def build(self, program):
        """Its libraries and objects, from clean sources."""
        folder, stamp = self.home / program.name, self.home / program.name / "built"
        client = [HERE / "client.c"] if any(job.client for job in program.jobs) else []
        key = digest(self.tools / "heddle-cc", self.library / "heddle-ld", program.build, *client)
        if stamp.exists() and stamp.read_text() == key:
            return key
        shutil.rmtree(folder, ignore_errors=True)
        self.work(program).mkdir(parents=True)
        for package in program.packages:
            self.sources.unpack(package, folder / f"{package}.tree")
        self.make(folder, ["heddle-cc", "-O2", "-c", str(HERE / "client.c"), "-o", "client.o"])
        words = self.words(program)
        for where, command in program.build:
            self.make(where.format(**words), [word.format(**words) for word in command])
        stamp.write_text(key)
        return key

    def product(self, program, suffix, variant):
        """The program itself as `variant`."""
        key = self.build(program) + variant
        if variant != "native":
            key += digest(self.library / "libheddle_pass.so")
        words = self.words(program)
        file, where, command = program.products[suffix]
        made = self.home / program.name / f"{program.name}{suffix}.{variant}"
        stamp = made.with_name(made.name + ".key")
        key = digest(key, file, command)
        if made.exists() and stamp.exists() and stamp.read_text() == key:
            return made
        output = pathlib.Path(file.format(**words))
        output.unlink(missing_ok=True)
        self.make(where.format(**words), [word.format(**words) for word in command], variant)
        shutil.copy2(output, made)
        stamp.write_text(key)
        return made

    def clear(self, program, job):
        """Takes away what an earlier execution has written and the next would look at."""
        for name in job.writes:
            (self.work(program) / name).unlink(missing_ok=True)

    def prepare(self, program, job):
        """Words of the job's command line, its environment, and the file it reads."""
        work, port = self.work(program), free_port()
        self.clear(program, job)
        words = {"work": work, "port": port}
        for folder in ("web", "run"):
            (work / folder).mkdir(exist_ok=True)
        for name, contents in (("text", TEXT), ("input", job.stdin), ("web/page.html", PAGE),
                               ("httpd.conf", HTTPD_CONF.format(**words).encode())):
            (work / name).write_bytes(contents)
            # A time of access that the first reader does not change: a replay would see the new one.
            written = (work / name).stat().st_mtime
            os.utime(work / name, (written + 1, written))
        # What `heddle run` is told by flags, a full variant started by itself is told so.
        flags = zip(job.control[::2], job.control[1::2])
        options = ":".join(f"{flag.removeprefix('--').replace('-', '_')}={value}" for flag, value in flags)
        environment = {"TEST_TMPDIR": str(work)} | ({"HEDDLE_OPTIONS": options} if options else {})
        if job.client:
            environment["CLIENT"] = job.client
        return [word.format(**words) for word in job.arguments], self.environment | environment

    def run(self, program, job, variant):
        """Raises Failure unless the job's result is right."""
        made = self.product(program, job.program, variant)
        arguments, environment = self.prepare(program, job)
        with (self.work(program) / "input").open("rb") as stdin:
            result = subprocess.run([made, *arguments], cwd=self.work(program), env=environment,
                                    stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                    timeout=RUN_SECONDS)
        self.judge(job, result)

    def judge(self, job, result):
        said = result.stderr.decode(errors="replace")
        if result.returncode != 0 or (job.client and "answers as expected" not in said):
            raise Failure(f"exit status {result.returncode}: {said[-2000:]}")
        if not job.expects(result.stdout):
            raise Failure("its output is wrong")

    def control(self, program, job, command, *flags):
        """`heddle command flags -- product`; returns its standard output."""
        made = self.product(program, job.program, "native")
        arguments, environment = self.prepare(program, job)
        words = [self.heddle, command, *flags, *job.control, "--stdin", self.work(program) / "input",
                 "--", made, *arguments]
        # A program is executed once more where it is not known yet which libraries it opens: what
        # that writes must not be there in the run that is kept.
        for _ in range(2 if job.writes else 1):
            self.clear(program, job)
            result = subprocess.run(words, cwd=self.work(program), env=environment,
                                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, timeout=BUILD_SECONDS)
        if result.returncode != int(job.fails):
            raise Failure(f"heddle {command} ended with {result.returncode}: "
                          f"{result.stderr.decode(errors='replace')[-1500:]}")
        return result

    def replay(self, program, job, times):
        for _ in range(times):
            self.clear(program, job)
            result = subprocess.run([self.heddle, "replay", "latest"], cwd=self.work(program),
                                    env=self.environment, stdout=subprocess.PIPE,
                                    stderr=subprocess.DEVNULL, timeout=BUILD_SECONDS, text=True)
            if result.returncode != 0:
                raise Failure(result.stdout[-1500:])
