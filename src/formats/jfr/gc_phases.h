// Garbage collections and their phases. Phases nest (a pause, its parts, their parts), and a
// recording has them as separate events in any order: here they become stacks with self time, so
// that the sum over a pause is the pause. Owns what it collected. Not thread-safe.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/table_hash.h"
#include "formats/jfr/families.h"

namespace vesta::jfr {

struct GcPhase {
  int64_t gc_id = 0;
  int64_t start_ns = 0;
  int64_t duration_ns = 0;
  StringId name;
  uint8_t level = 0;
  bool concurrent = false;
};

class GcPhases {
 public:
  void add_phase(const GcPhase& phase) { phases_.push_back(phase); }
  // The frame that the phases of this collection are shown under.
  void name_collection(int64_t gc_id, LocationId frame) { collections_.emplace(gc_id, frame); }

  // Hands all phases to the families; the collection is empty afterwards.
  void finish(DictionaryBuilder& builder, Families& families, bool keep_timestamps);

 private:
  std::vector<GcPhase> phases_;
  std::unordered_map<int64_t, LocationId, TableKeyHash> collections_;
};

}  // namespace vesta::jfr
