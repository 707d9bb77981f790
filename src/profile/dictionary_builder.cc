#include "profile/dictionary_builder.h"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include "base/table_hash.h"

namespace vesta {
namespace {

uint64_t hash_of(const Function& f) {
  return TableHash()
      .add(uint64_t{f.name.value} << 32 | f.system_name.value)
      .add(f.file.value)
      .add(static_cast<uint64_t>(f.start_line))
      .value();
}

uint64_t hash_of(const Mapping& m) {
  return TableHash()
      .add(m.start)
      .add(m.limit)
      .add(m.file_offset)
      .add(uint64_t{m.file.value} << 32 | m.build_id.value)
      .value();
}

uint64_t hash_of(const Location& location, std::span<const Line> lines) {
  TableHash hash;
  hash.add(location.address);
  hash.add(uint64_t{location.mapping.value} << 8 | static_cast<uint8_t>(location.kind));
  for (const Line& line : lines) {
    hash.add(uint64_t{line.function.value} << 32 | line.column);
    hash.add(static_cast<uint64_t>(line.line));
  }
  return hash.value();
}

uint64_t hash_of(const Link& link) {
  return table_hash(&link, sizeof link);
}

template <class T>
bool same_list(std::span<const T> a, std::span<const T> b) {
  static_assert(std::has_unique_object_representations_v<T>);
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

auto label_order(const Label& l) {
  return std::tuple(l.key, l.kind, l.text, l.number, l.unit);
}

}  // namespace

// Takes in what was appended to the table since the last look, by whomever.
template <class Hash, class Same>
void DictionaryBuilder::TableIndex::catch_up(size_t size, Hash&& hash, Same&& same) {
  for (; known < size; ++known) {
    const auto at = static_cast<uint32_t>(known);
    ids.find_or_insert(
        hash(at), [&](uint32_t other) { return same(other, at); }, [&] { return at; });
  }
}

template <class Id, class T>
Id DictionaryBuilder::intern(TableIndex& index, std::vector<T>& table, const T& item) {
  index.catch_up(
      table.size(), [&](uint32_t at) { return hash_of(table[at]); },
      [&](uint32_t a, uint32_t b) { return table[a] == table[b]; });
  const Id id(index.ids.find_or_insert(
      hash_of(item), [&](uint32_t at) { return table[at] == item; },
      [&] {
        table.push_back(item);
        return static_cast<uint32_t>(table.size() - 1);
      }));
  index.known = table.size();
  return id;
}

template <class Id, class T>
Id DictionaryBuilder::intern(TableIndex& index, ListTable<Id, T>& table, std::span<const T> list) {
  const auto at_position = [&](uint32_t at) { return std::as_const(table)[Id(at)]; };
  index.catch_up(
      table.size(), [&](uint32_t at) { return table_hash_of(at_position(at)); },
      [&](uint32_t a, uint32_t b) { return same_list(at_position(a), at_position(b)); });
  const Id id(index.ids.find_or_insert(
      table_hash_of(list), [&](uint32_t at) { return same_list(at_position(at), list); },
      [&] { return table.add(list).value; }));
  index.known = table.size();
  return id;
}

FunctionId DictionaryBuilder::function(const Function& function) {
  return intern<FunctionId>(functions_, dictionary_.functions, function);
}

MappingId DictionaryBuilder::mapping(const Mapping& mapping) {
  return intern<MappingId>(mappings_, dictionary_.mappings, mapping);
}

LinkId DictionaryBuilder::link(const Link& link) {
  return intern<LinkId>(links_, dictionary_.links, link);
}

LocationId DictionaryBuilder::location(const Location& location, std::span<const Line> lines) {
  Dictionary& d = dictionary_;
  const auto lines_at = [&](uint32_t at) { return std::as_const(d.lines)[LocationId(at)]; };
  locations_.catch_up(
      d.locations.size(), [&](uint32_t at) { return hash_of(d.locations[at], lines_at(at)); },
      [&](uint32_t a, uint32_t b) {
        return d.locations[a] == d.locations[b] && same_list(lines_at(a), lines_at(b));
      });
  const LocationId id(locations_.ids.find_or_insert(
      hash_of(location, lines),
      [&](uint32_t at) { return d.locations[at] == location && same_list(lines_at(at), lines); },
      [&] { return d.add_location(location, lines).value; }));
  locations_.known = d.locations.size();
  return id;
}

StackId DictionaryBuilder::stack(std::span<const LocationId> locations) {
  return intern(stacks_, dictionary_.stacks, locations);
}

LabelSetId DictionaryBuilder::label_set(std::span<const Label> labels) {
  if (labels.empty()) return {};
  sorted_labels_.assign(labels.begin(), labels.end());
  std::ranges::sort(sorted_labels_, {}, label_order);
  return intern(label_sets_, dictionary_.label_sets, std::span<const Label>(sorted_labels_));
}

FunctionId DictionaryBuilder::function(std::string_view name, std::string_view file,
                                       int64_t start_line) {
  Function f;
  f.name = string(name);
  f.system_name = f.name;
  f.file = string(file);
  f.start_line = start_line;
  return function(f);
}

LocationId DictionaryBuilder::frame(std::string_view name, std::string_view file, int64_t line,
                                    FrameKind kind, MappingId mapping) {
  Location place;
  place.kind = kind;
  place.mapping = mapping;
  if (name.empty()) return location(place, {});
  const Line one{function(name, file), 0, line};
  return location(place, std::span<const Line>(&one, 1));
}

Label DictionaryBuilder::text_label(std::string_view key, std::string_view value) {
  Label label;
  label.key = string(key);
  label.text = string(value);
  return label;
}

Label DictionaryBuilder::number_label(std::string_view key, int64_t value, std::string_view unit) {
  Label label;
  label.key = string(key);
  label.kind = LabelKind::kNumber;
  label.number = value;
  label.unit = string(unit);
  return label;
}

}  // namespace vesta
