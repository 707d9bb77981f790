#include <fmt/format.h>

#include <array>

#include "agent/export/codecs/payload_codecs.h"
#include "agent/export/codecs/profile_event.h"
#include "agent/export/codecs/resource.h"
#include "formats/protobuf/wire.h"

namespace vesta::agent {
namespace {

constexpr uint64_t kSeverityInfo = 9;
constexpr uint32_t kAttributes = 6;  // the field of a LogRecord

// What of a resource is its own in OTLP logs; the rest is said in the records.
constexpr std::array<std::string_view, 7> kResourceNames = {
    "service.version",    "service.namespace", "k8s.namespace.name", "k8s.pod.name",
    "k8s.container.name", "k8s.node.name",     "k8s.cluster.name"};

void any_attribute(WireWriter& out, uint32_t field, std::string_view key, const WireWriter& value) {
  WireWriter pair;
  pair.bytes(1, key);
  pair.message(2, value);
  out.message(field, pair);
}

// Nothing, when there is no text.
void text_attribute(WireWriter& out, uint32_t field, std::string_view key, std::string_view text) {
  if (text.empty()) return;
  WireWriter value;
  value.bytes(1, text);
  any_attribute(out, field, key, value);
}

void number_attribute(WireWriter& out, uint32_t field, std::string_view key, int64_t number) {
  WireWriter value;
  value.always_uint64(3, static_cast<uint64_t>(number));
  any_attribute(out, field, key, value);
}

// Nothing, when it is 0.
void count_attribute(WireWriter& out, uint32_t field, std::string_view key, int64_t count) {
  if (count != 0) number_attribute(out, field, key, count);
}

void real_attribute(WireWriter& out, uint32_t field, std::string_view key, double number) {
  WireWriter value;
  value.always_fixed64(4, std::bit_cast<uint64_t>(number));
  any_attribute(out, field, key, value);
}

class LogWriter {
 public:
  LogWriter(const Dictionary& dictionary, const Profile& profile, const std::string& version)
      : dictionary_(dictionary),
        profile_(profile),
        version_(version),
        events_(dictionary, profile) {}

  // A ResourceLogs.
  std::string write() {
    WireWriter scope;
    scope.bytes(1, events_.is_jfr() ? "vesta.jfr" : "vesta.profiler");
    scope.bytes(2, version_);
    WireWriter scope_logs;
    scope_logs.message(1, scope);
    for (size_t row = 0; row < profile_.samples.size(); ++row)
      scope_logs.message(2, record(events_.event(row)));
    WireWriter out;
    out.message(1, resource());
    out.message(2, scope_logs);
    return out.take();
  }

 private:
  std::string attribute(std::string_view name) const {
    return resource_text(dictionary_, profile_, name);
  }

  WireWriter resource() const {
    WireWriter out;
    text_attribute(out, 1, "service.name", service_name(dictionary_, profile_));
    for (const std::string_view name : kResourceNames)
      text_attribute(out, 1, name, attribute(name));
    text_attribute(out, 1, "telemetry.sdk.name", "vesta");
    text_attribute(out, 1, "telemetry.sdk.language", events_.is_jfr() ? "java" : "native");
    text_attribute(out, 1, "telemetry.sdk.version", version_);
    return out;
  }

  WireWriter record(const ProfileEvent& event) const {
    WireWriter out;
    const auto time = static_cast<uint64_t>(std::max<int64_t>(event.time_ns, 0));
    out.fixed64(1, time);
    out.uint64(2, kSeverityInfo);
    out.bytes(3, "INFO");
    WireWriter body;
    body.bytes(1, event.body);
    out.message(5, body);
    if (events_.is_jfr()) {
      jfr_attributes(out, event);
    } else {
      attributes(out, event);
    }
    signal_attributes(out, event);
    out.fixed64(11, time);
    return out;
  }

  void attributes(WireWriter& out, const ProfileEvent& event) const {
    text_attribute(out, kAttributes, "profile.type", event.profile_type);
    text_attribute(out, kAttributes, "profile.event_type", event.event_type);
    text_attribute(out, kAttributes, "profile.source", "ebpf");
    text_attribute(out, kAttributes, "profile.resolution_status",
                   event.is_resolved ? "resolved" : "unresolved");
    text_attribute(out, kAttributes, "app.name", service_name(dictionary_, profile_));
    for (const std::string_view name : {"host.name", "k8s.deployment.name", "k8s.pod.name",
                                        "k8s.node.name", "k8s.namespace.name"})
      text_attribute(out, kAttributes, name, attribute(name));
    text_attribute(out, kAttributes, "thread.name", event.thread_name);
    count_attribute(out, kAttributes, "thread.id", event.thread_id);
    text_attribute(out, kAttributes, "code.function", event.top_function);
    text_attribute(out, kAttributes, "code.class", event.top_class);
    count_attribute(out, kAttributes, "profile.stack_depth",
                    static_cast<int64_t>(event.stack_depth));
    number_attribute(out, kAttributes, "profile.sample_weight", event.sample_weight);
    count_attribute(out, kAttributes, "profile.duration_ns", event.duration_ns);
    count_attribute(out, kAttributes, "profile.total_samples", event.total_samples);
    count_attribute(out, kAttributes, "process.pid",
                    std::strtoll(attribute("process.pid").c_str(), nullptr, 10));
    count_attribute(out, kAttributes, "thread.tid", event.thread_id);
    const std::string executable = attribute("process.executable.name");
    text_attribute(out, kAttributes, "process.executable.name",
                   event.comm.empty() ? executable : event.comm);
    text_attribute(out, kAttributes, "container.id", attribute("container.id"));
    text_attribute(out, kAttributes, "thread.state", event.state);
    text_attribute(out, kAttributes, "profile.object_class", event.object_class);
  }

  void jfr_attributes(WireWriter& out, const ProfileEvent& event) const {
    text_attribute(out, kAttributes, "profile.type", event.profile_type);
    text_attribute(out, kAttributes, "event.name", event.event_type);
    text_attribute(out, kAttributes, "event.domain", "jfr");
    text_attribute(out, kAttributes, "event.category", "profiling");
    text_attribute(out, kAttributes, "thread.name", event.thread_name);
    count_attribute(out, kAttributes, "thread.id", event.thread_id);
    text_attribute(out, kAttributes, "code.function", event.top_method);
    text_attribute(out, kAttributes, "code.namespace", event.top_class);
    count_attribute(out, kAttributes, "code.stacktrace.depth",
                    static_cast<int64_t>(event.stack_depth));
    number_attribute(out, kAttributes, "profile.sample.weight", event.sample_weight);
    count_attribute(out, kAttributes, "profile.duration_ns", event.duration_ns);
    if (event.duration_ns != 0) {
      real_attribute(out, kAttributes, "profile.self_time_ms",
                     static_cast<double>(event.duration_ns) / 1e6);
    }
    real_attribute(out, kAttributes, "profile.self_time_percent", event.self_percent);
    count_attribute(out, kAttributes, "profile.total_samples", event.total_samples);
    text_attribute(out, kAttributes, "profile.state", event.state);
    if (event.profile_type == "alloc")
      count_attribute(out, kAttributes, "profile.allocation.size", event.sample_weight);
    text_attribute(out, kAttributes, "profile.object.class", event.object_class);
    text_attribute(out, kAttributes, "profile.monitor.class", event.monitor_class);
    for (const std::string_view name :
         {"k8s.pod.name", "k8s.namespace.name", "k8s.container.name", "k8s.node.name"})
      text_attribute(out, kAttributes, name, attribute(name));
  }

  void signal_attributes(WireWriter& out, const ProfileEvent& event) const {
    const bool jfr = events_.is_jfr();
    text_attribute(out, kAttributes, "vesta.signal.category", "profiling");
    text_attribute(out, kAttributes, "vesta.signal.subcategory", event.profile_type);
    text_attribute(out, kAttributes, "vesta.source.module", jfr ? "vesta.jfr" : "vesta.profiler");
    if (!jfr) text_attribute(out, kAttributes, "vesta.bpf.component", "sampler");
    text_attribute(out, kAttributes, "vesta.collector.type", jfr ? "jfr" : "ebpf");
  }

  const Dictionary& dictionary_;
  const Profile& profile_;
  const std::string& version_;
  const ProfileEvents events_;
};

class OtlpLogsCodec final : public PayloadCodec {
 public:
  OtlpLogsCodec(std::string_view version, size_t payload_bytes)
      : version_(version), payload_bytes_(payload_bytes) {}

  std::vector<Payload> encode(const Dictionary& dictionary,
                              std::span<const Profile> profiles) const override {
    std::vector<Payload> payloads;
    for (const Profile& profile : profiles) {
      WireWriter message;
      message.always_bytes(1, LogWriter(dictionary, profile, version_).write());
      if (payloads.empty() || payloads.back().bytes.size() + message.view().size() > payload_bytes_)
        payloads.emplace_back();
      ++payloads.back().profiles;
      payloads.back().bytes += message.view();
    }
    return payloads;
  }

 private:
  const std::string version_;
  const size_t payload_bytes_;
};

}  // namespace

std::unique_ptr<PayloadCodec> make_otlp_logs_codec(std::string_view version, size_t payload_bytes) {
  return std::make_unique<OtlpLogsCodec>(version, payload_bytes);
}

}  // namespace vesta::agent
