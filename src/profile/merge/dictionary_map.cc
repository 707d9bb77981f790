#include "profile/merge/dictionary_map.h"

namespace vesta {
namespace {

template <class Id, class Copy>
Id remembered(std::vector<uint32_t>& places, Id id, Copy&& copy) {
  if (places[id.index()] == 0) {
    // `copy` may itself fill other places, so look the slot up again afterwards.
    const Id copied = copy();
    places[id.index()] = copied.value + 1;
  }
  return Id(places[id.index()] - 1);
}

}  // namespace

DictionaryMap::DictionaryMap(const Dictionary& source, DictionaryBuilder& target,
                             MappingUnifier* unifier)
    : source_(source),
      target_(target),
      unifier_(unifier),
      strings_(source.strings.size()),
      functions_(source.functions.size()),
      mappings_(source.mappings.size()),
      locations_(source.locations.size()),
      stacks_(source.stacks.size()),
      label_sets_(source.label_sets.size()),
      links_(source.links.size()) {}

StringId DictionaryMap::string(StringId id) {
  return remembered(strings_, id, [&] { return target_.string(source_.string(id)); });
}

FunctionId DictionaryMap::function(FunctionId id) {
  return remembered(functions_, id, [&] {
    Function copy = source_.function(id);
    copy.name = string(copy.name);
    copy.system_name = string(copy.system_name);
    copy.file = string(copy.file);
    return target_.function(copy);
  });
}

MappingId DictionaryMap::mapping(MappingId id) {
  return remembered(mappings_, id, [&] {
    Mapping copy = source_.mapping(id);
    if (unifier_ != nullptr) return id ? unifier_->unify(source_, copy) : id;
    copy.file = string(copy.file);
    copy.build_id = string(copy.build_id);
    return target_.mapping(copy);
  });
}

LocationId DictionaryMap::location(LocationId id) {
  return remembered(locations_, id, [&] {
    Location copy = source_.location(id);
    const MappingId from = copy.mapping;
    copy.mapping = mapping(from);
    if (unifier_ != nullptr && copy.mapping) copy.address -= source_.mapping(from).start;
    lines_.clear();
    for (Line line : source_.lines[id]) {
      line.function = function(line.function);
      lines_.push_back(line);
    }
    return target_.location(copy, lines_);
  });
}

StackId DictionaryMap::stack(StackId id) {
  return remembered(stacks_, id, [&] {
    stack_.clear();
    for (const LocationId place : source_.stacks[id]) {
      // Most have been seen before; this loop is where merges spend their time.
      const uint32_t known = locations_[place.index()];
      stack_.push_back(known != 0 ? LocationId(known - 1) : location(place));
    }
    return target_.stack(stack_);
  });
}

LabelSetId DictionaryMap::label_set(LabelSetId id) {
  return remembered(label_sets_, id, [&] {
    labels_.clear();
    for (Label label : source_.label_sets[id]) {
      label.key = string(label.key);
      label.text = string(label.text);
      label.unit = string(label.unit);
      labels_.push_back(label);
    }
    return target_.label_set(labels_);
  });
}

LinkId DictionaryMap::link(LinkId id) {
  return remembered(links_, id, [&] { return target_.link(source_.links[id.index()]); });
}

}  // namespace vesta
