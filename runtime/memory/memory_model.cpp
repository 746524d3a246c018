// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory/memory_model.h"

#include "runtime/base/text.h"
#include "runtime/memory/sequential_consistency.h"
#include "runtime/memory/store_buffer_model.h"

namespace heddle::runtime {

MemoryModel* find_memory_model(const char* name) {
  static constinit SequentialConsistency sc;
  static constinit StoreBufferModel tso(FlushOrder::AsStored);
  static constinit StoreBufferModel pso(FlushOrder::PerLocation);
  struct Row {
    const char* name;
    MemoryModel* model;
  };
  const Row rows[] = {{"sc", &sc}, {"tso", &tso}, {"pso", &pso}};
  for (const Row& row : rows) {
    if (same_text(row.name, name)) return row.model;
  }
  return nullptr;
}

}  // namespace heddle::runtime
