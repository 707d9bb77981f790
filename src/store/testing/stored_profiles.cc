#include "store/testing/stored_profiles.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "profile/dictionary_builder.h"
#include "store/series_labels.h"

namespace vesta::test {
namespace {

LocationId frame_of(DictionaryBuilder& builder, std::string_view text) {
  const size_t at = text.find('@');
  const size_t colon = text.rfind(':');
  if (at == std::string_view::npos || colon == std::string_view::npos || colon < at)
    return builder.frame(text);
  return builder.frame(text.substr(0, at), text.substr(at + 1, colon - at - 1),
                       std::atoll(std::string(text.substr(colon + 1)).c_str()));
}

StackId stack_of(DictionaryBuilder& builder, std::string_view text) {
  std::vector<LocationId> locations;
  while (!text.empty()) {
    const size_t end = std::min(text.find(';'), text.size());
    locations.push_back(frame_of(builder, text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  std::ranges::reverse(locations);
  return builder.stack(locations);
}

std::string hex(const auto& bytes) {
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

std::string exact_frame(const StackTree& tree, const StoredFrame& frame) {
  return fmt::format("{}/{}/{}/{}/{}/{}/{}/{}:{}/{}/{:x}/{}", tree.string(frame.name),
                     tree.string(frame.system_name), tree.string(frame.file),
                     tree.string(frame.binary), tree.string(frame.build_id),
                     frame_kind_name(frame.kind), frame.inlined, frame.line, frame.column,
                     frame.start_line, frame.address, tree.string(frame.shown));
}

template <class FrameText>
std::string join_stack(const StackTree& tree, StackNumber stack, FrameText&& frame_text) {
  std::vector<std::string> frames;
  for (TreeNode node = tree.leaf(stack); node; node = tree.parent(node))
    frames.push_back(frame_text(tree.stored_frame(tree.frame(node))));
  std::ranges::reverse(frames);
  return fmt::format("{}", fmt::join(frames, ";"));
}

template <class StackText>
std::map<std::string, int64_t> collect(const Selection& selection, StackText&& stack_text) {
  std::map<std::string, int64_t> weights;
  for (const ServiceStacks& service : selection.services) {
    for (size_t stack = 0; stack < service.weights.size(); ++stack) {
      if (service.weights[stack] == 0) continue;
      weights[service.service + "|" + stack_text(service.tree, StackNumber(stack))] +=
          service.weights[stack];
    }
  }
  return weights;
}

std::string labels_text(const Dictionary& d, LabelSetId id, bool own_only) {
  std::vector<std::string> texts;
  for (const Label& label : d.label_sets[id]) {
    const std::string_view key = d.string(label.key);
    if (own_only && is_system_label(key)) continue;
    texts.push_back(label.kind == LabelKind::kString
                        ? fmt::format("{}={}", key, d.string(label.text))
                        : fmt::format("{}={}{}", key, label.number, d.string(label.unit)));
  }
  std::ranges::sort(texts);
  return fmt::format("{}", fmt::join(texts, ","));
}

std::string stack_text_of(const Dictionary& d, StackId id) {
  std::string text;
  for (const LocationId at : d.stacks[id]) {
    const Location& location = d.location(at);
    const Mapping& mapping = d.mapping(location.mapping);
    // Addresses are kept only where there is no name.
    const bool named = std::ranges::any_of(d.lines[at], [&](const Line& line) {
      const Function& function = d.function(line.function);
      return function.name || function.system_name;
    });
    text += fmt::format("[{} {} {} {:x}", frame_kind_name(location.kind), d.string(mapping.file),
                        d.string(mapping.build_id),
                        named ? 0 : location.address - mapping.start + mapping.file_offset);
    for (const Line& line : d.lines[at]) {
      const Function& function = d.function(line.function);
      text += fmt::format(" ({} {} {}:{}:{} {})", d.string(function.name),
                          d.string(function.system_name), d.string(function.file), line.line,
                          line.column, function.start_line);
    }
    text += "]";
  }
  return text;
}

}  // namespace

ProfileBatch batch_of(const std::vector<ProfileSpec>& specs) {
  ProfileBatch batch;
  DictionaryBuilder builder(batch.dictionary);
  for (const ProfileSpec& spec : specs) {
    const ProfileType type = type_of(spec.type);
    Profile profile;
    profile.name = builder.string(type.name);
    profile.sample_types.push_back(
        {builder.string(type.sample_type), builder.string(type.sample_unit), type.temporality()});
    profile.period_type = {builder.string(type.period_type), builder.string(type.period_unit),
                           Temporality::kCumulative};
    profile.period = spec.period;
    profile.time_ns = spec.time_ns;
    profile.duration_ns = spec.duration_ns;
    std::vector<Label> labels;
    for (const auto& [name, value] : spec.labels) labels.push_back(builder.text_label(name, value));
    profile.resource = builder.label_set(labels);
    for (const auto& [reason, count] : spec.losses) profile.add_loss(builder.string(reason), count);
    for (const SampleSpec& sample : spec.samples) {
      labels.clear();
      for (const auto& [name, value] : sample.labels)
        labels.push_back(builder.text_label(name, value));
      for (const auto& [name, value] : sample.numbers)
        labels.push_back(builder.number_label(name, value, "bytes"));
      profile.add_sample(stack_of(builder, sample.stack),
                         std::span<const int64_t>(&sample.value, 1), builder.label_set(labels),
                         builder.link(sample.link), sample.time_ns);
    }
    batch.profiles.push_back(std::move(profile));
  }
  return batch;
}

WriteOptions write_options_of(const std::vector<ProfileSpec>& specs) {
  WriteOptions options;
  for (const ProfileSpec& spec : specs) options.piece_of.push_back(spec.piece_of);
  return options;
}

ProfileType type_of(std::string_view id) {
  auto type = ProfileType::parse(id);
  if (!type) throw std::invalid_argument(type.error().message);
  return std::move(type).value();
}

Selector selector_of(std::string_view text) {
  auto selector = parse_selector(text);
  if (!selector) throw std::invalid_argument(selector.error().message);
  return std::move(selector).value().selector;
}

std::string text_of(const Labels& labels) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : labels)
    if (!value.empty()) texts.push_back(fmt::format("{}=\"{}\"", name, value));
  return fmt::format("{{{}}}", fmt::join(texts, ", "));
}

std::string own_labels(const Labels& labels) {
  Labels own;
  std::ranges::copy_if(labels, std::back_inserter(own),
                       [](const auto& label) { return !is_system_label(label.first); });
  return text_of(own);
}

std::string stack_text(const StackTree& tree, StackNumber stack) {
  return join_stack(
      tree, stack, [&](const StoredFrame& frame) { return std::string(tree.string(frame.shown)); });
}

std::map<std::string, int64_t> weights_of(const Selection& selection) {
  return collect(selection, stack_text);
}

std::map<std::string, int64_t> exact_weights_of(const Selection& selection) {
  return collect(selection, [](const StackTree& tree, StackNumber stack) {
    return join_stack(tree, stack,
                      [&](const StoredFrame& frame) { return exact_frame(tree, frame); });
  });
}

std::string header_of(const Selection& selection) {
  std::vector<std::string> services;
  for (const ServiceStacks& service : selection.services) services.push_back(service.service);
  std::vector<std::string> losses;
  for (const LossCount& loss : selection.losses)
    losses.push_back(fmt::format("{}={}", loss.reason, loss.count));
  std::ranges::sort(losses);
  return fmt::format(
      "type {} group {} services {} total {} profiles {} period {} first {} last {} duration {} "
      "losses {}",
      selection.type.id(), text_of(selection.group), services, selection.total, selection.profiles,
      selection.period, selection.first_ns, selection.last_ns, selection.covered.duration_ns(),
      losses);
}

std::string text_of(const TotalsSeries& series) {
  std::string text = text_of(series.group);
  for (const TotalsPoint& point : series.points) {
    text += fmt::format(" {}: {} of {} in {} over {}", point.time_ns, point.value, point.sum,
                        point.profiles, point.covered_ns);
  }
  return text;
}

std::string text_of(const ProfilePoint& point) {
  return fmt::format("{} + {} {} {} {} {}", point.time_ns, point.duration_ns, text_of(point.labels),
                     point.value, hex(point.trace_id), hex(point.span_id));
}

std::vector<std::string> lines_of(const ProfileBatch& batch) {
  const Dictionary& d = batch.dictionary;
  std::vector<std::string> lines;
  for (const Profile& p : batch.profiles) {
    std::string head = fmt::format("{} {{{}}}", d.string(p.name), labels_text(d, p.resource, true));
    for (const SampleType& type : p.sample_types)
      head += fmt::format(" {}:{}", d.string(type.type), d.string(type.unit));
    std::vector<std::string> losses;
    for (const Loss& loss : p.losses)
      losses.push_back(fmt::format("{}={}", d.string(loss.reason), loss.count));
    std::ranges::sort(losses);
    lines.push_back(fmt::format("{} period {} {}:{} at {} for {} losses {}", head, p.period,
                                d.string(p.period_type.type), d.string(p.period_type.unit),
                                p.time_ns, p.duration_ns, losses));
    for (size_t row = 0; row < p.samples.size(); ++row) {
      const Link& link = d.links[p.samples.link(row).index()];
      lines.push_back(fmt::format(
          "{} sample {} {{{}}} {} {} at {}: {}", head, stack_text_of(d, p.samples.stacks[row]),
          labels_text(d, p.samples.label_set(row), false), hex(link.trace_id), hex(link.span_id),
          p.samples.time_ns(row), fmt::join(p.values(row), " ")));
    }
  }
  std::ranges::sort(lines);
  return lines;
}

}  // namespace vesta::test
