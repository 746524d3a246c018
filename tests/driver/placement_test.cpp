// SPDX-License-Identifier: Apache-2.0
#include "driver/placement.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <set>

#include "abi/memory_image.h"
#include "base/error.h"

namespace heddle::driver {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// A process that stands still, with the memory of this one.
class StandingChild {
 public:
  StandingChild() : process_(fork()) {
    while (process_ == 0) pause();
  }
  ~StandingChild() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  StandingChild(const StandingChild&) = delete;
  StandingChild& operator=(const StandingChild&) = delete;
  pid_t id() const { return process_; }

 private:
  pid_t process_;
};

std::vector<ProgramFile> mapped_files() {
  std::ifstream maps("/proc/self/maps");
  std::set<std::string> paths;
  for (std::string line; std::getline(maps, line);) {
    if (const std::size_t at = line.find('/'); at != line.npos) paths.insert(line.substr(at));
  }
  std::vector<ProgramFile> files;
  for (const std::string& path : paths) {
    files.push_back({"known as " + path, path, "files/" + std::to_string(files.size())});
  }
  return files;
}

struct Read {
  abi::PlacementHeader header{};
  std::vector<abi::PlacedFile> files;
  std::vector<abi::PlacedPiece> pieces;
  std::string runs;
};

Read read(const std::string& placement) {
  Read result;
  const char* at = placement.data();
  const auto take = [&](void* to, std::size_t bytes) {
    ASSERT_LE(bytes, static_cast<std::size_t>(placement.data() + placement.size() - at));
    if (bytes != 0) std::memcpy(to, at, bytes);
    at += bytes;
  };
  take(&result.header, sizeof result.header);
  result.files.resize(result.header.files);
  result.pieces.resize(result.header.pieces);
  take(result.files.data(), result.files.size() * sizeof(abi::PlacedFile));
  take(result.pieces.data(), result.pieces.size() * sizeof(abi::PlacedPiece));
  result.runs.assign(at, placement.data() + placement.size());
  return result;
}

/// What the runs say of [begin, begin + bytes); pages that they do not mention stay as they are.
void apply_runs(const std::string& runs, std::uint64_t begin, char* to, std::size_t bytes) {
  const char* at = runs.data();
  for (;;) {
    abi::ImageRun run{};
    std::memcpy(&run, at, sizeof run);
    at += sizeof run;
    if (run.begin == run.end) return;
    if (run.begin >= begin && run.end <= begin + bytes) {
      std::memcpy(to + (run.begin - begin), at, run.end - run.begin);
    }
    at += run.end - run.begin;
  }
}

TEST(Placement, SaysWhichFileIsWhere) {
  const StandingChild child;
  const std::vector<ProgramFile> files = mapped_files();
  const Read placed = read(placement_of(child.id(), files));
  ASSERT_GT(placed.pieces.size(), 4u);
  for (std::size_t i = 1; i < placed.pieces.size(); ++i) {
    EXPECT_LE(placed.pieces[i - 1].end, placed.pieces[i].begin);
  }
  // The code of this function, for one.
  const auto here = reinterpret_cast<std::uint64_t>(&mapped_files);
  const auto piece = std::find_if(
      placed.pieces.begin(), placed.pieces.end(),
      [&](const abi::PlacedPiece& one) { return one.begin <= here && here < one.end; });
  ASSERT_NE(piece, placed.pieces.end());
  ASSERT_LT(piece->file, placed.files.size());
  char self[4096] = {};
  ASSERT_GT(readlink("/proc/self/exe", self, sizeof self - 1), 0);
  EXPECT_EQ(std::string(placed.files[piece->file].name), std::string("known as ") + self);
  EXPECT_THAT(placed.files[piece->file].path, StartsWith("files/"));
}

TEST(Placement, HoldsPagesThatAreNotWhatTheirFileSays) {
  char path[] = "/tmp/heddle-placement-XXXXXX";
  const int file = mkstemp(path);
  ASSERT_EQ(ftruncate(file, 2 * 4096), 0);
  auto* const memory =
      static_cast<char*>(mmap(nullptr, 2 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0));
  memory[4096 + 7] = 'x';
  mprotect(memory, 2 * 4096, PROT_READ);
  const StandingChild child;
  const Read placed = read(placement_of(child.id(), mapped_files()));
  std::string pages(2 * 4096, '-');
  apply_runs(placed.runs, reinterpret_cast<std::uint64_t>(memory), pages.data(), pages.size());
  EXPECT_EQ(pages[7], '-');
  EXPECT_EQ(pages[4096 + 7], 'x');
  EXPECT_EQ(pages[4096 + 8], '\0');
  munmap(memory, 2 * 4096);
  close(file);
  unlink(path);
}

TEST(Placement, NamesAFileThatIsNotKnown) {
  const StandingChild child;
  try {
    placement_of(child.id(), {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::UserMistake);
    EXPECT_THAT(error.what(), HasSubstr("is none of its libraries"));
  }
}

/// Elsewhere, where the variables are not that they would read.
TEST(Placement, FunctionsOfTheKernelsPageBecomeSystemCalls) {
  const auto page = static_cast<std::uint64_t>(getauxval(AT_SYSINFO_EHDR));
  void* const library = dlopen("linux-vdso.so.1", RTLD_NOLOAD | RTLD_LAZY);
  if (page == 0 || library == nullptr) GTEST_SKIP() << "this kernel has none";
  const auto function = reinterpret_cast<std::uint64_t>(dlsym(library, "__vdso_clock_gettime"));
  ASSERT_GT(function, page);
  const StandingChild child;
  const Read placed = read(placement_of(child.id(), mapped_files()));
  constexpr std::size_t kBytes = 16 * 4096;
  auto* const copy = static_cast<char*>(
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  apply_runs(placed.runs, page, copy, kBytes);
  mprotect(copy, kBytes, PROT_READ | PROT_EXEC);
  timespec before{}, now{};
  clock_gettime(CLOCK_MONOTONIC, &before);
  const auto called = reinterpret_cast<int (*)(clockid_t, timespec*)>(copy + (function - page));
  alarm(60);  // the original waits for ever for variables that make sense
  ASSERT_EQ(called(CLOCK_MONOTONIC, &now), 0);
  alarm(0);
  EXPECT_GE(now.tv_sec, before.tv_sec);
  EXPECT_NE(called(12345, &now), 0);
  munmap(copy, kBytes);
}

TEST(Placement, IsFollowedWhereItsFilesAre) {
  abi::PlacementHeader header{};
  std::memcpy(header.magic, abi::kPlacementMagic, sizeof header.magic);
  header.files = 1;
  abi::PlacedFile file{};
  std::strcpy(file.name, "/lib/libone.so");
  std::strcpy(file.path, "libraries/libone.so");
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes.append(reinterpret_cast<const char*>(&file), sizeof file);
  const auto files = placed_files(bytes, "/there");
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files.at("/lib/libone.so"), "/there/libraries/libone.so");
  EXPECT_STREQ(read(placement_in(bytes, "/there")).files[0].path, "/there/libraries/libone.so");
  EXPECT_THROW(placed_files(bytes.substr(0, bytes.size() - 1), "/there"), Error);
}

TEST(Placement, MovesFilesThatWereOpen) {
  abi::ImageHeader header{};
  std::memcpy(header.magic, abi::kImageMagic, sizeof header.magic);
  header.mappings = 1;
  header.descriptors = 3;
  const abi::Mapping mapping{};
  abi::ImageDescriptor descriptors[3] = {};
  descriptors[0].kind = abi::DescriptorKind::StandIn;
  std::strcpy(descriptors[0].path, "socket");
  descriptors[1].kind = descriptors[2].kind = abi::DescriptorKind::File;
  std::strcpy(descriptors[1].path, "/data/in");
  descriptors[2].status_flags = O_WRONLY;
  std::strcpy(descriptors[2].path, "/data/log");
  std::string image(reinterpret_cast<const char*>(&header), sizeof header);
  image.append(reinterpret_cast<const char*>(&mapping), sizeof mapping);
  image.append(reinterpret_cast<const char*>(descriptors), sizeof descriptors);
  const std::vector<OpenFile> files = open_files(image);
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].path, "/data/in");
  EXPECT_TRUE(files[0].is_read);
  EXPECT_FALSE(files[1].is_read);
  const auto moved = open_files(with_open_files_at(
      image, [](const std::string& path) { return path == "/data/in" ? "/copy" : ""; }));
  EXPECT_EQ(moved[0].path, "/copy");
  EXPECT_EQ(moved[1].path, "/data/log");
  EXPECT_THROW(open_files(image.substr(0, image.size() - 1)), Error);
  image[0] = '-';
  EXPECT_THROW(open_files(image), Error);
}

}  // namespace
}  // namespace heddle::driver
