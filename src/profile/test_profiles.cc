#include "profile/test_profiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <random>
#include <stdexcept>

#include "profile/dictionary_builder.h"
#include "profile/frame_name.h"

namespace vesta::test {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

// "work@src/a.cc:12"
Line line_from(DictionaryBuilder& builder, std::string_view text) {
  const size_t at = text.find('@');
  if (at == std::string_view::npos) return {builder.function(text), 0, 0};
  std::string_view file = text.substr(at + 1);
  int64_t line = 0;
  if (const size_t colon = file.rfind(':'); colon != std::string_view::npos) {
    std::from_chars(file.data() + colon + 1, file.data() + file.size(), line);
    file = file.substr(0, colon);
  }
  return {builder.function(text.substr(0, at), file), 0, line};
}

LocationId location_from(DictionaryBuilder& builder, std::string_view text) {
  std::vector<Line> lines;
  for (const std::string_view part : split(text, '>')) lines.push_back(line_from(builder, part));
  std::ranges::reverse(lines);  // the model has the innermost function first
  return builder.location({}, lines);
}

std::string label_texts(const Dictionary& d, LabelSetId id) {
  std::vector<std::string> texts;
  for (const Label& label : d.label_sets[id]) {
    texts.push_back(
        label.kind == LabelKind::kString
            ? fmt::format("{}={}", d.string(label.key), d.string(label.text))
            : fmt::format("{}={}{}", d.string(label.key), label.number, d.string(label.unit)));
  }
  std::ranges::sort(texts);
  return fmt::format("{}", fmt::join(texts, ","));
}

// Relative to the mapping, so that the address of the mapping plays no part.
std::string location_text(const Dictionary& d, LocationId id) {
  const Location& l = d.location(id);
  const Mapping& m = d.mapping(l.mapping);
  std::string text = fmt::format("{}+{:x}+{:x}/{}/{}", d.string(m.build_id), l.address - m.start,
                                 m.file_offset, frame_kind_name(l.kind), l.is_folded);
  for (const Line& line : d.lines[id]) {
    const Function& f = d.function(line.function);
    text += fmt::format("({} {} {}:{}:{} {})", d.string(f.name), d.string(f.system_name),
                        d.string(f.file), line.line, line.column, f.start_line);
  }
  return text;
}

}  // namespace

ProfileBatch batch_from(const std::vector<FoldedStack>& stacks, std::string_view type,
                        std::string_view unit) {
  ProfileBatch batch;
  DictionaryBuilder builder(batch.dictionary);
  Profile profile;
  profile.sample_types.push_back(
      {builder.string(type), builder.string(unit), temporality_of(type)});
  for (const FoldedStack& folded : stacks) {
    std::vector<LocationId> locations;
    for (const std::string_view frame : split(folded.stack, ';'))
      locations.push_back(location_from(builder, frame));
    std::ranges::reverse(locations);
    std::vector<Label> labels;
    for (const auto& [key, value] : folded.labels) labels.push_back(builder.text_label(key, value));
    profile.add_sample(builder.stack(locations), std::span<const int64_t>(&folded.value, 1),
                       builder.label_set(labels));
  }
  batch.profiles.push_back(std::move(profile));
  return batch;
}

std::string dump(const ProfileBatch& batch) {
  const Dictionary& d = batch.dictionary;
  std::string out;
  const auto add = [&](const auto&... parts) {
    ((out += fmt::format("{} ", parts)), ...), out += '\n';
  };
  for (size_t i = 0; i < d.strings.size(); ++i) add("string", d.strings[StringId(i)]);
  for (const Function& f : d.functions)
    add("function", f.name.value, f.system_name.value, f.file.value, f.start_line);
  for (const Mapping& m : d.mappings) {
    add("mapping", m.start, m.limit, m.file_offset, m.file.value, m.build_id.value, m.has_functions,
        m.has_filenames, m.has_line_numbers, m.has_inline_frames);
  }
  for (size_t i = 0; i < d.locations.size(); ++i) {
    const Location& l = d.locations[i];
    add("location", l.address, l.mapping.value, static_cast<int>(l.kind), l.is_folded);
    for (const Line& line : d.lines[LocationId(i)])
      add("  line", line.function.value, line.line, line.column);
  }
  for (size_t i = 0; i < d.stacks.size(); ++i) {
    out += "stack";
    for (const LocationId l : d.stacks[StackId(i)]) out += fmt::format(" {}", l.value);
    out += '\n';
  }
  for (size_t i = 0; i < d.label_sets.size(); ++i) {
    add("labels");
    for (const Label& l : d.label_sets[LabelSetId(i)])
      add("  label", l.key.value, static_cast<int>(l.kind), l.text.value, l.unit.value, l.number);
  }
  for (const Link& link : d.links) {
    add("link", fmt::format("{:02x}", fmt::join(link.trace_id, "")),
        fmt::format("{:02x}", fmt::join(link.span_id, "")));
  }
  for (const Profile& p : batch.profiles) {
    add("profile", p.name.value, p.resource.value, p.period_type.type.value,
        p.period_type.unit.value, p.period, p.time_ns, p.duration_ns, p.default_type,
        p.doc_url.value, p.drop_frames.value, p.keep_frames.value);
    for (const SampleType& t : p.sample_types)
      add("  type", t.type.value, t.unit.value, static_cast<int>(t.temporality));
    for (const StringId comment : p.comments) add("  comment", comment.value);
    for (const Loss& loss : p.losses) add("  loss", loss.reason.value, loss.count);
    add("  columns", p.samples.labels.size(), p.samples.links.size(), p.samples.times_ns.size());
    for (size_t row = 0; row < p.samples.size(); ++row) {
      add("  sample", p.samples.stacks[row].value, p.samples.label_set(row).value,
          p.samples.link(row).value, p.samples.time_ns(row),
          fmt::format("{}", fmt::join(p.values(row), " ")));
    }
  }
  return out;
}

std::map<std::string, int64_t> meaning(const ProfileBatch& batch) {
  const Dictionary& d = batch.dictionary;
  std::map<std::string, int64_t> out;
  for (const Profile& p : batch.profiles) {
    for (size_t row = 0; row < p.samples.size(); ++row) {
      std::string stack;
      for (const LocationId location : d.stacks[p.samples.stacks[row]])
        stack += location_text(d, location) + ";";
      for (size_t type = 0; type < p.sample_types.size(); ++type) {
        if (p.value(row, type) == 0) continue;
        const Link& link = d.links[p.samples.link(row).index()];
        int64_t& sum = out[fmt::format(
            "{}|{}|{}|{}|{}|{:02x}|{}", d.string(p.name), label_texts(d, p.resource),
            d.string(p.sample_types[type].type), stack, label_texts(d, p.samples.label_set(row)),
            fmt::join(link.span_id, ""), p.samples.time_ns(row))];
        sum = saturating_add(sum, p.value(row, type));
      }
    }
  }
  std::erase_if(out, [](const auto& entry) { return entry.second == 0; });
  return out;
}

int64_t total_of_type(const ProfileBatch& batch, std::string_view type) {
  int64_t total = 0;
  for (const Profile& p : batch.profiles) {
    for (size_t i = 0; i < p.sample_types.size(); ++i) {
      if (batch.dictionary.string(p.sample_types[i].type) == type)
        total = saturating_add(total, total_of(p, i));
    }
  }
  return total;
}

ProfileBatch random_batch(uint64_t seed, const RandomOptions& options) {
  std::mt19937_64 random(seed);
  const auto below = [&](uint64_t limit) { return random() % limit; };
  ProfileBatch batch;
  DictionaryBuilder b(batch.dictionary);
  std::vector<MappingId> mappings = {MappingId()};
  for (size_t i = 0; i < options.mappings; ++i) {
    Mapping m;
    m.start = 0x400000 + 0x100000 * i + (options.address_randomisation ? 0x1000 * below(64) : 0);
    m.limit = m.start + 0x8000 + 0x1000 * i - below(100);
    m.file_offset = 0x1000 * (i % 2);
    // Seeds disagree on paths and on what was symbolized, and some binaries have no build id.
    m.file = b.string(fmt::format("/usr/lib/{}{}.so", i % 3 == 2 ? "" : below(2) ? "a" : "b", i));
    if (i % 3 != 2) m.build_id = b.string(fmt::format("build{}", i));
    m.has_functions = below(4) != 0;
    m.has_filenames = below(4) != 0;
    mappings.push_back(b.mapping(m));
  }
  std::vector<FunctionId> functions;
  for (size_t i = 0; i < options.functions; ++i) {
    functions.push_back(b.function(fmt::format("function{}", i),
                                   fmt::format("dir/file{}.cc", i % 5),
                                   static_cast<int64_t>(i * 10)));
  }
  const auto random_location = [&] {
    Location l;
    l.mapping = mappings[below(mappings.size())];
    l.address = batch.dictionary.mapping(l.mapping).start + 0x10 * below(16);
    l.kind = static_cast<FrameKind>(below(3));
    std::vector<Line> lines;
    const size_t count = below(4) % 3;
    for (size_t i = 0; i < count; ++i) {
      lines.push_back({functions[below(functions.size())], static_cast<uint32_t>(below(2)),
                       static_cast<int64_t>(below(4))});
    }
    return b.location(l, lines);
  };
  const auto random_labels = [&] {
    std::vector<Label> labels;
    if (below(2)) labels.push_back(b.text_label("thread", fmt::format("worker{}", below(3))));
    if (below(4) == 0) labels.push_back(b.text_label("thread", "main"));
    if (below(3) == 0)
      labels.push_back(b.number_label("bytes", static_cast<int64_t>(below(3)) * 64));
    if (below(4) == 0) labels.push_back(b.number_label("latency", 5, "milliseconds"));
    return b.label_set(labels);
  };
  for (size_t i = 0; i < options.profiles; ++i) {
    Profile p;
    p.name = b.string(below(2) ? "process_cpu" : "memory");
    std::vector<Label> resource;
    if (below(2)) resource.push_back(b.text_label("service_name", below(2) ? "web" : "api"));
    p.resource = b.label_set(resource);
    p.sample_types.push_back({b.string("cpu"), b.string("nanoseconds"), Temporality::kCumulative});
    if (below(2))
      p.sample_types.push_back({b.string("inuse_space"), b.string("bytes"), Temporality::kInstant});
    p.period_type = {b.string("cpu"), b.string("nanoseconds"), Temporality::kCumulative};
    p.period = static_cast<int64_t>(below(3) * 1000);
    p.time_ns = below(3) ? static_cast<int64_t>(1'000'000 + below(1000)) : 0;
    p.duration_ns = static_cast<int64_t>(below(1000));
    p.default_type = static_cast<uint32_t>(below(p.sample_types.size()));
    for (size_t n = below(3); n > 0; --n)
      p.comments.push_back(b.string(fmt::format("comment {}", below(4))));
    if (below(2)) p.doc_url = b.string(below(2) ? "https://docs/a" : "https://docs/b");
    if (below(2)) p.drop_frames = b.string(below(2) ? "function1" : "function2");
    if (below(2)) p.keep_frames = b.string(below(2) ? "function3" : "function4");
    if (below(2)) p.add_loss(b.string(below(2) ? "ring full" : "stack truncated"), 1 + below(5));
    for (size_t row = 0; row < options.samples; ++row) {
      std::vector<LocationId> stack;
      for (size_t depth = below(6); depth > 0; --depth) stack.push_back(random_location());
      std::vector<int64_t> values;
      for (size_t type = 0; type < p.sample_types.size(); ++type)
        values.push_back(static_cast<int64_t>(below(static_cast<uint64_t>(options.max_value))));
      Link link;
      if (below(8) == 0) link.span_id[0] = static_cast<uint8_t>(1 + below(3));
      p.add_sample(b.stack(stack), values, random_labels(), b.link(link),
                   below(8) == 0 ? static_cast<int64_t>(1'000'000 + below(4)) : 0);
    }
    batch.profiles.push_back(std::move(p));
  }
  return batch;
}

MergedProfile merged(ProfileBatch batch, std::string_view type) {
  const auto shared = std::make_shared<const ProfileBatch>(std::move(batch));
  const auto found = find_type(list_types(*shared), type);
  if (!found.ok()) throw std::runtime_error(found.error().message);
  return select_type(shared, *found);
}

FrameProfile frames(ProfileBatch batch, const FrameOptions& options, std::string_view type) {
  auto resolved = resolve_frames(merged(std::move(batch), type), options);
  if (!resolved.ok()) throw std::runtime_error(resolved.error().message);
  return std::move(resolved).value();
}

FrameId frame_named(const FrameProfile& profile, std::string_view name) {
  for (size_t i = 1; i < profile.frames.size(); ++i) {
    if (display_name(profile, FrameId(i)) == name) return FrameId(i);
  }
  return {};
}

std::vector<std::string> rows(const ProfileBatch& batch, size_t profile) {
  std::vector<std::string> out;
  const Dictionary& dictionary = batch.dictionary;
  const Profile& p = batch.profiles.at(profile);
  for (size_t row = 0; row < p.samples.size(); ++row) {
    std::string text;
    const auto stack = dictionary.stacks[p.samples.stacks[row]];
    for (size_t at = stack.size(); at-- > 0;) {
      for (size_t line = frame_count(dictionary, stack[at]); line-- > 0;) {
        if (!text.empty()) text += ';';
        const std::string name = frame_name(dictionary, stack[at], line);
        text += dictionary.location(stack[at]).kind == FrameKind::kKernel ? "{" + name + "}" : name;
      }
    }
    for (const int64_t value : p.values(row)) text += " " + std::to_string(value);
    out.push_back(text);
  }
  return out;
}

std::map<std::string, int64_t> folded(const FrameProfile& profile) {
  std::map<std::string, int64_t> out;
  for (const StackWeight& weight : profile.weights) {
    std::string text;
    const auto stack = profile.stacks[weight.stack];
    for (size_t i = stack.size(); i-- > 0;) {
      if (!text.empty()) text += ';';
      text += display_name(profile, stack[i].frame());
    }
    out[text] += weight.value;
  }
  return out;
}

}  // namespace vesta::test
