#include "profile/merge/mapping_unifier.h"

#include <tuple>

namespace vesta {

MappingId MappingUnifier::unify(const Dictionary& from, const Mapping& mapping) {
  // A build id names the binary; without one, its path has to do. Size and offset tell the segments
  // of a binary apart. Without any name, only the addresses are left to go by.
  constexpr uint64_t kPage = 4096;
  Mapping identity;
  identity.limit = (mapping.limit - mapping.start + kPage - 1) / kPage;
  identity.file_offset = mapping.file_offset;
  const StringId file = target_.string(from.string(mapping.file));
  if (mapping.build_id) {
    identity.build_id = target_.string(from.string(mapping.build_id));
  } else if (file) {
    identity.file = file;
  } else {
    identity.start = mapping.start;
  }
  const MappingId id = target_.mapping(identity);
  if (!id) return id;

  if (twins_.size() <= id.index()) twins_.resize(id.index() + 1);
  Twins& twins = twins_[id.index()];
  const Dictionary& d = target_.dictionary();
  if (!twins.seen || std::tie(mapping.start, mapping.limit) < std::tie(twins.start, twins.limit)) {
    twins.start = mapping.start;
    twins.limit = mapping.limit;
  }
  if (!twins.file || (file && d.string(file) < d.string(twins.file))) twins.file = file;
  twins.has_functions &= mapping.has_functions;
  twins.has_filenames &= mapping.has_filenames;
  twins.has_line_numbers &= mapping.has_line_numbers;
  twins.has_inline_frames &= mapping.has_inline_frames;
  twins.seen = true;
  return id;
}

MappingId MappingUnifier::lesser(MappingId a, MappingId b) const {
  if (!a || !b) return a ? a : b;
  const Dictionary& d = target_.dictionary();
  const auto key = [&](MappingId id) {
    const Mapping& m = d.mapping(id);
    return std::tuple(d.string(m.file), d.string(m.build_id), m.file_offset, m.limit, m.start);
  };
  return key(b) < key(a) ? b : a;
}

void MappingUnifier::settle() {
  Dictionary& d = target_.dictionary();
  for (size_t i = 1; i < twins_.size(); ++i) {
    const Twins& twins = twins_[i];
    if (!twins.seen) continue;
    Mapping& mapping = d.mappings[i];
    mapping.start = twins.start;
    mapping.limit = twins.limit;
    mapping.file = twins.file;
    mapping.has_functions = twins.has_functions;
    mapping.has_filenames = twins.has_filenames;
    mapping.has_line_numbers = twins.has_line_numbers;
    mapping.has_inline_frames = twins.has_inline_frames;
  }
  for (Location& location : d.locations) {
    const size_t mapping = location.mapping.index();
    if (mapping < twins_.size() && twins_[mapping].seen) location.address += twins_[mapping].start;
  }
}

}  // namespace vesta
