// SPDX-License-Identifier: Apache-2.0
#include "store/store.h"

#include <gmock/gmock.h>
#include <sqlite3.h>

#include <fstream>

#include "expect_error.h"
#include "sample_run.h"
#include "trace/file.h"

namespace heddle::store {
namespace {

namespace fs = std::filesystem;
using sample::error_of;
using sample::new_run;
using testing::HasSubstr;

class StoreTest : public sample::ScratchTest {
 protected:
  fs::path store_ = directory_ / "store";

  std::size_t entries(const char* part) const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(store_ / part), fs::directory_iterator()));
  }

  void sql(const char* statement) const {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open((store_ / "catalogue.db").c_str(), &database), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(database, statement, nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(database);
  }
};

TEST_F(StoreTest, GivesBackWhatItTook) {
  NewRun run = new_run();
  RunId id = Store::open_or_create(store_).add(run);
  EXPECT_EQ(id, "r1");
  Store store = Store::open_existing(store_);
  EXPECT_TRUE(store.load_trace(id) == run.trace);
  EXPECT_EQ(store.load_schedule(id), run.schedule);
  EXPECT_EQ(store.load_inputs(id), run.inputs);
  EXPECT_EQ(store.load_output(id), run.output);
  EXPECT_EQ(entries("tmp"), 0u);
}

TEST_F(StoreTest, SummarisesRuns) {
  Store store = Store::open_or_create(store_);
  store.add(new_run());
  NewRun second = new_run();
  second.trace = sample::deadlock();
  second.command = "run";
  store.add(second);
  std::vector<RunSummary> runs = store.list();
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].id, "r1");
  EXPECT_EQ(runs[0].command, "explore");
  EXPECT_EQ(runs[0].program, "./counter");
  EXPECT_EQ(runs[0].build_id, "5ca1ab1e0ddba11c0ffee0000000000000000001");
  EXPECT_EQ(runs[0].outcome, abi::FailureKind::Assert);
  EXPECT_EQ(runs[0].signature, "assert counter.c:19 (main)");
  EXPECT_EQ(runs[0].events, 14u);
  EXPECT_EQ(runs[0].threads, 3u);
  EXPECT_EQ(runs[0].switches, 4u);
  EXPECT_EQ(runs[0].preemptions, 1u);
  EXPECT_EQ(runs[0].seconds, 0.25);
  EXPECT_THAT(runs[0].created, testing::MatchesRegex("20..-..-..T..:..:..Z"));
  EXPECT_EQ(runs[1].id, "r2");
  EXPECT_EQ(runs[1].outcome, abi::FailureKind::Deadlock);
  EXPECT_EQ(runs[1].command, "run");
}

TEST_F(StoreTest, FindsRunsByName) {
  Store store = Store::open_or_create(store_);
  for (int i = 0; i < 12; ++i) store.add(new_run());
  EXPECT_EQ(store.find("r1").id, "r1");
  EXPECT_EQ(store.find("12").id, "r12");
  EXPECT_EQ(store.find("latest").id, "r12");
  for (const char* name : {"r13", "", "r", "r0", "r01", "r1x", "last", "-1", "rr1"})
    EXPECT_THAT(error_of([&] { store.find(name); }),
                HasSubstr("the latest is r12 (assert counter.c:19 (main)), `heddle ls`"))
        << name;
  // r1 is a prefix of r10, r11 and r12, but none of them is meant.
  store.remove("r1");
  EXPECT_THAT(error_of([&] { store.find("r1"); }), HasSubstr("there is no run r1 in"));
}

TEST_F(StoreTest, NeverGivesANumberTwice) {
  {
    Store store = Store::open_or_create(store_);
    store.add(new_run());
    store.add(new_run());
    store.remove("latest");
  }
  Store store = Store::open_or_create(store_);
  EXPECT_EQ(store.add(new_run()), "r3");
}

TEST_F(StoreTest, RemovesRunsWithTheirFiles) {
  Store store = Store::open_or_create(store_);
  store.add(new_run());
  store.add(new_run());
  store.remove("r1");
  EXPECT_FALSE(fs::exists(store.run_directory("r1")));
  EXPECT_EQ(store.list().size(), 1u);
  EXPECT_THAT(error_of([&] { store.remove("r1"); }), HasSubstr("there is no run r1"));
  EXPECT_THAT(error_of([&] { store.load_trace("r1"); }), HasSubstr("there is no run r1"));
}

TEST_F(StoreTest, SaysHowToMakeRunsWhenThereAreNone) {
  EXPECT_THAT(error_of([&] { Store::open_existing(store_); }), HasSubstr("`heddle explore -- "));
  EXPECT_FALSE(fs::exists(store_));
  Store store = Store::open_or_create(store_);
  EXPECT_TRUE(store.list().empty());
  EXPECT_THAT(error_of([&] { store.find("latest"); }), HasSubstr("`heddle explore -- "));
}

TEST_F(StoreTest, NamesDamagedFiles) {
  Store store = Store::open_or_create(store_);
  RunId id = store.add(new_run());
  fs::path run = store.run_directory(id);
  std::string whole = trace::read_file(run / "trace");

  std::string damaged = whole;
  damaged[whole.size() / 2] ^= 1;
  trace::write_file(run / "trace", damaged);
  EXPECT_THAT(error_of([&] { store.load_trace(id); }),
              HasSubstr("r1/trace: damaged trace at byte"));

  trace::write_file(run / "trace", whole.substr(0, whole.size() / 3));
  EXPECT_THAT(error_of([&] { store.load_trace(id); }),
              HasSubstr("r1/trace: cut off: 0 of 14 events"));

  trace::write_file(run / "inputs", "{");
  EXPECT_THAT(error_of([&] { store.load_inputs(id); }), HasSubstr("r1/inputs: damaged file"));
  trace::write_file(run / "schedule", "heddle-schedule 1\n");
  EXPECT_THAT(error_of([&] { store.load_schedule(id); }), HasSubstr("r1/schedule: cut off"));
}

TEST_F(StoreTest, NamesMissingFiles) {
  Store store = Store::open_or_create(store_);
  for (const char* file : {"trace", "schedule", "inputs", "stdout", "stderr"}) {
    RunId id = store.add(new_run());
    fs::remove(store.run_directory(id) / file);
    std::string message = error_of([&] {
      store.load_output(id);
      store.load_inputs(id);
      store.load_schedule(id);
      store.load_trace(id);
    });
    EXPECT_THAT(message, HasSubstr("run " + id + " lacks its file"));
    EXPECT_THAT(message, HasSubstr(id + "/" + file +
                                   "; restore it, or remove what is left with "
                                   "`heddle rm " +
                                   id + "`"));
    store.remove(id);
  }
  EXPECT_TRUE(store.list().empty());
}

TEST_F(StoreTest, KeepsItselfOutOfVersionControl) {
  Store::open_or_create(store_);
  EXPECT_EQ(trace::read_file(store_ / ".gitignore"), "*\n");
}

TEST_F(StoreTest, LeavesANewerStoreAlone) {
  Store::open_or_create(store_).add(new_run());
  sql("PRAGMA user_version = 2");
  std::string before = trace::read_file(store_ / "catalogue.db");
  for (auto open : {&Store::open_existing, &Store::open_or_create})
    EXPECT_THAT(error_of([&] { open(store_); }),
                HasSubstr("made by a newer Heddle (schema 2, this one knows up to 1); update"));
  EXPECT_EQ(trace::read_file(store_ / "catalogue.db"), before);
}

TEST_F(StoreTest, SaysWhenTheCatalogueIsDamaged) {
  Store::open_or_create(store_).add(new_run());
  trace::write_file(store_ / "catalogue.db", std::string(5000, 'x'));
  EXPECT_THAT(error_of([&] { Store::open_existing(store_); }),
              HasSubstr("catalogue.db is damaged"));
  trace::write_file(store_ / "catalogue.db", "");
  EXPECT_THAT(error_of([&] { Store::open_existing(store_); }),
              HasSubstr("is not a catalogue of runs"));
}

TEST_F(StoreTest, AdoptsARunWhoseMakerWasKilledBeforeTheRow) {
  {
    Store store = Store::open_or_create(store_);
    store.add(new_run("first"));
    store.add(new_run("second"));
  }
  // As if the row of r2 had never been written.
  sql("DELETE FROM runs WHERE number = 2; UPDATE sqlite_sequence SET seq = 1 WHERE name = 'runs'");
  Store store = Store::open_existing(store_);
  ASSERT_EQ(store.list().size(), 2u);
  EXPECT_EQ(store.find("r2").signature, "assert counter.c:19 (main)");
  EXPECT_EQ(store.load_output("r2").standard_output, "second");
}

TEST_F(StoreTest, AdoptsWhatStandsInTheWayOfANewRun) {
  Store store = Store::open_or_create(store_);
  store.add(new_run("first"));
  fs::copy(store.run_directory("r1"), store.run_directory("r2"), fs::copy_options::recursive);
  EXPECT_EQ(store.add(new_run("third")), "r3");
  EXPECT_EQ(store.load_output("r2").standard_output, "first");
  EXPECT_EQ(store.load_output("r3").standard_output, "third");
  EXPECT_EQ(store.list().size(), 3u);
}

TEST_F(StoreTest, PutsAsideADirectoryThatIsNoRun) {
  Store store = Store::open_or_create(store_);
  fs::create_directories(store.run_directory("r1"));
  std::ofstream(store.run_directory("r1") / "note") << "mine";
  EXPECT_EQ(store.add(new_run()), "r1");
  EXPECT_EQ(trace::read_file(store_ / "runs" / "r1.damaged" / "note"), "mine");
  EXPECT_EQ(Store::open_existing(store_).list().size(), 1u);
}

TEST_F(StoreTest, FinishesAnInterruptedRemoval) {
  Store::open_or_create(store_).add(new_run());
  sql("DELETE FROM runs");
  Store store = Store::open_existing(store_);
  EXPECT_TRUE(store.list().empty());
  EXPECT_EQ(entries("runs"), 0u);
}

TEST_F(StoreTest, DeletesOldLeftoversOnly) {
  Store::open_or_create(store_);
  fs::create_directories(store_ / "tmp" / "add-old");
  fs::create_directories(store_ / "tmp" / "add-new");
  fs::last_write_time(store_ / "tmp" / "add-old",
                      fs::file_time_type::clock::now() - std::chrono::hours(25));
  Store::open_or_create(store_);
  EXPECT_FALSE(fs::exists(store_ / "tmp" / "add-old"));
  EXPECT_TRUE(fs::exists(store_ / "tmp" / "add-new"));
}

TEST_F(StoreTest, AddsNothingWhenARunCannotBeWritten) {
  Store store = Store::open_or_create(store_);
  NewRun run = new_run();
  run.trace.events[0].site = 4711;
  error_of([&] { store.add(run); }, ExitCode::Defect);
  EXPECT_TRUE(store.list().empty());
  EXPECT_EQ(entries("tmp"), 0u);
  EXPECT_EQ(store.add(new_run()), "r1");
}

TEST_F(StoreTest, IsWhereTheEnvironmentSays) {
  setenv("HEDDLE_DIR", store_.c_str(), 1);
  EXPECT_EQ(Store::default_directory(), store_);
  setenv("HEDDLE_DIR", "", 1);
  EXPECT_EQ(Store::default_directory(), ".heddle");
  unsetenv("HEDDLE_DIR");
  EXPECT_EQ(Store::default_directory(), ".heddle");
}

TEST_F(StoreTest, KeepsWhichEventsAreWorthShowing) {
  Store store = Store::open_or_create(store_);
  const RunId id = store.add(new_run());
  EXPECT_FALSE(store.load_slice(id));
  for (const std::vector<bool>& shown :
       {std::vector<bool>{}, {true}, {false}, {true, false, true, true}, {false, true, false}}) {
    store.keep_slice(id, shown);
    EXPECT_EQ(store.load_slice(id), shown);
  }
  for (const char* text : {"", "slice", "slice x", "slice 3\n2 1\n", "slice 3\n0 4\n", "other 3\n",
                           "slice 3\n0 1\nx", "slice 99999999999999\n"}) {
    trace::write_file(store_ / "runs" / id / "slice", text);
    EXPECT_FALSE(store.load_slice(id)) << text;
  }
}

}  // namespace
}  // namespace heddle::store
