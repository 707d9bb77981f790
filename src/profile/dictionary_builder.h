// Adds to a Dictionary and gives equal content equal ids: for readers whose input has no tables of
// its own, and for merges. Refers to the dictionary, which must outlive it and must not be changed
// by others meanwhile. Not thread-safe.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/id_index.h"
#include "profile/dictionary.h"

namespace vesta {

class DictionaryBuilder {
 public:
  // The dictionary may hold entries already; they are found again too. A table is indexed when it
  // is first used, so tables that nobody asks about cost nothing.
  explicit DictionaryBuilder(Dictionary& dictionary) : dictionary_(dictionary) {}

  Dictionary& dictionary() { return dictionary_; }

  StringId string(std::string_view text) { return dictionary_.strings.intern(text); }
  FunctionId function(const Function& function);
  MappingId mapping(const Mapping& mapping);
  LocationId location(const Location& location, std::span<const Line> lines);
  // Leaf first.
  StackId stack(std::span<const LocationId> locations);
  // Any order, no repeated key-value pair expected; the stored set is sorted, so that equal sets
  // have one id.
  LabelSetId label_set(std::span<const Label> labels);
  LinkId link(const Link& link);

  // Short cuts for formats that know little more than names. The texts must not be views into this
  // dictionary: adding the first may move the second.
  FunctionId function(std::string_view name, std::string_view file = {}, int64_t start_line = 0);
  // One function, at a line, with no address. An empty name gives a location with no lines.
  LocationId frame(std::string_view name, std::string_view file = {}, int64_t line = 0,
                   FrameKind kind = FrameKind::kUnknown, MappingId mapping = {});
  Label text_label(std::string_view key, std::string_view value);
  Label number_label(std::string_view key, int64_t value, std::string_view unit = {});

 private:
  struct TableIndex {
    IdIndex ids;
    size_t known = 0;  // entries of the table that are in `ids`
    template <class Hash, class Same>
    void catch_up(size_t size, Hash&& hash, Same&& same);
  };
  template <class Id, class T>
  static Id intern(TableIndex& index, std::vector<T>& table, const T& item);
  template <class Id, class T>
  static Id intern(TableIndex& index, ListTable<Id, T>& table, std::span<const T> list);

  Dictionary& dictionary_;
  TableIndex functions_;
  TableIndex mappings_;
  TableIndex locations_;
  TableIndex stacks_;
  TableIndex label_sets_;
  TableIndex links_;
  std::vector<Label> sorted_labels_;  // scratch
};

}  // namespace vesta
