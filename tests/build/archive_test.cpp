// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <iterator>

#include "driver/build/link_archive.h"
#include "tests/build/workshop.h"

namespace heddle::build {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

class Archive : public Workshop {
 protected:
  fs::path compressed(const std::string& make_tar) {
    must(make_tar);
    compress_archive(source_ / "a.tar", root_ / "a.tar.zst");
    return root_ / "a.tar.zst";
  }
  static std::string contents(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
};

TEST_F(Archive, UnpacksWhatWasPacked) {
  const std::string long_name = std::string(90, 'd') + "/" + std::string(120, 'f');
  write("in/empty", "");
  write("in/block", std::string(512, 'b'));
  write("in/big", std::string(3000000, 'x') + "end");
  write("in/" + long_name, "deep");
  const fs::path archive = compressed(
      "tar --format=pax --pax-option=delete=atime,delete=ctime,delete=mtime -cf a.tar "
      "in/empty in/block in/big in/*/*");
  unpack_archive(archive, root_ / "out");
  for (const char* name : {"empty", "block", "big"}) {
    EXPECT_EQ(contents(root_ / "out/in" / name), contents(source_ / "in" / name)) << name;
  }
  EXPECT_EQ(contents(root_ / "out/in" / long_name), "deep");
}

TEST_F(Archive, RefusesNamesThatLeadOut) {
  write("evil", "x");
  const fs::path up = compressed("tar -cf a.tar --transform 's,^,../../,' -P evil");
  EXPECT_THROW(unpack_archive(up, root_ / "out"), DamagedArchive);
  const fs::path absolute = compressed("tar -cf a.tar --transform 's,^,/tmp/heddle-,' -P evil");
  EXPECT_THROW(unpack_archive(absolute, root_ / "out"), DamagedArchive);
}

TEST_F(Archive, NoticesDamageEverywhere) {
  write("in/file", std::string(5000, 'x'));
  const fs::path archive = compressed("tar -cf a.tar in/file");
  const std::string good = contents(archive);
  for (std::size_t size = 0; size + 1 < good.size(); ++size) {
    std::ofstream(archive, std::ios::binary) << good.substr(0, size);
    // The last bytes only hold the check sum, read after everything is there.
    if (size < good.size() - 8) {
      EXPECT_THROW(unpack_archive(archive, root_ / "out"), DamagedArchive) << size;
    }
  }
}

}  // namespace
}  // namespace heddle::build
