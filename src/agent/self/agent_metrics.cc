#include "agent/self/agent_metrics.h"

#include <algorithm>

#include "base/prometheus_text.h"
#include "base/utf8.h"

namespace vesta::agent {
namespace {

constexpr size_t kMaxBinaries = 100;

double seconds(uint64_t ns) {
  return static_cast<double>(ns) / 1e9;
}

void one(PrometheusText& text, std::string_view name, std::string_view type, std::string_view help,
         uint64_t value) {
  text.one(name, type, help, static_cast<double>(value));
}

std::vector<BinaryStatus> busiest(std::vector<BinaryStatus> binaries) {
  std::ranges::sort(binaries, [](const BinaryStatus& a, const BinaryStatus& b) {
    return a.frames != b.frames ? a.frames > b.frames : a.name < b.name;
  });
  if (binaries.size() <= kMaxBinaries) return binaries;
  BinaryStatus other;
  other.name = "other";
  for (size_t i = kMaxBinaries; i < binaries.size(); ++i) {
    other.stacks += binaries[i].stacks;
    other.stacks_complete += binaries[i].stacks_complete;
    other.frames += binaries[i].frames;
    other.frames_named += binaries[i].frames_named;
    other.frames_decoded += binaries[i].frames_decoded;
    other.frames_guessed += binaries[i].frames_guessed;
  }
  binaries.resize(kMaxBinaries);
  binaries.push_back(other);
  return binaries;
}

void write_binaries(PrometheusText& text, std::vector<BinaryStatus> binaries) {
  for (BinaryStatus& binary : binaries) binary.name = replace_invalid_utf8(binary.name);
  const auto column = [&](std::string_view name, std::string_view help, auto value) {
    text.metric(name, "counter", help);
    for (const BinaryStatus& binary : binaries)
      text.sample({{"binary", binary.name}}, static_cast<double>(value(binary)));
  };
  column("vesta_agent_binary_stacks_total", "Stacks of processes that run it.",
         [](const BinaryStatus& b) { return b.stacks; });
  column("vesta_agent_binary_stacks_complete_total", "Of them, unwound to the outermost frame.",
         [](const BinaryStatus& b) { return b.stacks_complete; });
  column("vesta_agent_binary_frames_total", "Their frames.",
         [](const BinaryStatus& b) { return b.frames; });
  column("vesta_agent_binary_frames_named_total", "Of them, with a name.",
         [](const BinaryStatus& b) { return b.frames_named; });
  column("vesta_agent_binary_frames_decoded_total",
         "Of them, found by rules read from instructions, where there are no unwind tables.",
         [](const BinaryStatus& b) { return b.frames_decoded; });
  column("vesta_agent_binary_frames_guessed_total", "Of them, that are only likely to be callers.",
         [](const BinaryStatus& b) { return b.frames_guessed; });
}

void write_exporters(PrometheusText& text, const std::vector<ExporterStatus>& exporters) {
  const auto column = [&](std::string_view name, std::string_view type, std::string_view help,
                          uint64_t ExporterStats::*member) {
    text.metric(name, type, help);
    for (const ExporterStatus& exporter : exporters)
      text.sample({{"exporter", exporter.name}}, static_cast<double>(exporter.stats.*member));
  };
  if (exporters.empty()) return;
  column("vesta_agent_exporter_taken_total", "counter", "Profiles handed to the exporter.",
         &ExporterStats::taken);
  column("vesta_agent_exporter_sent_total", "counter", "Profiles the other side has.",
         &ExporterStats::sent);
  column("vesta_agent_exporter_queued", "gauge", "Profiles that wait on disk.",
         &ExporterStats::queued);
  column("vesta_agent_exporter_queued_bytes", "gauge", "What they take on disk.",
         &ExporterStats::queued_bytes);
  column("vesta_agent_exporter_rejected_total", "counter", "Profiles the other side does not want.",
         &ExporterStats::rejected);
  column("vesta_agent_exporter_expired_total", "counter",
         "Profiles that grew too old or found the queue full.", &ExporterStats::expired);
  column("vesta_agent_exporter_attempts_total", "counter", "Requests.", &ExporterStats::attempts);
  column("vesta_agent_exporter_failures_total", "counter", "Requests that are tried again.",
         &ExporterStats::failures);
  text.metric("vesta_agent_exporter_lost_total", "counter",
              "Profiles rejected and expired, by reason.");
  for (const ExporterStatus& exporter : exporters) {
    for (const auto& [reason, count] : exporter.stats.lost_by_reason) {
      text.sample({{"exporter", exporter.name}, {"reason", replace_invalid_utf8(reason)}},
                  static_cast<double>(count));
    }
  }
  text.metric("vesta_agent_exporter_up", "gauge", "1 unless the last request failed.");
  for (const ExporterStatus& exporter : exporters)
    text.sample({{"exporter", exporter.name}}, exporter.stats.last_error.empty() ? 1 : 0);
}

void write_jfr(PrometheusText& text, const JfrFolderStats& jfr) {
  one(text, "vesta_agent_jfr_files_shipped_total", "counter", "Recordings handed on.",
      jfr.files_shipped);
  one(text, "vesta_agent_jfr_profiles_total", "counter", "Profiles in them.", jfr.profiles_shipped);
  one(text, "vesta_agent_jfr_bytes_total", "counter", "Bytes of recordings read.", jfr.bytes_read);
  one(text, "vesta_agent_jfr_files_known_total", "counter",
      "Recordings left out because their content was shipped before.", jfr.files_known);
  one(text, "vesta_agent_jfr_files_broken_total", "counter", "Recordings that cannot be read.",
      jfr.files_broken);
  one(text, "vesta_agent_jfr_failures_total", "counter",
      "Recordings that nobody took; tried again.", jfr.ship_failures);
  one(text, "vesta_agent_jfr_note_failures_total", "counter",
      "Notes of what was shipped that could not be written.", jfr.note_failures);
  one(text, "vesta_agent_jfr_queue_overflows_total", "counter",
      "Times that the kernel's events ran over; the folders were read again.", jfr.queue_overflows);
  one(text, "vesta_agent_jfr_files_waiting", "gauge",
      "Recordings being written, or to be tried again.", jfr.files_waiting);
  one(text, "vesta_agent_jfr_files_remembered", "gauge", "Recordings known to be dealt with.",
      jfr.files_remembered);
  one(text, "vesta_agent_jfr_folders", "gauge", "Folders watched.", jfr.folders_watched);
  one(text, "vesta_agent_jfr_folders_not_watched", "gauge", "Folders that found no watch.",
      jfr.folders_not_watched);
}

// Names that were found once, and who processes are.
void write_caches(PrometheusText& text, const AgentStatus& status) {
  one(text, "vesta_agent_name_cache_hits_total", "counter", "Frames whose name was known already.",
      status.names.hits);
  one(text, "vesta_agent_name_cache_misses_total", "counter", "Frames that were looked up.",
      status.names.misses);
  one(text, "vesta_agent_name_cache_bytes", "gauge", "Memory of known names.", status.names.bytes);
  one(text, "vesta_agent_symbol_table_opens_total", "counter",
      "Symbol tables of binaries opened, again included.", status.tables.opens);
  one(text, "vesta_agent_symbol_table_closes_total", "counter",
      "Of them, closed to stay within memory, or no longer used.", status.tables.closes);
  one(text, "vesta_agent_symbol_tables", "gauge", "Symbol tables open.", status.tables.open);
  one(text, "vesta_agent_symbol_table_bytes", "gauge", "Memory of them.", status.tables.bytes);
  one(text, "vesta_agent_symbol_table_budget_bytes", "gauge",
      "Memory that they may take, of agent.limits.memory.", status.tables.budget_bytes);
  text.one("vesta_agent_oldest_unnamed_sample_seconds", "gauge",
           "Age of the oldest sample that waits for its names; 0 when none does.",
           seconds(status.oldest_unnamed_ns));
  if (!status.metadata) return;
  const ProcessMetadataStats& metadata = *status.metadata;
  one(text, "vesta_agent_metadata_processes", "gauge", "Processes whose metadata is remembered.",
      metadata.processes);
  one(text, "vesta_agent_metadata_bytes", "gauge", "Memory of it.", metadata.bytes);
  one(text, "vesta_agent_metadata_reads_total", "counter", "Readings of a process.",
      metadata.reads);
  one(text, "vesta_agent_metadata_rereads_postponed_total", "counter",
      "Readings that had to wait for their share of time.", metadata.postponed);
  one(text, "vesta_agent_metadata_brief_reads_total", "counter",
      "First readings without the memory map, to save CPU.", metadata.brief);
  one(text, "vesta_agent_metadata_gone_total", "counter",
      "Processes that ended before they were read.", metadata.gone);
  one(text, "vesta_agent_metadata_evicted_total", "counter", "Processes forgotten to save memory.",
      metadata.evicted);
  one(text, "vesta_agent_metadata_bad_contexts_total", "counter",
      "OpenTelemetry process contexts that cannot be read.", metadata.bad_contexts);
  text.one("vesta_agent_metadata_read_seconds_total", "counter", "Time spent reading.",
           seconds(metadata.read_ns));
}

void write_kubernetes(PrometheusText& text, const KubernetesStats& kubernetes) {
  one(text, "vesta_agent_kubernetes_requests_total", "counter", "Lists of pods asked for.",
      kubernetes.requests);
  one(text, "vesta_agent_kubernetes_failures_total", "counter", "Of them, without an answer.",
      kubernetes.failures);
  one(text, "vesta_agent_kubernetes_pods", "gauge", "Pods known.", kubernetes.pods);
  one(text, "vesta_agent_kubernetes_left_out", "gauge", "Pods beyond the limits.",
      kubernetes.left_out);
  one(text, "vesta_agent_kubernetes_up", "gauge", "1 unless the last request failed.",
      kubernetes.last_error.empty() ? 1 : 0);
}

}  // namespace

std::string agent_metrics_text(const AgentStatus& status) {
  PrometheusText text;
  text.metric("vesta_agent_info", "gauge", "Which agent this is.");
  text.sample({{"version", status.version}}, 1);
  text.one("vesta_agent_samples_total", "counter", "Samples taken of wanted processes.",
           static_cast<double>(status.samples));
  text.metric("vesta_agent_samples_lost_total", "counter", "Of them, lost, by reason.");
  for (const auto& [reason, count] : status.lost)
    text.sample({{"reason", replace_invalid_utf8(reason)}}, static_cast<double>(count));
  text.metric("vesta_agent_troubles_total", "counter",
              "What went wrong without losing a sample, by reason.");
  for (const auto& [reason, count] : status.troubles)
    text.sample({{"reason", replace_invalid_utf8(reason)}}, static_cast<double>(count));
  text.one("vesta_agent_samples_of_no_target_total", "counter",
           "Samples of processes that are not profiled.",
           static_cast<double>(status.other_samples));
  text.one("vesta_agent_frames_folded_total", "counter", "Frames that filters left out.",
           static_cast<double>(status.folded_frames));
  text.one("vesta_agent_sample_rate", "gauge", "Samples per second and CPU, now.", status.rate);
  text.one("vesta_agent_sample_rate_configured", "gauge",
           "Samples per second and CPU, as asked for.", status.configured_rate);
  text.one("vesta_agent_sample_rate_changes_total", "counter", "Times that the rate was changed.",
           static_cast<double>(status.rate_changes));
  text.one("vesta_agent_cpu_seconds_total", "counter", "CPU time of the agent's threads.",
           seconds(status.own_cpu_ns));
  text.one("vesta_agent_bpf_seconds_total", "counter", "Run time of its kernel programs.",
           seconds(status.bpf_ns));
  text.one("vesta_agent_bpf_runs_total", "counter", "Runs of its kernel programs.",
           static_cast<double>(status.bpf_runs));
  text.one("vesta_agent_cpu_share", "gauge",
           "Cores used, kernel programs included, over two minutes.", status.cpu_share);
  text.one("vesta_agent_cpu_share_samples", "gauge", "Of them, what falls with the sampling rate.",
           status.sample_cpu_share);
  text.one("vesta_agent_cpu_budget", "gauge", "Cores that may be used.", status.cpu_budget);
  text.one("vesta_agent_resident_bytes", "gauge", "Memory in RAM.",
           static_cast<double>(status.resident_bytes));
  text.one("vesta_agent_processes", "gauge", "Processes known.",
           static_cast<double>(status.processes));
  text.one("vesta_agent_modules", "gauge", "Binaries known.", static_cast<double>(status.modules));
  text.one("vesta_agent_windows_total", "counter", "Windows of profiling that ended.",
           static_cast<double>(status.windows));
  text.one("vesta_agent_profiles_total", "counter", "Profiles made.",
           static_cast<double>(status.profiles));
  write_binaries(text, busiest(status.binaries));
  write_caches(text, status);
  if (status.kubernetes) write_kubernetes(text, *status.kubernetes);
  write_exporters(text, status.exporters);
  if (status.jfr) write_jfr(text, *status.jfr);
  text.one("vesta_agent_warnings", "gauge", "Reasons for which profiles are poorer; see the log.",
           static_cast<double>(status.warnings.size()));
  text.one("vesta_agent_healthy", "gauge", "1 while /healthz is well.",
           status.problems.empty() ? 1 : 0);
  return text.take();
}

}  // namespace vesta::agent
