#include "agent/status/status_page.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/status/agent_metrics.h"
#include "base/mutex.h"

namespace vesta::agent {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class StatusPageTest : public ::testing::Test {
 protected:
  void start(StatusPageOptions options = {}) {
    options.address = "127.0.0.1:0";
    auto page = StatusPage::start(options, {[] { return std::string("m 1\n"); },
                                            [this] {
                                              const MutexLock lock(mutex_);
                                              return problems_;
                                            },
                                            [this] {
                                              const MutexLock lock(mutex_);
                                              return warnings_;
                                            }});
    ASSERT_TRUE(page.ok()) << page.error().message;
    page_ = std::move(*page);
  }
  UniqueFd connect() const {
    UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(page_->address().port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    return fd;
  }
  static void send(const UniqueFd& fd, std::string_view text) {
    (void)::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL);
  }
  static std::string read_all(const UniqueFd& fd) {
    std::string text;
    char part[4096];
    ssize_t bytes = 0;
    while ((bytes = ::recv(fd.get(), part, sizeof(part), 0)) > 0)
      text.append(part, static_cast<size_t>(bytes));
    return text;
  }
  std::string ask(std::string_view request) const {
    const UniqueFd fd = connect();
    send(fd, request);
    return read_all(fd);
  }

  Mutex mutex_;
  std::vector<std::string> problems_ GUARDED_BY(mutex_);
  std::vector<std::string> warnings_ GUARDED_BY(mutex_);
  std::unique_ptr<StatusPage> page_;
};

// A server that is away is not cured by a restart of the agent, which a status of 503 may lead to.
TEST_F(StatusPageTest, WhatIsWrongElsewhereIsSaidWithoutBeingIll) {
  {
    const MutexLock lock(mutex_);
    warnings_ = {"the server is away"};
  }
  start();
  EXPECT_THAT(ask("GET /healthz HTTP/1.1\r\n\r\n"),
              ::testing::AllOf(StartsWith("HTTP/1.1 200"),
                               HasSubstr("\r\n\r\nok\nwarning: the server is away\n")));
}

TEST_F(StatusPageTest, ShowsMetricsAndHealth) {
  start();
  const std::string metrics = ask("GET /metrics?a=b HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(metrics, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(metrics, HasSubstr("version=0.0.4"));
  EXPECT_THAT(metrics, ::testing::EndsWith("\r\n\r\nm 1\n"));
  EXPECT_THAT(ask("HEAD /metrics HTTP/1.1\r\n\r\n"), Not(HasSubstr("m 1")));
  EXPECT_THAT(ask("GET /healthz HTTP/1.0\r\n\r\n"), HasSubstr("\r\n\r\nok\n"));
  {
    const MutexLock lock(mutex_);
    problems_ = {"collecting is stuck"};
  }
  EXPECT_THAT(ask("GET /healthz HTTP/1.1\r\n\r\n"),
              ::testing::AllOf(StartsWith("HTTP/1.1 503"), HasSubstr("collecting is stuck")));
}

TEST_F(StatusPageTest, AnswersWhatItDoesNotKnow) {
  start();
  EXPECT_THAT(ask("GET / HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(ask("POST /metrics HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 405"));
  EXPECT_THAT(ask("nonsense\r\n\r\n"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(ask("GET /metrics HTTP/2.0\r\n\r\n"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(ask("GET /" + std::string(10'000, 'a')), StartsWith("HTTP/1.1 431"));
}

TEST_F(StatusPageTest, ARequestMayComeInPieces) {
  start();
  const UniqueFd fd = connect();
  for (const char* piece : {"GET /met", "rics HTTP/1.1\r", "\n\r", "\n"}) {
    send(fd, piece);
    std::this_thread::sleep_for(5ms);
  }
  EXPECT_THAT(read_all(fd), HasSubstr("m 1"));
}

TEST_F(StatusPageTest, ThoseWhoSayNothingAreSentAwayAndOthersWaitUntilThen) {
  StatusPageOptions options;
  options.max_connections = 2;
  options.timeout = 200ms;
  start(options);
  const UniqueFd silent = connect();
  const UniqueFd slow = connect();
  send(slow, "GET /metrics");
  EXPECT_THAT(ask("GET /metrics HTTP/1.1\r\n\r\n"), HasSubstr("m 1"));
  EXPECT_EQ(read_all(silent), "");
  EXPECT_EQ(read_all(slow), "");
}

TEST_F(StatusPageTest, AnAddressThatIsTakenIsSaid) {
  start();
  StatusPageOptions options;
  options.address = page_->address().text();
  const auto second = StatusPage::start(options, {});
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.error().message, HasSubstr(options.address));
  options.address = "nonsense";
  EXPECT_EQ(StatusPage::start(options, {}).error().code, ErrorCode::kUsage);
}

TEST(AgentMetrics, TellsEveryNumber) {
  AgentStatus status;
  status.version = "1.2";
  status.samples = 7;
  status.lost = {{"sample ring full", 3}};
  status.rate = 49;
  status.configured_rate = 99;
  status.bpf_ns = 1'500'000'000;
  status.troubles = {{"kernel stack not taken", 5}};
  status.other_samples = 11;
  status.folded_frames = 12;
  status.names = {13, 14, 15};
  status.metadata.emplace();
  status.metadata->evicted = 16;
  status.kubernetes.emplace();
  status.kubernetes->pods = 17;
  status.kubernetes->last_error = "refused";
  status.warnings = {"pods are unknown: refused"};
  status.binaries = {{"/usr/bin/a\xff\"b", 10, 9, 8, 7}};
  ExporterStats stats;
  stats.queued = 4;
  stats.lost_by_reason = {{"HTTP 400", 2}};
  stats.last_error = "refused";
  status.exporters = {{"otlp", stats}};
  status.jfr.emplace();
  status.jfr->files_broken = 1;
  status.wait_period_ns = 50'000'000;
  status.waits = {{"run queue", 2'500'000'000, 6}};
  const std::string text = agent_metrics_text(status);
  for (const char* line :
       {"vesta_agent_info{version=\"1.2\"} 1\n",
        "vesta_agent_samples_total 7\n",
        "vesta_agent_samples_lost_total{reason=\"sample ring full\"} 3\n",
        "vesta_agent_troubles_total{reason=\"kernel stack not taken\"} 5\n",
        "vesta_agent_samples_of_no_target_total 11\n",
        "vesta_agent_frames_folded_total 12\n",
        "vesta_agent_name_cache_hits_total 13\n",
        "vesta_agent_name_cache_misses_total 14\n",
        "vesta_agent_name_cache_bytes 15\n",
        "vesta_agent_metadata_evicted_total 16\n",
        "vesta_agent_kubernetes_pods 17\n",
        "vesta_agent_kubernetes_up 0\n",
        "vesta_agent_warnings 1\n",
        "vesta_agent_sample_rate 49\n",
        "vesta_agent_sample_rate_configured 99\n",
        "vesta_agent_bpf_seconds_total 1.5\n",
        "vesta_agent_binary_frames_named_total{binary=\"/usr/bin/a\xef\xbf\xbd\\\"b\"} 7\n",
        "vesta_agent_exporter_queued{exporter=\"otlp\"} 4\n",
        "vesta_agent_exporter_lost_total{exporter=\"otlp\",reason=\"HTTP 400\"} 2\n",
        "vesta_agent_exporter_up{exporter=\"otlp\"} 0\n",
        "vesta_agent_jfr_files_broken_total 1\n",
        "vesta_agent_off_cpu_period_seconds 0.05\n",
        "vesta_agent_off_cpu_seconds_total{state=\"run queue\"} 2.5\n",
        "vesta_agent_off_cpu_waits_total{state=\"run queue\"} 6\n",
        "vesta_agent_healthy 1\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(AgentMetrics, ManyBinariesAreOneHundredAndOther) {
  AgentStatus status;
  for (uint64_t i = 0; i < 250; ++i)
    status.binaries.push_back({"b" + std::to_string(i), 1, 1, i, i});
  const std::string text = agent_metrics_text(status);
  EXPECT_THAT(text, HasSubstr("vesta_agent_binary_frames_total{binary=\"b249\"} 249\n"));
  EXPECT_THAT(text, Not(HasSubstr("binary=\"b149\"")));
  // Nothing is lost: 0 + 1 + … + 149.
  EXPECT_THAT(text, HasSubstr("vesta_agent_binary_frames_total{binary=\"other\"} 11175\n"));
}

}  // namespace
}  // namespace vesta::agent
