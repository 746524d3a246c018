// SPDX-License-Identifier: Apache-2.0
//
// A note that says "linked by Heddle's compilers". It is in a loaded segment, so strip(1) leaves
// it. Owner and type as in driver/build/build_id.h.
struct Note {
  unsigned name_size;
  unsigned description_size;
  unsigned type;
  char name[8];
  unsigned description;
};

__attribute__((used, section(".note.heddle"), aligned(4))) static const struct Note heddle_mark = {
    sizeof "Heddle", sizeof(unsigned), 1, "Heddle", 1};
