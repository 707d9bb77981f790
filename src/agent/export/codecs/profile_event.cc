#include "agent/export/codecs/profile_event.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "agent/export/codecs/resource.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "base/text.h"
#include "base/time.h"
#include "profile/frame_name.h"
#include "profile/profile_types.h"

namespace vesta::agent {
namespace {

constexpr size_t kPathFrames = 5;
constexpr size_t kNone = SIZE_MAX;

// By the profile's name and, where that says too little, the beginning of its first type.
struct KindWords {
  std::string_view family;
  std::string_view type;
  std::string_view event_type;  // ending with a dot: the sample's own event comes behind it
  std::string_view profile_type;
  std::string_view usual_event = {};
};

constexpr std::array<KindWords, 17> kJfrKinds{{
    {"process_cpu", "", "jdk.ExecutionSample", "cpu"},
    {"execution", "", "jdk.ExecutionSample", "cpu"},
    {"perf_event", "", "jdk.ExecutionSample", "cpu"},
    {"wall", "", "profiler.WallClockSample", "wall"},
    {"native", "", "jdk.NativeMethodSample", "cpu_native"},
    {"memory", "alloc_in_new_tlab", "jdk.ObjectAllocationInNewTLAB", "alloc"},
    {"memory", "alloc_outside_tlab", "jdk.ObjectAllocationOutsideTLAB", "alloc"},
    {"memory", "alloc_sample", "jdk.ObjectAllocationSample", "alloc"},
    {"memory", "live", "profiler.LiveObject", "heap"},
    {"memory", "malloc", "profiler.Malloc", "alloc"},
    {"memory", "inuse", "profiler.Malloc", "heap"},
    {"old_objects", "", "jdk.OldObjectSample", "heap"},
    {"mutex", "", "jdk.", "lock", "JavaMonitorEnter"},
    {"block", "", "jdk.", "lock", "ThreadPark"},
    {"io", "", "jdk.", "io", "FileRead"},
    {"gc", "", "jdk.GarbageCollection", "gc"},
    {"", "", "jdk.Sample", ""},
}};

const KindWords& jfr_words(std::string_view family, std::string_view type) {
  for (const KindWords& kind : kJfrKinds) {
    if (kind.family.empty() || (kind.family == family && type.starts_with(kind.type))) return kind;
  }
  return kJfrKinds.back();
}

KindWords kind_words(bool is_jfr, std::string_view family, std::string_view type) {
  if (is_jfr) return jfr_words(family, type);
  const EventWords words = event_words(family, type);
  return {family, type, words.event, words.profile_type};
}

void text_field(JsonWriter& json, std::string_view name, const std::string& value) {
  if (!value.empty()) json.field(name, std::string_view(value));
}
void number_field(JsonWriter& json, std::string_view name, int64_t value) {
  if (value != 0) json.field(name, value);
}

}  // namespace

struct ProfileEvents::Frame {
  std::string function;
  std::string class_name;  // of the JVM; empty otherwise
  std::string method;
  std::string file;
  std::string module;
  int64_t line = 0;
  uint64_t address = 0;
  bool is_kernel = false;
  bool is_inline = false;
  bool is_named = false;
};

ProfileEvents::ProfileEvents(const Dictionary& dictionary, const Profile& profile)
    : dictionary_(dictionary), profile_(profile), is_jfr_(comes_from_jfr()) {
  find_types();
}

bool ProfileEvents::comes_from_jfr() const {
  const std::string source = resource_text(dictionary_, profile_, "profile.source");
  if (!source.empty()) return source == "jfr";
  for (const StackId stack : profile_.samples.stacks) {
    for (const LocationId id : dictionary_.stacks[stack]) {
      const Location& location = dictionary_.location(id);
      if (location.address != 0) return false;
      if (location.kind == FrameKind::kJvm) return true;
    }
  }
  return false;
}

void ProfileEvents::find_types() {
  size_t bytes_type = kNone;
  for (size_t i = 0; i < profile_.sample_types.size(); ++i) {
    const std::string_view unit = dictionary_.string(profile_.sample_types[i].unit);
    size_t& slot = unit == "nanoseconds" ? duration_type_
                   : unit == "bytes"     ? bytes_type
                                         : count_type_;
    if (slot == kNone) slot = i;
  }
  const std::string_view family = dictionary_.string(profile_.name);
  const bool is_lock = family == "mutex" || family == "block";
  weight_type_ = count_type_;
  if (bytes_type != kNone && family != "io") weight_type_ = bytes_type;
  if (duration_type_ != kNone && (is_lock || weight_type_ == kNone)) weight_type_ = duration_type_;
  if (weight_type_ == kNone) weight_type_ = 0;
  if (profile_.sample_types.empty()) return;
  total_weight_ = total_of(profile_, weight_type_);
  total_samples_ = count_type_ != kNone ? total_of(profile_, count_type_)
                                        : static_cast<int64_t>(profile_.samples.size());
}

void ProfileEvents::set_labels(size_t row, ProfileEvent& event) const {
  for (const Label& label : dictionary_.label_sets[profile_.samples.label_set(row)]) {
    const std::string_view key = dictionary_.string(label.key);
    const auto text = [&] { return label_text(dictionary_, label); };
    if (key == "thread" || key == "thread.name") {
      event.thread_name = text();
    } else if (key == "tid" || key == "thread.id") {
      event.thread_id = label.number;
    } else if (key == "state") {
      event.state = text();
    } else if (key == "class") {
      const bool is_lock = event.profile_type == "lock";
      (is_lock ? event.monitor_class : event.object_class) = text();
    } else if (key == "event") {
      event.event_label = text();
    } else if (key == "process") {
      event.comm = text();
    }
  }
}

std::vector<ProfileEvents::Frame> ProfileEvents::frames_of(StackId stack) const {
  std::vector<Frame> frames;
  for (const LocationId id : dictionary_.stacks[stack]) {
    const Location& location = dictionary_.location(id);
    const auto lines = dictionary_.lines[id];
    const size_t count = frame_count(dictionary_, id);
    for (size_t i = 0; i < count; ++i) {
      Frame& frame = frames.emplace_back();
      frame.function = frame_name(dictionary_, id, i);
      frame.address = location.address;
      frame.is_kernel = location.kind == FrameKind::kKernel;
      frame.is_inline = i + 1 < count;
      frame.module = base_name(dictionary_.string(dictionary_.mapping(location.mapping).file));
      if (i < lines.size()) {
        const Function& function = dictionary_.function(lines[i].function);
        frame.file = dictionary_.string(function.file);
        frame.line = lines[i].line;
        frame.is_named =
            (bool(function.name) || bool(function.system_name)) &&
            !is_place_name(dictionary_.string(function.name),
                           dictionary_.string(dictionary_.mapping(location.mapping).file));
      }
      frame.method = frame.function;
      const size_t dot = frame.function.rfind('.');
      if (location.kind == FrameKind::kJvm && dot != std::string::npos) {
        frame.class_name = frame.function.substr(0, dot);
        frame.method = frame.function.substr(dot + 1);
      }
    }
  }
  return frames;
}

ProfileEvent ProfileEvents::event(size_t row) const {
  ProfileEvent event;
  const std::string_view type = profile_.sample_types.empty()
                                    ? std::string_view()
                                    : dictionary_.string(profile_.sample_types[0].type);
  const std::string_view family = dictionary_.string(profile_.name);
  const KindWords words = kind_words(is_jfr_, family, type);
  event.profile_type = words.profile_type.empty() ? family : words.profile_type;
  set_labels(row, event);
  event.event_type = words.event_type;
  if (event.event_type.ends_with('.'))
    event.event_type += event.event_label.empty() ? words.usual_event : event.event_label;
  event.time_ns = profile_.samples.time_ns(row);
  if (event.time_ns <= 0) event.time_ns = profile_.time_ns;
  if (!profile_.sample_types.empty()) {
    event.sample_weight = profile_.value(row, weight_type_);
    if (duration_type_ != kNone) event.duration_ns = profile_.value(row, duration_type_);
  }
  event.total_samples = total_samples_;
  if (total_weight_ > 0) {
    event.self_percent =
        100.0 * static_cast<double>(event.sample_weight) / static_cast<double>(total_weight_);
  }
  const std::vector<Frame> frames = frames_of(profile_.samples.stacks[row]);
  event.stack_depth = frames.size();
  event.kernel_frames = static_cast<size_t>(
      std::ranges::count_if(frames, [](const Frame& f) { return f.is_kernel; }));
  event.is_resolved =
      !frames.empty() && std::ranges::all_of(frames, [](const Frame& f) { return f.is_named; });
  if (!frames.empty()) {
    event.top_function = frames[0].function;
    event.top_class = frames[0].class_name;
    event.top_method = frames[0].method;
  }
  event.body = body(event, frames);
  return event;
}

std::string ProfileEvents::body(const ProfileEvent& event, const std::vector<Frame>& frames) const {
  const auto resource = [&](std::string_view name) {
    return resource_text(dictionary_, profile_, name);
  };
  const auto copy = [&](JsonWriter& json, std::string_view name, std::string_view attribute) {
    text_field(json, name, resource(attribute));
  };
  JsonWriter list;
  list.begin_array();
  std::string path;
  for (size_t i = 0; i < frames.size(); ++i) {
    const Frame& frame = frames[i];
    if (i < kPathFrames) path += (i == 0 ? "" : " <- ") + frame.method;
    list.begin_object();
    if (is_jfr_) {
      list.field("class", std::string_view(frame.class_name));
      list.field("method", std::string_view(frame.method));
      list.field("line", frame.line);
      list.field("depth", static_cast<int64_t>(i));
      text_field(list, "file", frame.file);
    } else {
      list.field("function", std::string_view(frame.function));
      text_field(list, "file", frame.file);
      number_field(list, "line", frame.line);
      list.field("depth", static_cast<int64_t>(i));
      text_field(list, "class", frame.class_name);
      if (!frame.class_name.empty()) text_field(list, "method", frame.method);
      if (frame.address != 0) list.field("address", fmt::format("{:#x}", frame.address));
      text_field(list, "module", frame.module);
      if (frame.is_kernel) list.field("isKernel", true);
      if (frame.is_inline) list.field("isInline", true);
    }
    list.end_object();
  }
  list.end_array();

  JsonWriter json;
  json.begin_object();
  json.field("timestamp", utc_text(UnixNs(std::max<int64_t>(event.time_ns, 0))));
  json.field("eventType", std::string_view(event.event_type));
  json.field("serviceName", std::string_view(service_name(dictionary_, profile_)));
  copy(json, "serviceVersion", "service.version");
  json.field("profileType", std::string_view(event.profile_type));
  if (!is_jfr_) json.field("profileSource", "ebpf");
  copy(json, "k8s_pod_name", "k8s.pod.name");
  copy(json, "k8s_namespace", "k8s.namespace.name");
  copy(json, "k8s_container_name", "k8s.container.name");
  copy(json, "k8s_node_name", "k8s.node.name");
  if (!is_jfr_) {
    copy(json, "k8s_deployment", "k8s.deployment.name");
    copy(json, "hostname", "host.name");
    copy(json, "appName", "service.name");
  }
  text_field(json, "threadName", event.thread_name);
  number_field(json, "threadId", event.thread_id);
  text_field(json, "topFunction", event.top_function);
  text_field(json, "topClass", event.top_class);
  text_field(json, "topMethod", event.top_method);
  text_field(json, "stackPath", path);
  number_field(json, "stackDepth", static_cast<int64_t>(event.stack_depth));
  json.field("stackTrace", std::string_view(list.take()));
  if (!is_jfr_) json.field("resolutionStatus", event.is_resolved ? "resolved" : "unresolved");
  json.field("sampleWeight", event.sample_weight);
  number_field(json, "durationNs", event.duration_ns);
  if (event.duration_ns != 0)
    json.field("selfTimeMs", static_cast<double>(event.duration_ns) / 1e6);
  json.field("selfTimePercent", event.self_percent);
  number_field(json, "totalSamples", event.total_samples);
  text_field(json, "state", event.state);
  if (event.profile_type == "alloc") number_field(json, "allocationSize", event.sample_weight);
  text_field(json, "objectClass", event.object_class);
  text_field(json, "monitorClass", event.monitor_class);
  if (!is_jfr_) {
    const std::string pid = resource("process.pid");
    if (!pid.empty())
      json.field("pid", static_cast<int64_t>(std::strtoll(pid.c_str(), nullptr, 10)));
    number_field(json, "tid", event.thread_id);
    text_field(json, "comm", event.comm);
    copy(json, "containerId", "container.id");
    number_field(json, "kernelFrames", static_cast<int64_t>(event.kernel_frames));
    number_field(json, "userFrames", static_cast<int64_t>(event.stack_depth - event.kernel_frames));
    copy(json, "language", "telemetry.sdk.language");
    copy(json, "process.runtime.name", "process.runtime.name");
    copy(json, "process.runtime.version", "process.runtime.version");
    copy(json, "process.executable.name", "process.executable.name");
    copy(json, "process.executable.path", "process.executable.path");
  }
  json.end_object();
  return json.take();
}

}  // namespace vesta::agent
