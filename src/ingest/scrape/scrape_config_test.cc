#include "ingest/scrape/scrape_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "config/yaml.h"
#include "ingest/scrape/targets.h"
#include "testing/temporary_folder.h"

namespace vesta {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr const char* kFull = R"(scrape_configs:
  - job_name: api
    scrape_interval: 10s
    scrape_timeout: 5s
    scheme: https
    path_prefix: /admin
    tenant: team-a
    profiles:
      memory: {path: /debug/pprof/heap, delta: false}
      block: {enabled: false}
      fgprof: {path: /debug/fgprof, seconds: true}
    static_configs:
      - targets: ['a:6060', 'b:6060', 'c:6060']
        labels: {env: prod}
    relabel_configs:
      - source_labels: [__address__]
        regex: (.+):.*
        target_label: host
      - source_labels: [host]
        regex: c
        action: drop
)";

Result<ScrapeConfig> parse(const std::string& yaml, const std::string& name) {
  VESTA_ASSIGN(const config::Document document, config::parse_yaml(yaml, name));
  ScrapeConfig jobs;
  config::Findings findings;
  config::read_document(document, {scrape_field(jobs)}, findings);
  VESTA_TRY(findings.status());
  return jobs;
}

TEST(ScrapeConfig, ReadsJobs) {
  const auto config = parse(kFull, "vesta.yaml");
  ASSERT_TRUE(config.ok()) << config.error().message;
  ASSERT_EQ(config->jobs.size(), 1u);
  const ScrapeJob& job = config->jobs[0];
  EXPECT_EQ(job.interval_ns, 10'000'000'000);
  EXPECT_EQ(job.tenant, "team-a");
  ASSERT_EQ(job.profiles.size(), 6u);
  EXPECT_EQ(job.profiles[1].path, "/debug/pprof/heap");
  EXPECT_FALSE(job.profiles[1].delta);
  EXPECT_FALSE(job.profiles[4].enabled);
  EXPECT_TRUE(job.profiles[5].seconds);
  std::vector<Error> problems;
  const auto targets = find_targets(job, problems);
  ASSERT_EQ(targets.size(), 2u);
  EXPECT_EQ(targets[0].url, "https://a:6060/admin");
  EXPECT_THAT(targets[0].labels, ElementsAre(Pair("env", "prod"), Pair("host", "a"),
                                             Pair("instance", "a:6060"), Pair("job", "api")));
}

TEST(ScrapeConfig, ErrorsHaveLinesAndSuggestions) {
  const auto error = [](const std::string& yaml) {
    const auto config = parse(yaml, "f.yaml");
    return config ? std::string("none") : config.error().message + "; " + config.error().hint;
  };
  const std::string job = "scrape_configs:\n  - job_name: a\n";
  EXPECT_THAT(error(job + "    scrape_intervall: 5s\n"),
              HasSubstr("f.yaml:3:5: unknown key 'scrape_configs[0].scrape_intervall'; "
                        "did you mean scrape_configs[0].scrape_interval?"));
  EXPECT_THAT(error(job + "    scrape_interval: soon\n"),
              HasSubstr("f.yaml:3:22: scrape_configs[0].scrape_interval: 'soon' is not a dur"));
  EXPECT_THAT(error(job + "    scheme: ftp\n"), HasSubstr("'ftp' is not http or https"));
  EXPECT_THAT(error(job), HasSubstr("neither static_configs nor"));
  EXPECT_THAT(error("scrape_configs:\n  - scheme: http\n"), HasSubstr("job_name is missing"));
  EXPECT_THAT(error("scrape_configs: 7\n"),
              HasSubstr("f.yaml:1:17: scrape_configs: must be a list"));
  EXPECT_THAT(error("a: [1\n"), HasSubstr("f.yaml:2"));
  EXPECT_THAT(error("a: 1\n"), HasSubstr("known keys: scrape_configs"));
  EXPECT_THAT(error(job + "    relabel_configs: [{action: jump}]\n"),
              HasSubstr("unknown action 'jump'"));
  EXPECT_THAT(error(job + "    relabel_configs: [{regex: '(', target_label: x}]\n"),
              HasSubstr("f.yaml:3:23: scrape_configs[0].relabel_configs[0]: regex"));
  EXPECT_THAT(error(job + "    static_configs: [{targets: a}]\n"), HasSubstr("must be a list"));
  EXPECT_THAT(
      error(std::string(kFull) + "  - job_name: api\n    static_configs: [{targets: [a]}]\n"),
      HasSubstr("two jobs"));
  EXPECT_THAT(error("scrape_configs: " + std::string(100'000, '[')), HasSubstr("too deep"));
  EXPECT_NE(error(std::string(10'000, '-')), "none");
}

TEST(ScrapeConfig, TargetFilesAreYamlOrJson) {
  const auto json = parse_target_file(
      R"([{"targets": ["a:1", "b:2"], "labels": {"env": "prod", "n": 7}}])", "t.json");
  ASSERT_TRUE(json.ok()) << json.error().message;
  EXPECT_THAT(json->at(0).targets, ElementsAre("a:1", "b:2"));
  EXPECT_THAT(json->at(0).labels, ElementsAre(Pair("env", "prod"), Pair("n", "7")));
  const auto yaml = parse_target_file("- targets:\n  - a:1\n", "t.yaml");
  ASSERT_TRUE(yaml.ok());
  EXPECT_THAT(yaml->at(0).targets, ElementsAre("a:1"));
  for (const char* bad : {"{", "[1]", "[{\"hosts\": []}]", "[{\"targets\": [[]]}]"})
    EXPECT_FALSE(parse_target_file(bad, "t").ok()) << bad;
}

TEST(ScrapeConfig, FilesAreFoundByPattern) {
  const TemporaryFolder folder;
  std::ofstream(folder.path("a.json")) << R"([{"targets": ["a:1", "no address/"]}])";
  std::ofstream(folder.path("b.json")) << "[";
  ScrapeJob job;
  job.name = "j";
  job.files.push_back({{folder.path("*.json"), folder.path("none.yaml")}, 1});
  std::vector<Error> problems;
  const auto targets = find_targets(job, problems);
  ASSERT_EQ(targets.size(), 1u);
  EXPECT_EQ(targets[0].url, "http://a:1");
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_THAT(problems[0].message, HasSubstr("b.json"));
  EXPECT_THAT(problems[1].message, HasSubstr("none.yaml"));
}

}  // namespace
}  // namespace vesta
