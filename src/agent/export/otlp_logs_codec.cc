#include <fmt/format.h>

#include <array>

#include "agent/export/payload_codecs.h"
#include "agent/export/profile_event.h"
#include "agent/export/resource.h"
#include "formats/protobuf/wire.h"

namespace vesta::agent {
namespace {

constexpr uint64_t kSeverityInfo = 9;

// What of a resource is its own in OTLP logs; the rest is said in the records.
constexpr std::array<std::string_view, 7> kResourceNames = {
    "service.version",    "service.namespace", "k8s.namespace.name", "k8s.pod.name",
    "k8s.container.name", "k8s.node.name",     "k8s.cluster.name"};

void text_attribute(WireWriter& out, uint32_t field, std::string_view key, std::string_view text) {
  if (text.empty()) return;
  WireWriter value;
  value.bytes(1, text);
  WireWriter pair;
  pair.bytes(1, key);
  pair.message(2, value);
  out.message(field, pair);
}

void any_attribute(WireWriter& out, uint32_t field, std::string_view key, const WireWriter& value) {
  WireWriter pair;
  pair.bytes(1, key);
  pair.message(2, value);
  out.message(field, pair);
}

void number_attribute(WireWriter& out, uint32_t field, std::string_view key, int64_t number) {
  WireWriter value;
  value.always_uint64(3, static_cast<uint64_t>(number));
  any_attribute(out, field, key, value);
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
    const auto text = [&](std::string_view key, std::string_view value) {
      text_attribute(out, 6, key, value);
    };
    const auto number = [&](std::string_view key, int64_t value) {
      if (value != 0) number_attribute(out, 6, key, value);
    };
    text("profile.type", event.profile_type);
    text("profile.event_type", event.event_type);
    text("profile.source", "ebpf");
    text("profile.resolution_status", event.is_resolved ? "resolved" : "unresolved");
    text("app.name", service_name(dictionary_, profile_));
    for (const std::string_view name : {"host.name", "k8s.deployment.name", "k8s.pod.name",
                                        "k8s.node.name", "k8s.namespace.name"})
      text(name, attribute(name));
    text("thread.name", event.thread_name);
    number("thread.id", event.thread_id);
    text("code.function", event.top_function);
    text("code.class", event.top_class);
    number("profile.stack_depth", static_cast<int64_t>(event.stack_depth));
    number_attribute(out, 6, "profile.sample_weight", event.sample_weight);
    number("profile.duration_ns", event.duration_ns);
    number("profile.total_samples", event.total_samples);
    number("process.pid", std::strtoll(attribute("process.pid").c_str(), nullptr, 10));
    number("thread.tid", event.thread_id);
    const std::string executable = attribute("process.executable.name");
    text("process.executable.name", event.comm.empty() ? executable : event.comm);
    text("container.id", attribute("container.id"));
    text("thread.state", event.state);
    text("profile.object_class", event.object_class);
  }

  void jfr_attributes(WireWriter& out, const ProfileEvent& event) const {
    const auto text = [&](std::string_view key, std::string_view value) {
      text_attribute(out, 6, key, value);
    };
    const auto number = [&](std::string_view key, int64_t value) {
      if (value != 0) number_attribute(out, 6, key, value);
    };
    text("profile.type", event.profile_type);
    text("event.name", event.event_type);
    text("event.domain", "jfr");
    text("event.category", "profiling");
    text("thread.name", event.thread_name);
    number("thread.id", event.thread_id);
    text("code.function", event.top_method);
    text("code.namespace", event.top_class);
    number("code.stacktrace.depth", static_cast<int64_t>(event.stack_depth));
    number_attribute(out, 6, "profile.sample.weight", event.sample_weight);
    number("profile.duration_ns", event.duration_ns);
    if (event.duration_ns != 0)
      real_attribute(out, 6, "profile.self_time_ms", static_cast<double>(event.duration_ns) / 1e6);
    real_attribute(out, 6, "profile.self_time_percent", event.self_percent);
    number("profile.total_samples", event.total_samples);
    text("profile.state", event.state);
    if (event.profile_type == "alloc") number("profile.allocation.size", event.sample_weight);
    text("profile.object.class", event.object_class);
    text("profile.monitor.class", event.monitor_class);
    for (const std::string_view name :
         {"k8s.pod.name", "k8s.namespace.name", "k8s.container.name", "k8s.node.name"})
      text(name, attribute(name));
  }

  void signal_attributes(WireWriter& out, const ProfileEvent& event) const {
    const bool jfr = events_.is_jfr();
    text_attribute(out, 6, "vesta.signal.category", "profiling");
    text_attribute(out, 6, "vesta.signal.subcategory", event.profile_type);
    text_attribute(out, 6, "vesta.source.module", jfr ? "vesta.jfr" : "vesta.profiler");
    if (!jfr) text_attribute(out, 6, "vesta.bpf.component", "sampler");
    text_attribute(out, 6, "vesta.collector.type", jfr ? "jfr" : "ebpf");
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
