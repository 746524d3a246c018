// SPDX-License-Identifier: Apache-2.0
//
// One store, several processes: at once, killed, or not allowed to write.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <random>
#include <set>
#include <thread>

#include "base/error.h"
#include "sample_run.h"
#include "store/store.h"
#include "trace/file.h"

namespace heddle::store {
namespace {

namespace fs = std::filesystem;
using sample::new_run;

class StoreProcesses : public sample::ScratchTest {
 protected:
  fs::path store_ = directory_ / "store";

  /// Exits with the error's code, with `unexpected` for anything else.
  static pid_t start(const std::function<void()>& action) {
    pid_t child = fork();
    if (child != 0) return child;
    int code = 0;
    try {
      action();
    } catch (const Error& error) {
      fprintf(stderr, "%s\n", error.what());
      code = static_cast<int>(error.code());
    } catch (...) {
      code = 99;
    }
    _exit(code);
  }

  static int exit_code(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  /// Every run is whole, and nothing but runs is left.
  void expect_sound() const {
    Store store = Store::open_existing(store_);
    std::set<std::string> ids;
    for (const RunSummary& run : store.list()) {
      ids.insert(run.id);
      EXPECT_EQ(store.load_trace(run.id).events.size(), 14u);
      EXPECT_EQ(store.load_schedule(run.id).decisions.size(), 4u);
      store.load_inputs(run.id);
      store.load_output(run.id);
    }
    EXPECT_EQ(ids.size(), store.list().size());
    for (const auto& entry : fs::directory_iterator(store_ / "runs"))
      EXPECT_TRUE(ids.contains(entry.path().filename().string())) << entry.path();
  }
};

TEST_F(StoreProcesses, MayAddAtOnceAlsoTheVeryFirstRun) {
  constexpr int kProcesses = 8, kRuns = 10;
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process)
    children.push_back(start([&] {
      Store store = Store::open_or_create(store_);
      for (int i = 0; i < kRuns; ++i) store.add(new_run(std::to_string(process * kRuns + i)));
    }));
  for (pid_t child : children) EXPECT_EQ(exit_code(child), 0);
  Store store = Store::open_existing(store_);
  EXPECT_EQ(store.list().size(), 1u * kProcesses * kRuns);
  std::set<std::string> outputs;
  for (const RunSummary& run : store.list())
    outputs.insert(store.load_output(run.id).standard_output);
  EXPECT_EQ(outputs.size(), 1u * kProcesses * kRuns);
  expect_sound();
}

TEST_F(StoreProcesses, MayBeKilledAnywhere) {
  Store::open_or_create(store_);
  std::mt19937 random(5);
  std::size_t before = 0;
  auto directories = [&] {
    return std::distance(fs::directory_iterator(store_ / "runs"), fs::directory_iterator());
  };
  for (int round = 0; round < 25; ++round) {
    auto start_count = directories();
    pid_t child = start([&] {
      Store store = Store::open_or_create(store_);
      while (true) {
        RunId id = store.add(new_run());
        if (id.back() == '3') store.remove(id);
      }
    });
    // Not before it has begun, however busy the machine is.
    for (int tries = 0; tries < 10000 && directories() <= start_count; ++tries) usleep(1000);
    usleep(random() % 20000);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    expect_sound();
    // A run, once listed, stays.
    std::size_t now = Store::open_existing(store_).list().size();
    EXPECT_GE(now + 1, before);
    before = now;
  }
  EXPECT_GE(before, 20u);
}

TEST_F(StoreProcesses, KilledBetweenRenameAndRowLosesNothing) {
  Store store = Store::open_or_create(store_);
  store.add(new_run("first"));
  // The child dies inside the transaction, as late as possible: the rename is done, the row is not
  // committed. A reader of the same store meanwhile sees only whole runs.
  pid_t child = start([&] {
    Store own = Store::open_or_create(store_);
    std::thread watcher([&] {
      while (!fs::exists(store_ / "runs" / "r2")) {
      }
      kill(getpid(), SIGKILL);
    });
    own.add(new_run("second"));
    watcher.join();
  });
  exit_code(child);
  Store again = Store::open_existing(store_);
  ASSERT_EQ(again.list().size(), 2u);
  EXPECT_EQ(again.load_output("r2").standard_output, "second");
  expect_sound();
}

TEST_F(StoreProcesses, ThatMayNotWriteAreToldSo) {
  fs::create_directories(directory_ / "closed");
  Store::open_or_create(store_).add(new_run());
  // An orphan that cannot be adopted must not keep the rest from being read.
  fs::copy(store_ / "runs" / "r1", store_ / "runs" / "r2", fs::copy_options::recursive);
  auto unprivileged = [&](const std::function<void()>& action) {
    return exit_code(start([&] {
      // Permissions do not bind root.
      if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(77);
      action();
    }));
  };
  for (const auto& entry : fs::recursive_directory_iterator(directory_))
    fs::permissions(entry,
                    fs::perms::owner_write | fs::perms::group_write | fs::perms::others_write,
                    fs::perm_options::remove);
  fs::permissions(directory_, fs::perms(0555));

  EXPECT_EQ(unprivileged([&] { Store::open_or_create(directory_ / "closed" / "new"); }),
            static_cast<int>(ExitCode::Environment));
  EXPECT_EQ(unprivileged([&] { Store::open_or_create(store_); }),
            static_cast<int>(ExitCode::Environment));
  EXPECT_EQ(unprivileged([&] {
              Store store = Store::open_existing(store_);
              if (store.list().size() != 1) _exit(98);
              store.load_trace("r1");
            }),
            0)
      << "a store that cannot be written can be read";
  EXPECT_EQ(unprivileged([&] { Store::open_existing(store_).add(new_run()); }),
            static_cast<int>(ExitCode::Environment));
  EXPECT_EQ(unprivileged([&] { Store::open_existing(store_).remove("r1"); }),
            static_cast<int>(ExitCode::Environment));

  fs::permissions(directory_, fs::perms(0755));
  for (const auto& entry : fs::recursive_directory_iterator(directory_))
    fs::permissions(entry, fs::perms::owner_write, fs::perm_options::add);
}

}  // namespace
}  // namespace heddle::store
