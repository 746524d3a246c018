# SPDX-License-Identifier: Apache-2.0
"""Recorded programs that depend on what is outside them: in a replay it is not there any more."""

import json
import os
import pathlib
import socket
import threading
import time

from workshop import Workshop

# One thread reads a pipe of another process into memory that the other works on, unprotected.
READER = """
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static volatile long sum, rounds;
static volatile int done;
static void* mix(void* p) {
  while (!done) { rounds = rounds + 1; usleep(500); }
  return p;
}
int main(void) {
  pthread_t t;
  int in = open("in", O_RDONLY);
  char bytes[7];
  long got;
  pthread_create(&t, 0, mix, 0);
  while ((got = read(in, bytes, sizeof bytes)) > 0) {
    for (long i = 0; i < got; ++i) sum = sum * 31 + bytes[i] + rounds;
  }
  done = 1;
  pthread_join(t, 0);
  close(in);
  printf("%ld %ld\\n", sum, rounds);
  return 0;
}
"""

# A thread for each of two clients; what they send is added up without a lock. The port is written
# to a file.
SERVER = """
#include <assert.h>
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
static volatile long total;
static void* serve(void* p) {
  int client = (int)(long)p;
  int events = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN, .data.fd = client};
  epoll_ctl(events, EPOLL_CTL_ADD, client, &event);
  for (;;) {
    char bytes[64];
    epoll_wait(events, &event, 1, -1);
    assert(event.data.fd == client);
    long got = recv(client, bytes, sizeof bytes, 0);
    if (got <= 0) break;
    for (long i = 0; i < got; ++i) total = total + bytes[i];
    send(client, "ok", 2, MSG_NOSIGNAL);
  }
  close(events);
  close(client);
  return 0;
}
int main(void) {
  pthread_t threads[2];
  int on = 1, server = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET};
  socklen_t length = sizeof address;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  assert(bind(server, (struct sockaddr*)&address, sizeof address) == 0);
  assert(listen(server, 5) == 0);
  assert(getsockname(server, (struct sockaddr*)&address, &length) == 0);
  int file = open("port.new", O_WRONLY | O_CREAT | O_TRUNC, 0600);
  dprintf(file, "%d", ntohs(address.sin_port));
  close(file);
  rename("port.new", "port");
  for (int i = 0; i < 2; ++i) {
    struct pollfd ready = {server, POLLIN, 0};
    while (poll(&ready, 1, 20) == 0) {}
    int client = accept(server, 0, 0);
    pthread_create(&threads[i], 0, serve, (void*)(long)client);
  }
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
  printf("%d %ld\\n", ntohs(address.sin_port), total);
  fflush(stdout);
  assert(FAIL == 0);
  return 0;
}
"""

RANDOM = """
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>
static unsigned drawn[2];
static void* draw(void* p) {
  getrandom(&drawn[(long)p], sizeof drawn[0], 0);
  return p;
}
int main(void) {
  pthread_t t;
  unsigned device = 0, stream = 0;
  int in = open("/dev/urandom", O_RDONLY);
  read(in, &device, sizeof device);
  fread(&stream, sizeof stream, 1, fopen("/dev/urandom", "r"));
  pthread_create(&t, 0, draw, (void*)1);
  draw(0);
  pthread_join(t, 0);
  printf("%x %x %x %x\\n", device, stream, drawn[0], drawn[1]);
  return 0;
}
"""

FILES = """
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
int main(void) {
  char bytes[100] = "", line[100] = "";
  int in = open("first", O_RDONLY);
  read(in, bytes, sizeof bytes - 1);
  FILE* stream = fopen("second", "r");
  fgets(line, sizeof line, stream);
  printf("%s%s%d\\n", bytes, line, open("third", O_RDONLY));
  return 0;
}
"""


class Outside(Workshop):
    def comes_back(self, run, times=5):
        replayed = self.json("replay", run, "-n", times)
        self.assertEqual(replayed["identical"], times)

    def output_of(self, run):
        return (self.work / ".heddle" / "runs" / run / "stdout").read_text()

    def beside(self, work):
        """Runs `work` while heddle does."""
        thread = threading.Thread(target=work)
        thread.start()
        self.addCleanup(thread.join)

    def test_a_pipe_whose_writer_is_gone(self):
        program = self.build(READER)
        pipe = self.work / "in"
        os.mkfifo(pipe)

        def write():
            with open(pipe, "wb", buffering=0) as out:
                for i in range(5):
                    out.write(b"piece %d\n" % i)
                    time.sleep(0.01)

        self.beside(write)
        found = self.json("record", "--keep-all", "--", program)
        self.assertEqual(found["not_reproduced"], 0, found.get("difference"))
        pipe.unlink()
        self.comes_back(found["run"])

    def talk(self):
        port = self.work / "port"
        while not port.exists():
            time.sleep(0.01)
        number = int(port.read_text())
        clients = [socket.create_connection(("127.0.0.1", number)) for _ in range(2)]
        for text in (b"some", b"thing", b"else"):
            for client in clients:
                client.sendall(text)
            for client in clients:
                self.assertEqual(client.recv(2), b"ok")
        for client in clients:
            client.close()

    def test_a_server_whose_clients_are_gone(self):
        program = self.build(SERVER.replace("FAIL", "0"))
        self.beside(self.talk)
        found = self.json("record", "--keep-all", "--", program)
        self.assertEqual(found["not_reproduced"], 0, found.get("difference"))
        # Nor is its port free.
        number = int((self.work / "port").read_text())
        with socket.socket() as other:
            other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            other.bind(("127.0.0.1", number))
            other.listen()
            self.comes_back(found["run"])
        self.assertTrue(self.output_of(found["run"]).startswith(f"{number} "))

    def test_a_server_that_fails_is_reduced_without_clients(self):
        program = self.build(SERVER.replace("FAIL", "1"))
        self.beside(self.talk)
        found = self.json("record", "--", program, status=1)
        self.assertEqual(found["failures"][0]["signature"]["kind"], "assert")
        self.comes_back(found["run"])
        reduced = self.json("reduce", found["run"])
        self.comes_back(reduced["run"], 3)

    def test_random_numbers(self):
        program = self.build(RANDOM)
        found = self.json("record", "--keep-all", "--until-failure", 2, "--", program)
        self.assertEqual(found["not_reproduced"], 0, found.get("difference"))
        first, second = found["runs"]
        self.comes_back(first)
        self.assertNotEqual(self.output_of(first), self.output_of(second))

    def test_files_of_the_kernel(self):
        program = self.build("""
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
int main(void) {
  char stat[200] = "", uptime[40] = "", word[40] = "";
  read(open("/proc/self/stat", O_RDONLY), stat, sizeof stat - 1);
  fgets(uptime, sizeof uptime, fopen("/proc/uptime", "r"));
  read(open("/sys/kernel/mm/transparent_hugepage/enabled", O_RDONLY), word, sizeof word - 1);
  printf("%s\\n%s%s", stat, uptime, word);
  return 0;
}
""")
        found = self.json("record", "--keep-all", "--", program)
        self.assertEqual(found["not_reproduced"], 0, found.get("difference"))
        self.assertEqual(found["not_recorded"], [])
        self.assertIn("(prog)", self.output_of(found["run"]))
        self.comes_back(found["run"])

    def test_files_that_changed_since(self):
        program = self.build(FILES)
        (self.work / "first").write_text("one\n")
        (self.work / "second").write_text("two\n")
        found = self.json("record", "--keep-all", "--", program)
        self.assertEqual(found["not_reproduced"], 0, found.get("difference"))
        run = found["run"]
        self.assertEqual(self.output_of(run), "one\ntwo\n-1\n")
        (self.work / "first").write_text("something else\n")
        (self.work / "second").unlink()
        (self.work / "third").write_text("was not there\n")
        self.comes_back(run)
        for copy in (self.work / ".heddle" / "runs" / run / "files").iterdir():
            copy.write_text("damaged")
        self.refused("replay", run, says=("copy", "damaged"))
        for copy in (self.work / ".heddle" / "runs" / run / "files").iterdir():
            copy.unlink()
        self.refused("replay", run, says=("first", "has changed since", "sha256"))

    def test_an_environment_that_is_damaged(self):
        program = self.build(RANDOM)
        run = self.json("record", "--keep-all", "--", program)["run"]
        kept = self.work / ".heddle" / "runs" / run / "environment"
        whole = kept.read_bytes()
        for cut in range(0, len(whole), 7):
            kept.write_bytes(whole[:cut])
            self.refused("replay", run, says=("environment",))
        kept.write_bytes(whole[:-20] + b"x" + whole[-19:])
        self.refused("replay", run, says=("damaged",))
        kept.unlink()
        self.refused("replay", run, says=("environment",))

    def test_the_process_id(self):
        program = self.build("""
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
int main(void) {
  printf("%d\\n", getpid());
  fflush(stdout);
  kill(getpid(), SIGTERM);  /* must be this process, whatever id it had */
  return 0;
}
""")
        found = self.json("record", "--", program, status=1)
        self.assertEqual(found["not_reproduced"], 0, found.get("difference"))
        self.assertEqual(found["failures"][0]["signature"]["kind"], "signal")
        self.comes_back(found["run"])

    def test_signals_that_are_waited_for_or_sent_to_oneself(self):
        program = self.build("""
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
static volatile int handled, received;
static sem_t got;
static void handle(int number) { handled = number; }
static void* wait_for_two(void* set) {
  int first = 0, second = 0;
  sigwait(set, &first);
  sem_post(&got);
  sigwait(set, &second);
  sem_post(&got);
  received = 100 * first + second;
  return 0;
}
int main(int count, char** arguments) {
  sigset_t set;
  pthread_t t;
  const int milliseconds = atoi(arguments[count - 1]);
  sem_init(&got, 0, 0);
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, 0);
  signal(SIGUSR2, handle);
  pthread_create(&t, 0, wait_for_two, &set);
  for (int i = 0; i < 2; ++i) {
    usleep(1000 * milliseconds);
    pthread_kill(t, SIGUSR1);
    sem_wait(&got);
  }
  pthread_join(t, 0);
  raise(SIGUSR2);
  assert(received == 101 * SIGUSR1 && handled == SIGUSR2);
  assert(!"reached");
  return 0;
}
""")
        # Only time tells that the thread waits by now; where it does not the signal is refused.
        for milliseconds in (20, 50, 100, 200, 400, 800, 1600, 3200):
            said = self.heddle("record", "--json", "--", program, milliseconds, status=None)
            if said.returncode == 1:
                break
            self.assertIn("does not wait for signals", said.stdout + said.stderr)
        found = json.loads(said.stdout)
        self.assertEqual(found["not_reproduced"], 0, found.get("difference"))
        self.assertIn("reached", self.heddle("show", found["run"]).stdout)
        self.comes_back(found["run"])

    def test_signals_that_interrupt_are_refused(self):
        program = self.build("""
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
static volatile int over;
static void handle(int number) { over = number; }
static void* spin(void* p) {
  while (!over) usleep(100);
  return p;
}
int main(void) {
  pthread_t t;
  signal(SIGUSR1, handle);
  pthread_create(&t, 0, spin, 0);
  pthread_kill(t, SIGUSR1);
  return pthread_join(t, 0);
}
""")
        self.refused("record", "--", program, says=("pthread_kill", "recorded"))

    def test_from_another_directory(self):
        run = self.json("record", "--keep-all", "--", self.build(RANDOM))["run"]
        elsewhere = self.work / "elsewhere"
        elsewhere.mkdir()
        store = {"HEDDLE_DIR": str(self.work / ".heddle")}
        self.work = elsewhere
        self.assertEqual(self.json("replay", run, environment=store)["identical"], 1)

    def test_memory_of_others_and_devices_are_named(self):
        program = self.build("""
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void) {
  int file = open("shared", O_RDWR);
  int terminal = open("/dev/ptmx", O_RDWR), bytes = 0;
  volatile char* memory = mmap(0, 8, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ioctl(terminal, FIONREAD, &bytes);
  return memory[0] != 'x';
}
""")
        (self.work / "shared").write_text("x" * 8)
        found = self.json("record", "--keep-all", "--", program)
        self.assertEqual(found["not_reproduced"], 0, found.get("difference"))
        named = " ".join(found["not_recorded"])
        for source in ("memory shared with other processes", "ioctl", "files that it changes"):
            self.assertIn(source, named)

    def test_a_debugger_sees_what_was_recorded(self):
        program = self.build("""
#include <stdio.h>
#include <sys/random.h>
#include <time.h>
static volatile long nanoseconds;
static volatile unsigned drawn;
__attribute__((noinline)) static void say_both(void) {
  printf("%ld %u\\n", nanoseconds, drawn);
}
int main(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  nanoseconds = now.tv_nsec;
  getrandom((void*)&drawn, sizeof drawn, 0);
  say_both();
  return 0;
}
""")
        run = self.json("record", "--keep-all", "--", program)["run"]
        said = self.heddle("replay", run, "--gdb", "--", "-batch", "-ex", "break say_both", "-ex",
                           "continue", "-ex", 'printf "%ld %u\\n", nanoseconds, drawn').stdout
        self.assertIn(self.output_of(run), said)

    def test_what_is_not_recorded_is_named(self):
        program = self.build("""
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  char line[40] = "";
  FILE* child = popen("date +%N", "r");
  fgets(line, sizeof line, child);
  pclose(child);
  printf("%s", line);
  return 0;
}
""")
        found = self.json("record", "--keep-all", "--", program, status=3)
        self.assertIn("child processes", found["difference"])
        self.assertIn("child processes", found["not_recorded"])
        self.assertTrue(pathlib.Path(self.work / found["log"]).exists())
