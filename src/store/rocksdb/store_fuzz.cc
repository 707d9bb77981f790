#include <cstdint>
#include <cstdlib>

#include "store/rocksdb/format/dictionary_chunk.h"
#include "store/rocksdb/format/record.h"
#include "store/rocksdb/format/stored_totals.h"

namespace vesta::rocks {
namespace {

// What is read from the disk is trusted in nothing, and a record that reads well is written again
// with the same meaning.
int read_as_stored(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 0) {
    HourTotals totals;
    if (totals.parse(bytes, 5) && totals.has_durations()) totals.for_each([](const TimedTotal&) {});
    std::vector<HourSummary> hours;
    decode_day_totals(bytes, 5, hours);
    RecordView view;
    if (!view.parse(bytes)) return 0;
    view.for_each_weight(1000, [](StackNumber, int64_t) {});
    std::vector<Row> rows;
    if (!view.read_rows(1000, 5, rows)) return 0;
    const std::string again = encode_record(view.header(), rows, 5);
    RecordView second;
    std::vector<Row> same;
    if (!second.parse(again) || !second.read_rows(1000, 5, same)) std::abort();
    if (same.size() != rows.size()) std::abort();
    for (size_t i = 0; i < rows.size(); ++i) {
      if (same[i].key != rows[i].key || same[i].value != rows[i].value) std::abort();
    }
    return 0;
  }
  StackTree tree;
  LabelSets sets;
  sets.push_back({});
  decode_chunk(bytes, tree, sets);
  DictionaryMark mark;
  StackNumbers stacks;
  StackNumbers set_numbers;
  decode_chunk_hashes(bytes, mark, stacks, set_numbers);
  return 0;
}

}  // namespace
}  // namespace vesta::rocks

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return vesta::rocks::read_as_stored(data, size);
}
