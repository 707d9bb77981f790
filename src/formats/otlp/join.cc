#include "formats/otlp/join.h"

#include "formats/otlp/conventions.h"
#include "profile/sample_table.h"

namespace vesta::otlp {
namespace {

bool is_permutation_of_positions(const std::vector<int64_t>& order) {
  std::vector<bool> seen(order.size());
  for (const int64_t position : order) {
    if (position < 0 || static_cast<size_t>(position) >= order.size() || seen[position])
      return false;
    seen[position] = true;
  }
  return true;
}

bool same_measurement(const Profile& a, const Profile& b) {
  return a.name == b.name && a.resource == b.resource && a.period_type == b.period_type &&
         a.period == b.period && a.time_ns == b.time_ns && a.duration_ns == b.duration_ns;
}

}  // namespace

bool join_sample_types(const Dictionary& dictionary, const std::vector<int64_t>& order,
                       std::string_view default_type, std::vector<Profile>& parts) {
  const size_t count = parts.size();
  if (count < 2 || count > kMaxJoinedTypes || order.size() != count) return false;
  if (!is_permutation_of_positions(order)) return false;
  for (const Profile& part : parts) {
    if (!same_measurement(part, parts.front())) return false;
  }
  SampleTable rows(count);
  std::vector<SampleType> types(count);
  std::vector<int64_t> values(count);
  for (size_t i = 0; i < count; ++i) {
    const Profile& part = parts[i];
    const size_t position = static_cast<size_t>(order[i]);
    types[position] = part.sample_types.front();
    for (size_t row = 0; row < part.samples.size(); ++row) {
      values[position] = part.value(row, 0);
      rows.add(part.samples.stacks[row], values, part.samples.label_set(row),
               part.samples.link(row), part.samples.time_ns(row));
    }
    values[position] = 0;
  }
  Profile joined = std::move(parts.front());
  for (size_t i = 1; i < count; ++i) {
    for (const Loss& loss : parts[i].losses) joined.add_loss(loss.reason, loss.count);
  }
  joined.sample_types = std::move(types);
  joined.samples = rows.finish();
  // pprof shows the last type where it names none.
  joined.default_type = static_cast<uint32_t>(count - 1);
  for (size_t i = count; i-- > 0;) {
    if (!default_type.empty() && dictionary.string(joined.sample_types[i].type) == default_type)
      joined.default_type = static_cast<uint32_t>(i);
  }
  parts.clear();
  parts.push_back(std::move(joined));
  return true;
}

}  // namespace vesta::otlp
