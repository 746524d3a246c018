# SPDX-License-Identifier: Apache-2.0
"""memcached under load from outside, natively or recorded."""

import pathlib
import random
import socket
import subprocess
import threading
import time

CLIENTS = 2


def connect(port):
    for _ in range(3000):
        try:
            return socket.create_connection(("127.0.0.1", port))
        except ConnectionRefusedError:
            time.sleep(0.01)
    raise TimeoutError(f"nobody listens at {port}")


class Load:
    """Clients that set and get until they are told to stop, `rate` requests a second each (0: without
    a pause); the first to see a wrong answer says so."""

    def __init__(self, port, rate):
        self.port, self.rate, self.requests = port, rate, [0] * CLIENTS
        self.over, self.problem = False, None
        self.threads = [threading.Thread(target=self.work, args=(i,)) for i in range(CLIENTS)]

    def work(self, number):
        try:
            with connect(self.port) as line, line.makefile("rwb") as stream:
                draw, begin = random.Random(number), time.monotonic()
                while not self.over:
                    key, value = f"k{number}.{draw.randrange(500)}", b"v" * draw.randrange(1, 400)
                    stream.write(b"set %s 0 0 %d\r\n%s\r\nget %s\r\n" %
                                 (key.encode(), len(value), value, key.encode()))
                    stream.flush()
                    lines = [stream.readline() for _ in range(4)]
                    if lines[0] != b"STORED\r\n" or lines[2] != value + b"\r\n":
                        raise ValueError(lines)
                    self.requests[number] += 2
                    if self.rate:
                        due = begin + self.requests[number] / self.rate
                        time.sleep(max(0, due - time.monotonic()))
        except (OSError, ValueError) as problem:
            self.problem = self.problem or problem

    def run(self, seconds, look=lambda: None):
        """Requests a second."""
        begin = time.monotonic()
        for thread in self.threads:
            thread.start()
        while time.monotonic() - begin < seconds and self.problem is None:
            time.sleep(0.2)
            look()
        self.over = True
        for thread in self.threads:
            thread.join()
        return sum(self.requests) / (time.monotonic() - begin)

    def end_server(self):
        with connect(self.port) as line:
            line.sendall(b"shutdown\r\n")


def arguments(port):
    return ["-u", "root", "-l", "127.0.0.1", "-p", str(port), "-U", "0", "-A", "-t", "2", "-m", "16"]


def disk_bytes(directory):
    """What the files of a recording take, not how long they are."""
    return sum(file.stat().st_blocks * 512 for file in pathlib.Path(directory).glob("recording-*")
               if file.exists())


def run_natively(program, port, seconds, rate, work):
    server = subprocess.Popen([program, *arguments(port)], cwd=work, stderr=subprocess.DEVNULL)
    load = Load(port, rate)
    reached = load.run(seconds)
    load.end_server()
    server.wait(timeout=60)
    return reached


def run_recorded(heddle, flags, program, port, seconds, rate, work, environment):
    """Requests a second, the most disk the recording took, and what `record --json` says."""
    recording = subprocess.Popen([heddle, "record", "--json", "--keep-all", *map(str, flags), "--",
                                  program, *arguments(port)], cwd=work, env=environment,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    most = 0

    def look():
        nonlocal most
        most = max(most, disk_bytes(pathlib.Path(environment["HEDDLE_DIR"]) / "tmp"))

    load = Load(port, rate)
    reached = load.run(seconds, look)
    load.end_server()
    output, said = recording.communicate(timeout=1800)
    return reached, most, output, said, load.problem
