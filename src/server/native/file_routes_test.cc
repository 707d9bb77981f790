// Questions about files that were opened.
#include <gtest/gtest.h>

#include <span>

#include "formats/otlp/writer.h"
#include "profile/dictionary_builder.h"
#include "profile/test_profiles.h"
#include "server/native/test_call.h"

namespace vesta::server {
namespace {

using test::TestApi;

TEST(FileRoutes, OpensFilesOfAnyFormat) {
  TestApi api;
  EXPECT_EQ(api.json("/api/v1/files"), R"({"files":[]})");
  const std::string opened =
      api.json("/api/v1/files?name=work.folded", "POST", "main;work 3\nmain;idle 4\n");
  EXPECT_NE(opened.find(R"("name":"work.folded","format":"folded")"), std::string::npos) << opened;
  EXPECT_NE(opened.find(R"("total":7,"samples":2})"), std::string::npos) << opened;
  EXPECT_EQ(api.json("/api/v1/files"), R"({"files":[)" + opened + "]}");
  const std::string pprof = api.call("/api/v1/export?query=cpu{}&format=pprof").body;
  const std::string of_pprof = api.json("/api/v1/files?name=cpu.pb.gz", "POST", pprof);
  EXPECT_NE(of_pprof.find(R"("format":"pprof")"), std::string::npos) << of_pprof;
  EXPECT_NE(of_pprof.find(R"("profile_type":"process_cpu:cpu:nanoseconds::",)"
                          R"("name":"cpu","type":"cpu","unit":"nanoseconds","total":107)"),
            std::string::npos)
      << of_pprof;
  const HttpResponse letter = api.call("/api/v1/files?name=a.txt", "POST", "Dear all,\n");
  EXPECT_EQ(letter.status, 400);
  EXPECT_NE(letter.body.find("use one of: pprof, folded"), std::string::npos) << letter.body;
  EXPECT_EQ(api.call("/api/v1/files?name=a.txt", "POST").status, 400);
  const std::string id = api.open_file("work.folded", "main;work 3\nmain;idle 4\n");
  EXPECT_EQ(api.json("/api/v1/files/" + id, "DELETE"), R"({"id":")" + id + "\"}");
  const HttpResponse gone = api.call("/api/v1/top?file=" + id);
  EXPECT_EQ(gone.status, 404);
  EXPECT_NE(gone.body.find("open it again"), std::string::npos) << gone.body;
  EXPECT_EQ(api.call("/api/v1/files/" + id, "DELETE").status, 404);
}

TEST(FileRoutes, AnswersEveryQuestionAboutAFile) {
  TestApi api;
  const std::string file = "file=" + api.open_file("w.folded", "main;work 3\nmain;idle 4\n");
  const auto flame =
      test::read_flame_columns(api.call("/api/v1/flame?format=columns&" + file).body);
  EXPECT_EQ(flame.totals.at("main"), 7);
  EXPECT_EQ(flame.totals.at("main;work"), 3);
  for (const std::string_view route :
       {"tree", "top", "coverage", "totals", "heatmap", "export", "pprof", "types", "labels",
        "values/service_name", "series", "callers"}) {
    const std::string url =
        "/api/v1/" + std::string(route) + "?" + file + (route == "callers" ? "&function=main" : "");
    EXPECT_EQ(api.call(url).status, 200) << route << ": " << api.call(url).body;
  }
  EXPECT_EQ(api.json("/api/v1/values/service_name?" + file),
            R"({"label":"service_name","values":["w.folded"],"truncated":false})");
  // Matchers and types mean what they mean in the store.
  EXPECT_EQ(api.call("/api/v1/top?query={service_name=\"web\"}&" + file).status, 404);
  EXPECT_EQ(api.call("/api/v1/top?query=cpu{}&from=-2h&to=-1h&" + file).status, 404);
  EXPECT_EQ(api.call("/api/v1/top?from=now&to=-1h&" + file).status, 400);
  // What is changed is always the store.
  EXPECT_EQ(api.call("/api/v1/series?query={}&all_time=true&" + file, "DELETE").status, 400);
  // Others do not see it.
  api.caller.tenant = "somebody else";
  EXPECT_EQ(api.call("/api/v1/top?" + file).status, 404);
  EXPECT_EQ(api.json("/api/v1/files"), R"({"files":[]})");
}

TEST(FileRoutes, ComparesFilesWithEachOtherAndWithTheStore) {
  TestApi api;
  const std::string before = api.open_file("a.folded", "main;work 3\nmain;idle 4\n");
  const std::string after = api.open_file("b.folded", "main;work 5\n");
  const auto diff = [&](const std::string& words) {
    return test::read_flame_columns(
        api.call("/api/v1/diff/flame?format=columns&scale=absolute&" + words).body);
  };
  const auto files = diff("file=" + after + "&baseline_file=" + before);
  EXPECT_EQ(files.totals.at("main;work"), 5);
  EXPECT_EQ(files.totals_before.at("main;work"), 3);
  EXPECT_EQ(files.totals_before.at("main;idle"), 4);
  const std::string stored =
      api.open_file("cpu.pb.gz", api.call("/api/v1/export?query=cpu{service_name=\"web\"}").body);
  const auto mixed = diff("query=cpu{}&baseline_file=" + stored);
  EXPECT_EQ(mixed.totals.at("main"), 107);
  EXPECT_EQ(mixed.totals_before.at("main"), 7);
  const auto other_way = diff("file=" + stored + "&baseline_query=cpu{}");
  EXPECT_EQ(other_way.totals.at("main"), 7);
  EXPECT_EQ(other_way.totals_before.at("main"), 107);
  EXPECT_EQ(api.call("/api/v1/diff?file=" + after).status, 400);
  EXPECT_EQ(api.call("/api/v1/diff?query=cpu{}&baseline_file=1234").status, 404);
}

constexpr int64_t kStartNs = 1'763'200'000'000'000'000;

// Samples of two threads, 100 ms and 300 ms into a second.
std::string timed_profile() {
  ProfileBatch batch = vesta::test::batch_from({{"main;work", 3}, {"main;idle", 4}});
  DictionaryBuilder b(batch.dictionary);
  Profile& profile = batch.profiles[0];
  const Samples plain = profile.samples;
  const std::vector<int64_t> values = profile.samples.values;
  profile.time_ns = kStartNs;
  profile.duration_ns = 1'000'000'000;
  profile.samples = {};
  for (size_t row = 0; row < 2; ++row) {
    const std::vector<Label> thread = {b.text_label("thread", row == 0 ? "one" : "two")};
    profile.add_sample(plain.stacks[row], std::span(&values[row], 1), b.label_set(thread), {},
                       kStartNs + (row == 0 ? 100'000'000 : 300'000'000));
  }
  return write_otlp(batch);
}

TEST(FileRoutes, LooksAtSamplesByTimeAndByThread) {
  TestApi api;
  const std::string file = "file=" + api.open_file("timed.otlp", timed_profile());
  const std::string map = api.json("/api/v1/heatmap?kind=offset&rows=10&match=work&" + file);
  EXPECT_NE(map.find(R"("cells":[[0,1,3],[0,3,4]],"matched":[[0,1,3]])"), std::string::npos) << map;
  const auto totals = [&](const std::string& words) {
    return test::read_flame_columns(api.call("/api/v1/flame?format=columns&" + file + words).body)
        .totals;
  };
  const std::string from = std::to_string(kStartNs + 200'000'000);
  EXPECT_EQ(totals("&sample_from=" + from).at("main"), 4);
  EXPECT_EQ(totals("&sample_to=" + from).at("main"), 3);
  const auto by_thread = totals("&root_by=thread");
  EXPECT_EQ(by_thread.at("thread=one;main;work"), 3);
  EXPECT_EQ(by_thread.at("thread=two;main;idle"), 4);
}

}  // namespace
}  // namespace vesta::server
