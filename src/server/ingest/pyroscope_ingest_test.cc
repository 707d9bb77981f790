#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/common/compression.h"
#include "formats/jfr/test_recording.h"
#include "formats/pprof/test_profile.h"
#include "formats/pprof/writer.h"
#include "ingest/test_engine.h"
#include "profile/test_profiles.h"
#include "server/ingest/pyroscope_ingest.h"
#include "server/ingest/test_server.h"
#include "store/memory/memory_engine.h"

namespace vesta::server {
namespace {

using test::kMultipartType;
using test::multipart_body;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using vesta::test::batch_from;

class PyroscopeIngest : public ::testing::Test {
 protected:
  HttpResponse post(Fields query, std::string body, std::string_view type = "") {
    return server_.post("/ingest", std::move(query), std::move(body), type);
  }
  auto totals() const { return engine_.totals_by_series(); }

  vesta::test::RecordingEngine engine_;
  test::IngestServer server_{engine_};
};

std::string pprof(std::string_view type = "cpu", std::string_view unit = "nanoseconds") {
  return write_pprof(batch_from({{"main;work", 7}, {"main", 3}}, type, unit));
}

TEST_F(PyroscopeIngest, TakesAMultipartPprof) {
  const auto response =
      post({{"name", "checkout{region=eu,__session_id__=1}"},
            {"spyName", "gospy"},
            {"from", "1799999990000000000"},
            {"until", "1800000000000000000"},
            {"sampleRate", "100"}},
           multipart_body({{"profile", gzip(pprof())},
                           {"sample_type_config", R"({"cpu": {"display-name": "cpu"}})"}}),
           kMultipartType);
  EXPECT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(response.body, "");
  EXPECT_THAT(totals(),
              ElementsAre(Pair("process_cpu:cpu:nanoseconds::{pyroscope_spy=gospy,region=eu,"
                               "service_name=checkout}",
                               10)));
  EXPECT_EQ(engine_.written[0].batch.profiles[0].time_ns, 1'799'999'990'000'000'000);
}

TEST_F(PyroscopeIngest, TakesARawPprof) {
  for (const std::string& body : {pprof(), gzip(pprof()), zstd(pprof())}) {
    engine_.written.clear();
    EXPECT_EQ(post({{"name", "app"}, {"format", "pprof"}}, body).status, 200);
    EXPECT_THAT(totals(), ElementsAre(Pair(HasSubstr("process_cpu:cpu:nanoseconds"), 10)));
  }
}

TEST_F(PyroscopeIngest, BothPathsAreThere) {
  EXPECT_EQ(server_.post("/pyroscope/ingest", {{"name", "app"}}, "a;b 1\n").status, 200);
  EXPECT_EQ(engine_.written.size(), 1u);
}

TEST_F(PyroscopeIngest, TakesEveryTextFormat) {
  const std::string tree(
      "\x00\x00\x01\x01"
      "a\x00\x02\x01"
      "b\x01\x00\x01"
      "c\x02\x00",
      15);
  const std::string trie(
      "\x00\x00\x01\x02"
      "a;\x00\x02\x01"
      "b\x01\x00\x01"
      "c\x02\x00",
      16);
  struct Case {
    Fields query;
    std::string body;
    std::string type;
  };
  const std::vector<Case> cases = {
      {{}, "a;b 1\na;c 2\n", ""},
      {{{"format", "folded"}}, "a;b 1\na;c 2\n", "text/plain"},
      {{{"format", "groups"}}, gzip("a;b 1\na;c 2\n"), ""},
      {{{"format", "lines"}}, "a;b\na;c\na;c\n", ""},
      {{{"format", "tree"}}, tree, ""},
      {{}, tree, "binary/octet-stream+tree"},
      {{{"format", "trie"}}, trie, ""},
      {{}, trie, "binary/octet-stream+trie"},
  };
  for (Case each : cases) {
    engine_.written.clear();
    each.query.emplace_back("name", "my.app.cpu{a=b}");
    const auto response = post(each.query, each.body, each.type);
    ASSERT_EQ(response.status, 200) << response.body;
    EXPECT_THAT(totals(),
                ElementsAre(Pair("process_cpu:cpu:nanoseconds:cpu:nanoseconds{a=b,app_name=my.app,"
                                 "pyroscope_spy=unknown,service_name=my.app}",
                                 30'000'000)));
  }
}

TEST_F(PyroscopeIngest, TakesARecordingWithLabels) {
  jfr::TestChunk chunk;
  const int64_t thread = chunk.thread("worker-1");
  const int64_t stack = chunk.stack({{chunk.method("com/example/Main", "work"), 42}});
  chunk.setting("jdk.ActiveRecording", "event", "itimer");
  chunk.execution_sample(2000, thread, stack, chunk.state("STATE_RUNNABLE"));
  jfr::ChunkOptions options;
  options.start_ns = test::kIngestTime - 20'000'000'000;
  const auto response = post(
      {{"name", "shop{env=prod}"}, {"format", "jfr"}, {"spyName", "javaspy"}},
      multipart_body({{"jfr", gzip(chunk.finish(options))}, {"labels", gzip("")}}), kMultipartType);
  ASSERT_EQ(response.status, 200) << response.body;
  EXPECT_THAT(totals(), ElementsAre(Pair(HasSubstr("process_cpu:cpu:nanoseconds:cpu:nanoseconds{"
                                                   "app_name=shop,env=prod,jfr_event=itimer"),
                                         10'000'000)));
}

TEST(PyroscopeIngestDuplicates, AreThoseOfOneKey) {
  const auto engine = make_memory_engine();
  test::IngestServer server(*engine);
  const Fields query = {{"name", "app"}, {"from", "1800000000"}, {"until", "1800000010"}};
  for (int i = 0; i < 2; ++i) EXPECT_EQ(server.post("/ingest", query, "main;work 3\n").status, 200);
  const auto total = [&] {
    SelectRequest select;
    select.type = *ProfileType::parse("process_cpu:cpu:nanoseconds:cpu:nanoseconds");
    select.range = kAllTime;
    return engine->select("anonymous", select)->at(0).total;
  };
  EXPECT_EQ(total(), 60'000'000);  // two replicas, each 3 samples of 10 ms
  HttpRequest keyed;
  keyed.method = "POST";
  keyed.path = "/ingest";
  keyed.query = query;
  keyed.body = "main;work 3\n";
  keyed.headers = {{"idempotency-key", "a"}};
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(handle_pyroscope_ingest(server.ingest, keyed, {}).status, 200);
  EXPECT_EQ(total(), 90'000'000);
}

TEST_F(PyroscopeIngest, EmptyProfilesAreFine) {
  EXPECT_EQ(post({{"name", "app"}}, "").status, 200);
  EXPECT_EQ(post({{"name", "app"}}, " \n").status, 200);
  EXPECT_EQ(post({{"name", "app"}, {"format", "pprof"}}, write_pprof(batch_from({}))).status, 200);
  EXPECT_TRUE(engine_.written.empty());
}

TEST_F(PyroscopeIngest, ErrorsHaveThePyroscopeShapeAndStatus) {
  struct Case {
    Fields query;
    std::string body;
    int status;
    const char* message;
  };
  const std::vector<Case> cases = {
      {{}, "a 1", 400, "name: no application"},
      {{{"name", "{a=b}"}}, "a 1", 400, "name: no application"},
      {{{"name", "my.app"}}, "a 1", 400, "not a profile type"},
      {{{"name", "app"}, {"from", "x"}}, "a 1", 400, "from: 'x' is not a valid time"},
      {{{"name", "app"}}, "a one", 422, "folded"},
      {{{"name", "app"}, {"format", "pprof"}}, "not a pprof", 422, "pprof"},
      {{{"name", "app"}, {"format", "pprof"}}, "", 422, "empty"},
      {{{"name", "app"}, {"format", "jfr"}}, "FLR", 422, "jfr"},
      {{{"name", "app"}, {"format", "tree"}}, "\x05", 422, "tree"},
      {{{"name", "app"}, {"format", "speedscope"}}, "{}", 422, "speedscope"},
      {{{"name", "app"}, {"from", "1"}}, "a 1", 422, "outside the accepted range"},
      {{{"name", "app"}, {"from", "4102444800"}}, "a 1", 422, "outside the accepted range"},
  };
  for (const Case& each : cases) {
    const auto response = post(each.query, each.body);
    EXPECT_EQ(response.status, each.status) << response.body;
    EXPECT_THAT(response.body, HasSubstr("\"code\":\"invalid_argument\""));
    EXPECT_THAT(response.body, HasSubstr(each.message));
  }
  EXPECT_TRUE(engine_.written.empty());
  EXPECT_EQ(server_.ingest.counters().of(IngestProtocol::kPyroscopeIngest).refused[0],
            cases.size());
}

TEST_F(PyroscopeIngest, BadMultipartBodiesAreRefused) {
  const auto refused = [&](const std::vector<test::TestPart>& parts) {
    const auto response = post({{"name", "app"}}, multipart_body(parts), kMultipartType);
    EXPECT_EQ(response.status, 422);
    return response.body;
  };
  EXPECT_THAT(refused({}), HasSubstr("no part 'profile'"));
  EXPECT_THAT(refused({{"profile", pprof()}, {"prev_profile", pprof()}}),
              HasSubstr("update the client"));
  EXPECT_THAT(refused({{"profile", pprof()}, {"sample_type_config", "["}}),
              HasSubstr("sample_type_config"));
  const std::string body = multipart_body({{"profile", gzip(pprof())}});
  for (size_t size = 0; size + 2 < body.size(); size += 7)
    EXPECT_EQ(post({{"name", "app"}}, body.substr(0, size), kMultipartType).status, 422);
}

TEST_F(PyroscopeIngest, TruncatedPprofsAreRefused) {
  const std::string whole = pprof();
  for (size_t size = 1; size < whole.size(); ++size) {
    const auto response = post({{"name", "app"}, {"format", "pprof"}}, whole.substr(0, size));
    // Cut between two messages it may still be a profile, but never more than there was.
    if (response.status == 200) continue;
    EXPECT_EQ(response.status, 422);
  }
  for (const auto& [series, total] : totals()) EXPECT_LE(total % 10, 10);
}

TEST_F(PyroscopeIngest, BombsAreRefused) {
  IngestOptions options;
  options.limits.max_decoded_bytes = 1 << 20;
  options.limits.max_body_bytes = 1 << 20;
  test::IngestServer small(engine_, options);
  const std::string bomb = gzip(std::string(64 << 20, 'a'));
  ASSERT_LT(bomb.size(), 100'000u);
  auto response = small.post("/ingest", {{"name", "app"}, {"format", "pprof"}}, bomb);
  EXPECT_EQ(response.status, 413) << response.body;
  EXPECT_THAT(response.body, HasSubstr("resource_exhausted"));
  response = small.post("/ingest", {{"name", "app"}}, std::string((1 << 20) + 1, 'a'));
  EXPECT_EQ(response.status, 413) << response.body;
}

// What Pyroscope refuses in a pprof, we refuse or repair.
TEST_F(PyroscopeIngest, MalformedPprofsAreRefusedOrRepaired) {
  const auto build = [](auto&& change) {
    pprof::FileBuilder file;
    file.sample_type("cpu", "nanoseconds");
    file.function(1, "f");
    file.location(1, {1});
    change(file);
    return file.finish();
  };
  const auto status = [&](const std::string& body) {
    return post({{"name", "app"}, {"format", "pprof"}}, body).status;
  };
  EXPECT_EQ(status(build([](auto& f) { f.sample({1}, {7}); })), 200);
  EXPECT_EQ(status(build([](auto& f) { f.sample({0}, {7}); })), 422);
  EXPECT_EQ(status(build([](auto& f) { f.sample({2}, {7}); })), 422);
  EXPECT_EQ(status(build([](auto& f) { f.sample({1}, {7, 8}); })), 422);
  EXPECT_EQ(status(build([](auto& f) { f.sample({1}, {}); })), 422);
  EXPECT_EQ(status(build([](auto& f) { f.location(2, {0}); })), 422);
  EXPECT_EQ(status(build([](auto& f) { f.location(0, {1}); })), 422);
  EXPECT_EQ(status(build([](auto& f) { f.function(0, "g"); })), 422);
  EXPECT_EQ(status(build([](auto& f) {
              std::string labels;
              for (int i = 0; i < 200; ++i) labels += f.text_label("k" + std::to_string(i), "v");
              f.sample({1}, {7}, labels);
            })),
            413);
  engine_.written.clear();
  EXPECT_EQ(status(build([](auto& f) {
              f.function(2, "bad \xff name");
              f.location(2, {2});
              f.sample({2}, {7});
              f.sample({1}, {-7});
            })),
            200);
  EXPECT_THAT(totals(), ElementsAre(Pair(HasSubstr("process_cpu:cpu"), 7)));
  pprof::FileBuilder untyped;
  EXPECT_EQ(status(untyped.finish()), 422);
}

TEST_F(PyroscopeIngest, TooMuchIsAnsweredWithWhenToTryAgain) {
  IngestOptions options;
  options.limits.bytes_per_second = 10;
  options.limits.burst_bytes = 100;
  test::IngestServer slow(engine_, options);
  const std::string body(60, 'a');
  ASSERT_EQ(slow.post("/ingest", {{"name", "app"}}, body + " 1\n").status, 200);
  const auto response = slow.post("/ingest", {{"name", "app"}}, body + " 1\n");
  EXPECT_EQ(response.status, 429);
  EXPECT_THAT(response.headers, ElementsAre(Pair("retry-after", "3")));
}

TEST_F(PyroscopeIngest, FullDiskIs503) {
  engine_.problem = {ErrorCode::kUnavailable, "the disk is full", ""};
  const auto response = post({{"name", "app"}}, "a 1");
  EXPECT_EQ(response.status, 503);
  EXPECT_THAT(response.body, HasSubstr("\"unavailable\""));
}

}  // namespace
}  // namespace vesta::server
