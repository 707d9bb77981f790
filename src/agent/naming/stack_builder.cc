#include "agent/naming/stack_builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "agent/stream/unwind_result.h"

namespace vesta::agent {

StackBuilder::StackBuilder(NameSource& names, Dictionary& dictionary, IsHidden is_hidden)
    : names_(names), dictionary_(dictionary), is_hidden_(std::move(is_hidden)) {}

StackBuilder::StackKey StackBuilder::key_of(const ResolvedSample& sample,
                                            std::span<const CodeAddress> frames) {
  const std::string_view bytes(reinterpret_cast<const char*>(frames.data()), frames.size_bytes());
  return {hash128(bytes), sample.detail, sample.process, sample.probe, sample.result};
}

// Programs come back to the same stacks: one look-up then, instead of one for each frame.
const KnownStack& StackBuilder::stack_of(const ResolvedSample& sample,
                                         std::span<const CodeAddress> frames,
                                         const StackExtras& extras) {
  const StackKey key = key_of(sample, frames);
  const auto found = stacks_.find(key);
  if (found != stacks_.end()) return found->second;
  return stacks_.emplace(key, make_stack(sample, frames, extras)).first->second;
}

void StackBuilder::add_new_places(const ResolvedSample& sample, std::span<const CodeAddress> frames,
                                  std::vector<CodeAddress>& places) const {
  if (stacks_.contains(key_of(sample, frames))) return;
  for (const CodeAddress& address : frames) {
    if (places_.find(address) == nullptr) places.push_back(address);
  }
}

std::vector<std::string_view> StackBuilder::function_names(std::span<const CodeAddress> frames,
                                                           size_t& kernel_functions) {
  functions_.clear();
  kernel_functions = 0;
  for (const CodeAddress& address : frames) {
    if (address.kind == CodeAddress::Kind::kGuessedCaller) continue;
    functions_.push_back(place_of(address).function);
    // They come first.
    if (address.kind == CodeAddress::Kind::kKernel) kernel_functions = functions_.size();
  }
  // Views only when no string is added any more.
  std::vector<std::string_view> names;
  names.reserve(functions_.size());
  for (const StringId function : functions_)
    names.push_back(dictionary_.dictionary().strings[function]);
  return names;
}

std::string_view StackBuilder::cause_of(const ResolvedSample& sample,
                                        std::span<const CodeAddress> frames,
                                        const StackExtras& extras) {
  size_t kernel_functions = 0;
  const std::vector<std::string_view> names = function_names(frames, kernel_functions);
  return extras.cause_of(sample.detail, std::span(names).first(kernel_functions),
                         std::span(names).subspan(kernel_functions));
}

const KnownEnder& StackBuilder::ender_of(const ResolvedSample& sample,
                                         std::span<const CodeAddress> frames,
                                         const StackExtras& extras) {
  StackKey key = key_of(sample, frames);
  key.process = sample.ender.process;
  key.result = sample.ender.result;
  key.detail = sample.ender.tid == 0 ? 0 : 1;
  const auto found = enders_.find(key);
  if (found != enders_.end()) return found->second;
  return enders_.emplace(key, make_ender(sample, frames, extras)).first->second;
}

KnownEnder StackBuilder::make_ender(const ResolvedSample& sample,
                                    std::span<const CodeAddress> frames,
                                    const StackExtras& extras) {
  KnownEnder ender;
  size_t kernel_functions = 0;
  const std::vector<std::string_view> names = function_names(frames, kernel_functions);
  if (extras.interrupt_of != nullptr)
    ender.interrupt = extras.interrupt_of(std::span(names).first(kernel_functions));
  if (ender.interrupt.empty() && sample.ender.tid == 0) ender.interrupt = "interrupt";
  if (!ender.interrupt.empty()) return ender;
  const bool has_user = names.size() > kernel_functions;
  for (const CodeAddress& address : frames) {
    if (address.kind == CodeAddress::Kind::kGuessedCaller) {
      ender.locations.push_back(marker(kGuessedCaller));
      continue;
    }
    // How the kernel wakes a thread is the same for all; what else it did, only its own threads say.
    if (address.kind == CodeAddress::Kind::kKernel && (has_user || !extras.with_kernel)) continue;
    const Place& place = place_of(address);
    if (place.folded != place.frames) ender.locations.push_back(place.location);
  }
  if (!is_complete_stack(sample.ender.result)) {
    ender.locations.push_back(
        marker(fmt::format("[incomplete: {}]", unwind_result_name(sample.ender.result))));
  }
  return ender;
}

StackId StackBuilder::join(std::span<const LocationId> on_top, StackId below) {
  stack_.assign(on_top.begin(), on_top.end());
  const auto others = dictionary_.dictionary().stacks[below];
  stack_.insert(stack_.end(), others.begin(), others.end());
  return dictionary_.stack(stack_);
}

KnownStack StackBuilder::make_stack(const ResolvedSample& sample,
                                    std::span<const CodeAddress> frames,
                                    const StackExtras& extras) {
  KnownStack stack;
  stack_.clear();
  if (extras.cause_of != nullptr) {
    stack.cause = cause_of(sample, frames, extras);
    stack_.push_back(marker(fmt::format("[{}]", stack.cause)));
  }
  for (const CodeAddress& address : frames) {
    if (address.kind == CodeAddress::Kind::kGuessedCaller) {
      stack_.push_back(marker(kGuessedCaller));
      continue;
    }
    if (address.kind == CodeAddress::Kind::kKernel && !extras.with_kernel) continue;
    const Place& place = place_of(address);
    stack.frames += place.frames;
    if (place.is_named) stack.named_frames += place.frames;
    stack.folded_frames += place.folded;
    stack.is_late |= place.is_late;
    if (place.folded != place.frames) stack_.push_back(place.location);
  }
  if (stack_.empty() && stack.folded_frames != 0) stack_.push_back(marker("[filtered]"));
  if (sample.result == VESTA_UNWIND_TRUNCATED) {
    stack_.push_back(marker("[truncated]"));
  } else if (!is_complete_stack(sample.result)) {
    stack_.push_back(marker(fmt::format("[incomplete: {}]", unwind_result_name(sample.result))));
  }
  if (!extras.outermost.empty()) stack_.push_back(marker(extras.outermost));
  stack.id = dictionary_.stack(stack_);
  return stack;
}

const StackBuilder::Place& StackBuilder::place_of(const CodeAddress& address) {
  if (const Place* known = places_.find(address)) return *known;
  return places_.add(address, make_place(address));
}

StackBuilder::Place StackBuilder::make_place(const CodeAddress& address) {
  source_.clear();
  lines_.clear();
  Place place;
  const uint64_t late_before = names_.too_late();
  place.is_named = names_.symbolize(address, source_);
  place.is_late = names_.too_late() != late_before;
  place.frames = static_cast<uint32_t>(std::max<size_t>(1, source_.size()));
  if (!source_.empty()) place.function = dictionary_.string(source_.front().name);
  if (is_hidden_) {
    place.folded = static_cast<uint32_t>(
        std::erase_if(source_, [&](const SourceFrame& frame) { return is_hidden_(frame.name); }));
    if (place.folded == place.frames) return place;
  }
  for (const SourceFrame& frame : source_) {
    Function function;
    function.name = dictionary_.string(frame.name);
    function.system_name =
        frame.linkage_name.empty() ? function.name : dictionary_.string(frame.linkage_name);
    function.file = dictionary_.string(frame.file);
    function.start_line = frame.start_line;
    lines_.push_back({dictionary_.function(function), frame.column, frame.line});
  }
  Location location;
  // The number of a frame is no address.
  if (address.kind != CodeAddress::Kind::kRuntime) location.address = address.address;
  location.mapping = mapping_of(address);
  location.kind = names_.kind(address);
  if (place.is_named && location.mapping) {
    Mapping& mapping = dictionary_.dictionary().mappings[location.mapping.index()];
    mapping.has_functions = true;
    for (const SourceFrame& frame : source_) {
      mapping.has_filenames |= !frame.file.empty();
      mapping.has_line_numbers |= frame.line != 0;
    }
    mapping.has_inline_frames |= source_.size() > 1;
  }
  // Not interned: equal addresses are found in places_, and flags of mappings change while we go.
  place.location = dictionary_.dictionary().add_location(location, lines_);
  return place;
}

MappingId StackBuilder::mapping_of(const CodeAddress& address) {
  const CodePlace place = names_.place(address);
  if (place.file.empty()) return {};
  const StringId file = dictionary_.string(place.file);
  const StringId build_id = dictionary_.string(place.build_id);
  std::vector<Mapping>& mappings = dictionary_.dictionary().mappings;
  for (size_t i = 1; i < mappings.size(); ++i) {
    if (mappings[i].file == file && mappings[i].build_id == build_id &&
        mappings[i].start == place.start)
      return MappingId(i);
  }
  Mapping mapping;
  mapping.start = place.start;
  mapping.limit = place.limit;
  mapping.file_offset = place.file_offset;
  mapping.file = file;
  mapping.build_id = build_id;
  mappings.push_back(mapping);
  return MappingId(mappings.size() - 1);
}

void StackBuilder::put_first(std::string_view executable) {
  const StringId file = dictionary_.string(executable);
  Dictionary& dictionary = dictionary_.dictionary();
  std::vector<Mapping>& mappings = dictionary.mappings;
  const auto program =
      std::find_if(mappings.begin() + 1, mappings.end(),
                   [&](const Mapping& mapping) { return mapping.file && mapping.file == file; });
  if (program == mappings.end()) return;
  const MappingId first(1);
  const MappingId other(static_cast<size_t>(program - mappings.begin()));
  std::swap(mappings[first.index()], *program);
  for (Location& location : dictionary.locations) {
    if (location.mapping == first) {
      location.mapping = other;
    } else if (location.mapping == other) {
      location.mapping = first;
    }
  }
}

}  // namespace vesta::agent
