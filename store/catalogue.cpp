// SPDX-License-Identifier: Apache-2.0
#include "store/catalogue.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <unistd.h>

#include "abi/names.h"
#include "base/error.h"

namespace heddle::store {
namespace {

// Adding a run holds the lock for a rename and a row; waiting longer means somebody hangs.
constexpr int kBusyMilliseconds = 30000;

constexpr char kSchema[] = R"sql(
CREATE TABLE runs (
  number      INTEGER PRIMARY KEY AUTOINCREMENT,
  created     TEXT NOT NULL,
  command     TEXT NOT NULL,
  program     TEXT NOT NULL,
  build_id    TEXT NOT NULL,
  outcome     TEXT NOT NULL,
  signature   TEXT NOT NULL,
  events      INTEGER NOT NULL,
  threads     INTEGER NOT NULL,
  switches    INTEGER NOT NULL,
  preemptions INTEGER NOT NULL,
  seconds     REAL NOT NULL
) STRICT;
PRAGMA user_version = 1;
)sql";
static_assert(kSchemaVersion == 1, "the schema above sets the version too");

constexpr char kSelect[] =
    "SELECT number, created, command, program, build_id, outcome, signature, events, threads, "
    "switches, preemptions, seconds FROM runs ";

/// Switching to WAL does not wait for other processes as a transaction does, so the first processes
/// of a store take turns by a lock file of their own.
class CreationLock {
 public:
  explicit CreationLock(const std::filesystem::path& file)
      : descriptor_(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    if (descriptor_ >= 0) flock(descriptor_, LOCK_EX);
  }
  ~CreationLock() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  CreationLock(const CreationLock&) = delete;
  CreationLock& operator=(const CreationLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace

/// One prepared statement; columns and parameters count from 0.
class Catalogue::Statement {
 public:
  Statement(const Catalogue& catalogue, const std::string& sql) : catalogue_(catalogue) {
    int result = sqlite3_prepare_v2(catalogue.database_, sql.c_str(), -1, &statement_, nullptr);
    if (result != SQLITE_OK) catalogue.fail(result);
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  void bind(std::uint64_t value) {
    sqlite3_bind_int64(statement_, ++bound_, static_cast<sqlite3_int64>(value));
  }
  void bind(double value) { sqlite3_bind_double(statement_, ++bound_, value); }
  void bind(const std::string& value) {
    sqlite3_bind_text(statement_, ++bound_, value.data(), static_cast<int>(value.size()),
                      SQLITE_TRANSIENT);
  }

  /// False when there is no further row.
  bool step() {
    int result = sqlite3_step(statement_);
    if (result != SQLITE_ROW && result != SQLITE_DONE) catalogue_.fail(result);
    return result == SQLITE_ROW;
  }

  std::uint64_t number(int column) const {
    return static_cast<std::uint64_t>(sqlite3_column_int64(statement_, column));
  }
  double real(int column) const { return sqlite3_column_double(statement_, column); }
  std::string text(int column) const {
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    if (bytes == nullptr) return "";
    return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
  }

 private:
  const Catalogue& catalogue_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
};

std::unique_ptr<Catalogue> Catalogue::create(const std::filesystem::path& file) {
  CreationLock lock(file.string() + ".lock");
  std::unique_ptr<Catalogue> catalogue(new Catalogue(file));
  catalogue->connect(false);
  if (catalogue->schema_version() == 0) catalogue->make_schema();
  if (!catalogue->writable())
    throw environment_error(
        fmt::format("cannot write {}; make it writable, or set HEDDLE_DIR to another directory",
                    file.string()));
  return catalogue;
}

std::unique_ptr<Catalogue> Catalogue::open(const std::filesystem::path& file) {
  std::unique_ptr<Catalogue> catalogue(new Catalogue(file));
  catalogue->connect(false);
  if (catalogue->schema_version() == 0)
    throw user_error(fmt::format(
        "{} is not a catalogue of runs; `heddle explore -- PROGRAM` makes one", file.string()));
  return catalogue;
}

Catalogue::~Catalogue() {
  sqlite3_close(database_);
}

/// Opens the database and looks at its version before anything else: a newer one is left alone.
void Catalogue::connect(bool immutable) {
  sqlite3_close(database_);
  database_ = nullptr;
  std::string name = file_.string();
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  if (immutable) {
    std::string escaped;
    for (char c : name)
      escaped += c == '%' || c == '?' || c == '#' ? fmt::format("%{:02x}", c) : std::string(1, c);
    name = "file:" + escaped + "?immutable=1";
    flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
  }
  int result = sqlite3_open_v2(name.c_str(), &database_, flags, nullptr);
  if (result == SQLITE_OK) {
    sqlite3_busy_timeout(database_, kBusyMilliseconds);
    result = sqlite3_exec(database_, "PRAGMA schema_version", nullptr, nullptr, nullptr);
  }
  // In a directory that cannot be written SQLite cannot make the files by which processes share the
  // database; nobody else can write there either, so reading without them is safe.
  if ((result == SQLITE_CANTOPEN || (result & 0xff) == SQLITE_READONLY) && !immutable &&
      std::filesystem::exists(file_))
    return connect(true);
  if (result != SQLITE_OK) fail(result);
  writable_ = !immutable && sqlite3_db_readonly(database_, "main") == 0;
  int version = schema_version();
  if (version > kSchemaVersion)
    throw user_error(
        fmt::format("{} was made by a newer Heddle (schema {}, this one knows up to {}); update "
                    "Heddle, or set HEDDLE_DIR to another directory",
                    file_.string(), version, kSchemaVersion));
}

int Catalogue::schema_version() const {
  Statement statement(*this, "PRAGMA user_version");
  statement.step();
  return static_cast<int>(statement.number(0));
}

void Catalogue::make_schema() {
  execute("PRAGMA journal_mode = WAL");
  Transaction transaction(*this);
  execute(kSchema);
  transaction.commit();
}

void Catalogue::execute(const char* sql) const {
  int result = sqlite3_exec(database_, sql, nullptr, nullptr, nullptr);
  if (result != SQLITE_OK) fail(result);
}

void Catalogue::fail(int result) const {
  std::string what = database_ != nullptr ? sqlite3_errmsg(database_) : sqlite3_errstr(result);
  switch (result & 0xff) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      throw user_error(fmt::format(
          "{} is damaged ({}); restore it, or move its directory away: the files of the runs are "
          "in runs/ beside it",
          file_.string(), what));
    case SQLITE_BUSY:
      throw environment_error(fmt::format(
          "{} has been locked by another process for {} s; end that process, then try again",
          file_.string(), kBusyMilliseconds / 1000));
    default:
      throw environment_error(
          fmt::format("cannot use {}: {}; make its directory writable and free space, or set "
                      "HEDDLE_DIR to another directory",
                      file_.string(), what));
  }
}

std::vector<RunSummary> Catalogue::select(const char* condition,
                                          std::optional<std::uint64_t> number) const {
  Statement statement(*this, std::string(kSelect) + condition);
  if (number) statement.bind(*number);
  std::vector<RunSummary> runs;
  while (statement.step()) {
    RunSummary& run = runs.emplace_back();
    run.id = fmt::format("r{}", statement.number(0));
    run.created = statement.text(1);
    run.command = statement.text(2);
    run.program = statement.text(3);
    run.build_id = statement.text(4);
    std::string outcome = statement.text(5);
    if (!abi::failure_from_name(outcome.c_str(), run.outcome))
      throw user_error(
          fmt::format("run {} in {} ended with \"{}\", which this Heddle does not "
                      "know; update Heddle",
                      run.id, file_.string(), outcome));
    run.signature = statement.text(6);
    run.events = statement.number(7);
    run.threads = statement.number(8);
    run.switches = statement.number(9);
    run.preemptions = statement.number(10);
    run.seconds = statement.real(11);
  }
  return runs;
}

std::vector<RunSummary> Catalogue::all() const {
  return select("ORDER BY number", std::nullopt);
}

std::optional<RunSummary> Catalogue::get(std::uint64_t number) const {
  std::vector<RunSummary> found = select("WHERE number = ?", number);
  if (found.empty()) return std::nullopt;
  return found.front();
}

std::optional<RunSummary> Catalogue::newest() const {
  std::vector<RunSummary> found = select("ORDER BY number DESC LIMIT 1", std::nullopt);
  if (found.empty()) return std::nullopt;
  return found.front();
}

std::uint64_t Catalogue::last_number() const {
  Statement statement(*this, "SELECT seq FROM sqlite_sequence WHERE name = 'runs'");
  return statement.step() ? statement.number(0) : 0;
}

void Catalogue::insert(std::uint64_t number, const RunSummary& run) {
  Statement statement(*this, "INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  statement.bind(number);
  statement.bind(run.created);
  statement.bind(run.command);
  statement.bind(run.program);
  statement.bind(run.build_id);
  statement.bind(std::string(abi::name_of(run.outcome)));
  statement.bind(run.signature);
  for (std::uint64_t figure : {run.events, run.threads, run.switches, run.preemptions})
    statement.bind(figure);
  statement.bind(run.seconds);
  statement.step();
}

bool Catalogue::erase(std::uint64_t number) {
  Statement statement(*this, "DELETE FROM runs WHERE number = ?");
  statement.bind(number);
  statement.step();
  return sqlite3_changes(database_) != 0;
}

Catalogue::Transaction::Transaction(Catalogue& catalogue) : catalogue_(&catalogue) {
  catalogue.execute("BEGIN IMMEDIATE");
}

Catalogue::Transaction::~Transaction() {
  // A failed rollback leaves nothing behind either: the connection's end undoes the transaction.
  if (catalogue_ != nullptr)
    sqlite3_exec(catalogue_->database_, "ROLLBACK", nullptr, nullptr, nullptr);
}

void Catalogue::Transaction::commit() {
  catalogue_->execute("COMMIT");
  catalogue_ = nullptr;
}

}  // namespace heddle::store
