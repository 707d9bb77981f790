#include "agent/status/agent_metrics.h"

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
  column("vesta_agent_binary_stacks_total", "Stacks of processes with this runtime.",
         [](const BinaryStatus& b) { return b.stacks; });
  column("vesta_agent_binary_stacks_complete_total", "Stacks unwound to the outermost frame.",
         [](const BinaryStatus& b) { return b.stacks_complete; });
  column("vesta_agent_binary_frames_total", "Frames of these stacks.",
         [](const BinaryStatus& b) { return b.frames; });
  column("vesta_agent_binary_frames_named_total", "Frames with a name.",
         [](const BinaryStatus& b) { return b.frames_named; });
  column("vesta_agent_binary_frames_decoded_total",
         "Frames unwound from instructions, for code without unwind tables.",
         [](const BinaryStatus& b) { return b.frames_decoded; });
  column("vesta_agent_binary_frames_guessed_total", "Frames of guessed callers.",
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
  column("vesta_agent_exporter_sent_total", "counter", "Profiles accepted by the destination.",
         &ExporterStats::sent);
  column("vesta_agent_exporter_queued", "gauge", "Profiles waiting on disk.",
         &ExporterStats::queued);
  column("vesta_agent_exporter_queued_bytes", "gauge", "Size of the queue on disk, in bytes.",
         &ExporterStats::queued_bytes);
  column("vesta_agent_exporter_rejected_total", "counter", "Profiles rejected by the destination.",
         &ExporterStats::rejected);
  column("vesta_agent_exporter_expired_total", "counter",
         "Profiles dropped because they were too old or the queue was full.",
         &ExporterStats::expired);
  column("vesta_agent_exporter_attempts_total", "counter", "Requests.", &ExporterStats::attempts);
  column("vesta_agent_exporter_failures_total", "counter", "Requests that were retried.",
         &ExporterStats::failures);
  text.metric("vesta_agent_exporter_lost_total", "counter",
              "Profiles rejected or expired, by reason.");
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

void write_waits(PrometheusText& text, const AgentStatus& status) {
  if (status.waits.empty()) return;
  text.one("vesta_agent_off_cpu_period_seconds", "gauge",
           "Waiting time that a sampled wait stands for; longer waits are all sampled.",
           seconds(status.wait_period_ns));
  text.metric("vesta_agent_off_cpu_seconds_total", "counter",
              "Time that threads waited, by state; exact, whether sampled or not.");
  for (const AgentStatus::WaitTotal& total : status.waits)
    text.sample({{"state", total.state}}, seconds(total.ns));
  text.metric("vesta_agent_off_cpu_waits_total", "counter", "Waits that ended, by state.");
  for (const AgentStatus::WaitTotal& total : status.waits)
    text.sample({{"state", total.state}}, static_cast<double>(total.count));
}

void write_jfr(PrometheusText& text, const JfrFolderStats& jfr) {
  one(text, "vesta_agent_jfr_files_shipped_total", "counter", "JFR recordings sent.",
      jfr.files_shipped);
  one(text, "vesta_agent_jfr_profiles_total", "counter", "Profiles in the JFR recordings sent.",
      jfr.profiles_shipped);
  one(text, "vesta_agent_jfr_bytes_total", "counter", "Bytes read from JFR recordings.",
      jfr.bytes_read);
  one(text, "vesta_agent_jfr_files_known_total", "counter",
      "JFR recordings skipped because their content was sent before.", jfr.files_known);
  one(text, "vesta_agent_jfr_files_broken_total", "counter",
      "JFR recordings that could not be read.", jfr.files_broken);
  one(text, "vesta_agent_jfr_failures_total", "counter",
      "JFR recordings that no exporter accepted; they are retried.", jfr.ship_failures);
  one(text, "vesta_agent_jfr_note_failures_total", "counter",
      "Failed writes of the list of sent JFR recordings.", jfr.note_failures);
  one(text, "vesta_agent_jfr_queue_overflows_total", "counter",
      "Overflows of inotify events; the folders were rescanned.", jfr.queue_overflows);
  one(text, "vesta_agent_jfr_files_waiting", "gauge",
      "JFR recordings still being written or waiting for a retry.", jfr.files_waiting);
  one(text, "vesta_agent_jfr_files_remembered", "gauge", "JFR recordings known to be finished.",
      jfr.files_remembered);
  one(text, "vesta_agent_jfr_folders", "gauge", "Folders watched for JFR recordings.",
      jfr.folders_watched);
  one(text, "vesta_agent_jfr_folders_not_watched", "gauge", "Folders that could not be watched.",
      jfr.folders_not_watched);
}

// Names that were found once, and who processes are.
void write_caches(PrometheusText& text, const AgentStatus& status) {
  one(text, "vesta_agent_name_cache_hits_total", "counter", "Frames whose name was cached.",
      status.names.hits);
  one(text, "vesta_agent_name_cache_misses_total", "counter", "Frames looked up in symbol tables.",
      status.names.misses);
  one(text, "vesta_agent_name_cache_bytes", "gauge", "Memory of cached names, in bytes.",
      status.names.bytes);
  one(text, "vesta_agent_symbol_table_opens_total", "counter",
      "Symbol tables opened, including reopened ones.", status.tables.opens);
  one(text, "vesta_agent_symbol_table_closes_total", "counter",
      "Symbol tables closed, to save memory or because they were unused.", status.tables.closes);
  one(text, "vesta_agent_symbol_tables", "gauge", "Open symbol tables.", status.tables.open);
  one(text, "vesta_agent_symbol_table_bytes", "gauge", "Memory of open symbol tables, in bytes.",
      status.tables.bytes);
  one(text, "vesta_agent_symbol_table_budget_bytes", "gauge",
      "Memory limit of open symbol tables, in bytes (part of agent.limits.memory).",
      status.tables.budget_bytes);
  text.one("vesta_agent_oldest_unnamed_sample_seconds", "gauge",
           "Age of the oldest sample that waits for names, in seconds; 0 if none waits.",
           seconds(status.oldest_unnamed_ns));
  if (!status.metadata) return;
  const ProcessMetadataStats& metadata = *status.metadata;
  one(text, "vesta_agent_metadata_processes", "gauge", "Processes with cached metadata.",
      metadata.processes);
  one(text, "vesta_agent_metadata_bytes", "gauge", "Memory of cached metadata, in bytes.",
      metadata.bytes);
  one(text, "vesta_agent_metadata_reads_total", "counter", "Process metadata reads.",
      metadata.reads);
  one(text, "vesta_agent_metadata_rereads_postponed_total", "counter",
      "Process metadata reads delayed by the CPU budget.", metadata.postponed);
  one(text, "vesta_agent_metadata_brief_reads_total", "counter",
      "First process metadata reads without the memory map, to save CPU time.", metadata.brief);
  one(text, "vesta_agent_metadata_gone_total", "counter",
      "Processes that ended before their metadata was read.", metadata.gone);
  one(text, "vesta_agent_metadata_evicted_total", "counter",
      "Processes whose metadata was dropped to save memory.", metadata.evicted);
  one(text, "vesta_agent_metadata_bad_contexts_total", "counter",
      "OpenTelemetry process contexts that could not be read.", metadata.bad_contexts);
  text.one("vesta_agent_metadata_read_seconds_total", "counter",
           "Time spent reading process metadata, in seconds.", seconds(metadata.read_ns));
}

void write_kubernetes(PrometheusText& text, const KubernetesStats& kubernetes) {
  one(text, "vesta_agent_kubernetes_requests_total", "counter", "Requests for lists of pods.",
      kubernetes.requests);
  one(text, "vesta_agent_kubernetes_failures_total", "counter",
      "Failed requests for lists of pods.", kubernetes.failures);
  one(text, "vesta_agent_kubernetes_pods", "gauge", "Known pods.", kubernetes.pods);
  one(text, "vesta_agent_kubernetes_left_out", "gauge", "Pods dropped because of limits.",
      kubernetes.left_out);
  one(text, "vesta_agent_kubernetes_up", "gauge", "1 unless the last request failed.",
      kubernetes.last_error.empty() ? 1 : 0);
}

}  // namespace

std::string agent_metrics_text(const AgentStatus& status) {
  PrometheusText text;
  text.metric("vesta_agent_info", "gauge", "Version of the agent.");
  text.sample({{"version", status.version}}, 1);
  text.one("vesta_agent_samples_total", "counter", "Samples taken of profiled processes.",
           static_cast<double>(status.samples));
  text.metric("vesta_agent_samples_lost_total", "counter", "Samples lost, by reason.");
  for (const auto& [reason, count] : status.lost)
    text.sample({{"reason", replace_invalid_utf8(reason)}}, static_cast<double>(count));
  text.metric("vesta_agent_troubles_total", "counter", "Problems that lost no sample, by reason.");
  for (const auto& [reason, count] : status.troubles)
    text.sample({{"reason", replace_invalid_utf8(reason)}}, static_cast<double>(count));
  text.one("vesta_agent_samples_of_no_target_total", "counter",
           "Samples of processes that are not profiled.",
           static_cast<double>(status.other_samples));
  text.one("vesta_agent_frames_folded_total", "counter", "Frames dropped by filters.",
           static_cast<double>(status.folded_frames));
  text.one("vesta_agent_sample_rate", "gauge", "Current sampling rate, per second and CPU.",
           status.rate);
  text.one("vesta_agent_sample_rate_configured", "gauge",
           "Configured sampling rate, per second and CPU.", status.configured_rate);
  text.one("vesta_agent_sample_rate_changes_total", "counter", "Changes of the sampling rate.",
           static_cast<double>(status.rate_changes));
  text.one("vesta_agent_cpu_seconds_total", "counter",
           "CPU time of the agent's threads, in seconds.", seconds(status.own_cpu_ns));
  text.one("vesta_agent_bpf_seconds_total", "counter",
           "Run time of the agent's kernel programs, in seconds.", seconds(status.bpf_ns));
  text.one("vesta_agent_bpf_runs_total", "counter", "Runs of the agent's kernel programs.",
           static_cast<double>(status.bpf_runs));
  text.one("vesta_agent_cpu_share", "gauge",
           "Cores used over the last two minutes, kernel programs included.", status.cpu_share);
  text.one("vesta_agent_cpu_share_samples", "gauge",
           "Cores used by work that depends on the sampling rate.", status.sample_cpu_share);
  text.one("vesta_agent_cpu_budget", "gauge", "CPU budget, in cores.", status.cpu_budget);
  text.one("vesta_agent_resident_bytes", "gauge", "Resident memory, in bytes.",
           static_cast<double>(status.resident_bytes));
  text.one("vesta_agent_processes", "gauge", "Known processes.",
           static_cast<double>(status.processes));
  text.one("vesta_agent_modules", "gauge", "Known binaries.", static_cast<double>(status.modules));
  text.one("vesta_agent_windows_total", "counter", "Finished profiling windows.",
           static_cast<double>(status.windows));
  text.one("vesta_agent_profiles_total", "counter", "Profiles built.",
           static_cast<double>(status.profiles));
  write_waits(text, status);
  write_binaries(text, busiest(status.binaries));
  write_caches(text, status);
  if (status.kubernetes) write_kubernetes(text, *status.kubernetes);
  write_exporters(text, status.exporters);
  if (status.jfr) write_jfr(text, *status.jfr);
  text.one("vesta_agent_warnings", "gauge",
           "Active warnings: reasons why profiles are less complete; see the log.",
           static_cast<double>(status.warnings.size()));
  text.one("vesta_agent_healthy", "gauge", "1 if /healthz reports healthy.",
           status.problems.empty() ? 1 : 0);
  return text.take();
}

}  // namespace vesta::agent
