#include "server/native/native_api.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "formats/registry.h"
#include "ingest/baseline_log.h"
#include "profile/test_profiles.h"
#include "server/native/test_call.h"
#include "testing/temporary_folder.h"

namespace vesta::server {
namespace {

using test::TestApi;

TEST(NativeApi, ListsTypesLabelsValuesAndSeries) {
  TestApi api;
  EXPECT_EQ(
      api.json("/api/v1/types").find("\"id\":\"process_cpu:cpu:nanoseconds:cpu:nanoseconds\"") !=
          std::string::npos,
      true);
  EXPECT_NE(api.json("/api/v1/labels").find("\"service_name\""), std::string::npos);
  EXPECT_EQ(api.json("/api/v1/values/service_name"),
            R"({"label":"service_name","values":["api","web"],"truncated":false})");
  EXPECT_EQ(api.json("/api/v1/values/service_name?limit=1"),
            R"({"label":"service_name","values":["api"],"truncated":true})");
  EXPECT_EQ(api.json("/api/v1/values/service_name?prefix=w"),
            R"({"label":"service_name","values":["web"],"truncated":false})");
  EXPECT_EQ(api.json("/api/v1/values/service_name?query={pod=\"web-1\"}"),
            R"({"label":"service_name","values":["web"],"truncated":false})");
  const std::string series = api.json("/api/v1/series?limit=1&query=cpu{}");
  EXPECT_NE(series.find("\"cut\":{\"series\":2}"), std::string::npos) << series;
}

TEST(NativeApi, MergesServicesIntoOneFlameGraph) {
  TestApi api;
  const std::string all = api.json("/api/v1/flame?query=cpu{}");
  EXPECT_NE(all.find("\"total\":107"), std::string::npos) << all;
  EXPECT_NE(all.find(R"("name":"main","total":107,"self":0)"), std::string::npos) << all;
  const std::string web = api.json("/api/v1/flame?query=cpu{service_name=\"web\"}");
  EXPECT_NE(web.find(R"("name":"main","total":7,"self":0)"), std::string::npos) << web;
}

TEST(NativeApi, SaysWhatANodeBudgetCutAndFetchesIt) {
  TestApi api;
  const std::string cut = api.json("/api/v1/flame?query=cpu{service_name=\"web\"}&nodes=2");
  EXPECT_NE(cut.find(R"("cut":{"nodes":4,"self":7})"), std::string::npos) << cut;
  const std::string below =
      api.json("/api/v1/flame?query=cpu{service_name=\"web\"}&path=main&path=work");
  EXPECT_NE(below.find(R"({"id":0,"parent":-1,"name":"work","total":3,"self":0})"),
            std::string::npos)
      << below;
  EXPECT_EQ(api.call("/api/v1/flame?query=cpu{}&path=nowhere").status, 404);
}

TEST(NativeApi, SendsFlameGraphsAsColumns) {
  TestApi api;
  const HttpResponse response = api.call("/api/v1/flame?query=cpu{}&format=columns");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.content_type, "application/vnd.vesta.flame-columns");
  const auto flame = test::read_flame_columns(response.body);
  EXPECT_EQ(flame.totals.at("main"), 107);
  EXPECT_EQ(flame.totals.at("main;work;read"), 1);
  const auto cut =
      test::read_flame_columns(api.call("/api/v1/flame?query=cpu{}&format=columns&nodes=2").body);
  EXPECT_EQ(cut.totals.at("main"), 107);
  EXPECT_EQ(cut.totals.size(), 2U);
  const auto diff = test::read_flame_columns(
      api.call("/api/v1/diff/flame?query=cpu{service_name=\"web\"}&baseline_query=cpu{service_name="
               "\"api\"}&format=columns&scale=absolute")
          .body);
  EXPECT_EQ(diff.totals.at("main"), 7);
  EXPECT_EQ(diff.totals_before.at("main"), 100);
}

TEST(NativeApi, FiltersStacks) {
  TestApi api;
  const std::string top = api.json("/api/v1/top?query=cpu{service_name=\"web\"}&focus=read");
  EXPECT_NE(top.find(R"("total":7,)"), std::string::npos) << top;
  EXPECT_NE(top.find(R"("name":"read","file":"","line":0,"binary":"","flat":1,"cum":1)"),
            std::string::npos)
      << top;
  EXPECT_EQ(top.find("idle"), std::string::npos);
  EXPECT_EQ(api.call("/api/v1/top?query=cpu{}&focus=(").status, 400);
}

TEST(NativeApi, FiltersMayRepeat) {
  TestApi api;
  const std::string web = "query=cpu{service_name=\"web\"}";
  const auto totals = [&](const std::string& filters) {
    return test::read_flame_columns(
               api.call("/api/v1/flame?" + web + "&format=columns" + filters).body)
        .totals;
  };
  EXPECT_EQ(totals("&focus=work&focus=read").at(""), 1);
  EXPECT_EQ(totals("&focus=work&focus=idle").at(""), 0);
  EXPECT_EQ(totals("&ignore=read&ignore=idle").at(""), 2);
  EXPECT_EQ(totals("&hide=main&hide=work").at("read"), 1);
  EXPECT_EQ(totals("&show_from=work&show_from=read").at("read"), 1);
  const std::string text =
      api.call("/api/v1/tree?" + web + "&format=csv&focus=work&focus=read").body;
  EXPECT_NE(text.find("read"), std::string::npos) << text;
  EXPECT_EQ(text.find("write"), std::string::npos) << text;
  EXPECT_EQ(api.call("/api/v1/top?query=cpu{}&focus=a&focus=(").status, 400);
}

TEST(NativeApi, ShowsCallersAndCallees) {
  TestApi api;
  const std::string body =
      api.json("/api/v1/callers?query=cpu{service_name=\"web\"}&function=work");
  EXPECT_NE(body.find(R"("callers":[{"name":"main","file":"","line":0,"binary":"","weight":3}])"),
            std::string::npos)
      << body;
  EXPECT_EQ(api.call("/api/v1/callers?query=cpu{}&function=nobody").status, 404);
  EXPECT_EQ(api.call("/api/v1/callers?query=cpu{}").status, 400);
}

TEST(NativeApi, ComparesTwoSelections) {
  TestApi api;
  const std::string body = api.json(
      "/api/v1/diff?query=cpu{service_name=\"web\"}&baseline_query=cpu{service_name=\"api\"}"
      "&scale=absolute");
  EXPECT_NE(body.find(R"("total_before":100,"total_after":7,"total_delta":-93)"), std::string::npos)
      << body;
  // One side may be empty.
  EXPECT_NE(api.json("/api/v1/diff?query=cpu{}&from=-1h&baseline_from=-9h&baseline_to=-8h")
                .find(R"("total_before":0,"total_after":107)"),
            std::string::npos);
  EXPECT_NE(api.json("/api/v1/diff?query=cpu{}&from=-9h&to=-8h&baseline_from=-1h&baseline_to=now")
                .find(R"("total_before":107,"total_after":0)"),
            std::string::npos);
  EXPECT_EQ(api.call("/api/v1/diff?query=cpu{}").status, 400);
  EXPECT_EQ(api.call("/api/v1/diff?query=cpu{}&baseline_query=inuse{}").status, 400);
}

TEST(NativeApi, ChoosesRowsOfTables) {
  TestApi api;
  const std::string top = api.json("/api/v1/top?query=cpu{}&match=^w&order=cum&rows=1&offset=1");
  EXPECT_NE(top.find(R"("rows":[{"name":"write","file":"","line":0,"binary":"","flat":2,"cum":2,)"
                     R"("callers":1}],"cut":{"rows":1,"flat":0})"),
            std::string::npos)
      << top;
  EXPECT_EQ(api.call("/api/v1/top?query=cpu{}&match=(").status, 400);
  EXPECT_EQ(api.call("/api/v1/top?query=cpu{}&order=delta").status, 400);
  EXPECT_EQ(api.call("/api/v1/top?query=cpu{}&offset=-1").status, 400);
  const std::string both =
      "/api/v1/diff?query=cpu{service_name=\"web\"}&baseline_query=cpu{service_name=\"api\"}";
  const std::string gone = api.json(both + "&change=removed");
  EXPECT_NE(gone.find(R"("rows":[{"name":"serve")"), std::string::npos) << gone;
  EXPECT_NE(gone.find(R"("change":"removed","p_value":null,"q_value":null,"significant":false}],)"),
            std::string::npos)
      << gone;
  EXPECT_NE(gone.find(R"("samples_before":0,"samples_after":0,"significance":"unknown")"),
            std::string::npos)
      << gone;
  const std::string added = api.json(both + "&change=new&order=cum_delta&rows=1");
  EXPECT_NE(added.find(R"("rows":[{"name":"idle")"), std::string::npos) << added;
  EXPECT_NE(added.find(R"("cut":{"rows":3,)"), std::string::npos) << added;
  EXPECT_NE(api.json(both + "&change=significant").find(R"("rows":[],)"), std::string::npos);
  EXPECT_EQ(api.call(both + "&change=odd").status, 400);
}

TEST(NativeApi, SaysWhichChangesAreMoreThanChance) {
  TestApi api;
  // A thousand samples each; `work` goes from a tenth to a fifth, `idle` stays about the same.
  api.write_cpu("before", {{"main;work", 100}, {"main;idle", 300}, {"main;rest", 600}}, 10'000'000);
  api.write_cpu("after", {{"main;work", 200}, {"main;idle", 310}, {"main;rest", 490}}, 10'000'000);
  const std::string both =
      "/api/v1/diff?query=cpu{service_name=\"after\"}&baseline_query=cpu{service_name=\"before\"}";
  const std::string body = api.json(both);
  EXPECT_NE(body.find(R"("samples_before":1000,"samples_after":1000,"significance":"known")"),
            std::string::npos)
      << body;
  EXPECT_NE(body.find(R"({"name":"main")"), std::string::npos);
  EXPECT_NE(body.find(R"("change":"same","p_value":1,"q_value":1,"significant":false)"),
            std::string::npos)
      << body;
  const std::string significant = api.json(both + "&change=significant&order=delta");
  EXPECT_NE(significant.find(R"("name":"work")"), std::string::npos) << significant;
  EXPECT_NE(significant.find(R"("name":"rest")"), std::string::npos) << significant;
  EXPECT_EQ(significant.find(R"("name":"idle")"), std::string::npos) << significant;
  EXPECT_EQ(significant.find(R"("significant":false)"), std::string::npos) << significant;
}

TEST(NativeApi, GivesRatesThatDoNotDependOnTheStep) {
  TestApi api;
  // 7 ns of web in the hour before now, in two profiles.
  for (const std::string step : {"1h", "3600"}) {
    const std::string body =
        api.json("/api/v1/totals?query=cpu{service_name=\"web\"}&step=" + step);
    EXPECT_NE(body.find("\"values\":[7]"), std::string::npos) << body;
    EXPECT_NE(body.find("\"profiles\":[2]"), std::string::npos) << body;
  }
  // The last bucket is cut short by the end of the range: 3 ns in 10 minutes are no less a rate.
  const std::string body =
      api.json("/api/v1/totals?query=cpu{service_name=\"web\"}&step=50m&from=-1h");
  EXPECT_NE(body.find("\"rates\":["), std::string::npos);
  const std::string grouped =
      api.json("/api/v1/totals?query=cpu{}&step=2h&group_by=service_name&limit=1");
  EXPECT_NE(grouped.find(R"("labels":{"service_name":"api"},"total":100)"), std::string::npos)
      << grouped;
  EXPECT_NE(grouped.find(R"("cut":{"series":1,"total":7})"), std::string::npos) << grouped;
  EXPECT_EQ(api.call("/api/v1/totals?query=cpu{}&step=1ns").status, 400);
  // What filters leave, of as many profiles.
  const std::string filtered =
      api.json("/api/v1/totals?query=cpu{service_name=\"web\"}&step=1h&focus=read");
  EXPECT_NE(filtered.find("\"values\":[1]"), std::string::npos) << filtered;
  EXPECT_NE(filtered.find("\"profiles\":[2]"), std::string::npos) << filtered;
  EXPECT_EQ(api.call("/api/v1/totals?query=cpu{}&focus=(").status, 400);
}

TEST(NativeApi, AveragesGauges) {
  TestApi api;
  const std::string body = api.json("/api/v1/totals?query=inuse{}&step=2h");
  EXPECT_NE(body.find("\"temporality\":\"instant\""), std::string::npos) << body;
  EXPECT_NE(body.find("\"values\":[30]"), std::string::npos) << body;  // of 20 and 40
  EXPECT_EQ(body.find("\"rates\""), std::string::npos);
  const std::string flame = api.json("/api/v1/flame?query=inuse{}");
  EXPECT_NE(flame.find("\"total\":30"), std::string::npos) << flame;
}

TEST(NativeApi, TellsOfCountersThatWereOnlyCompared) {
  TestApi api;
  EXPECT_NE(api.json("/api/v1/services").find(R"("baselines":[])"), std::string::npos);
  BaselineLog log;
  log.note("anonymous", "shop", "mutex", 7);
  log.note("anonymous", "shop", "mutex", 9);
  log.note("other", "secret", "mutex", 9);
  NativeApiOptions options;
  options.baselines = &log;
  api.start(options);
  const std::string body = api.json("/api/v1/services");
  EXPECT_NE(
      body.find(
          R"("baselines":[{"service_name":"shop","profile":"mutex","count":2,"last_ns":9}],"cut")"),
      std::string::npos)
      << body;
}

TEST(NativeApi, ShowsEveryServiceAtAGlance) {
  TestApi api;
  const std::string body = api.json("/api/v1/services?points=2");
  EXPECT_NE(
      body.find(
          R"({"service_name":"api","profile_type":"process_cpu:cpu:nanoseconds:cpu:nanoseconds",)"
          R"("type":"cpu","name":"cpu","unit":"nanoseconds","temporality":"cumulative","total":100,)"
          R"("previous_total":null,)"),
      std::string::npos)
      << body;
  EXPECT_NE(body.find(R"("values":[0,100])"), std::string::npos) << body;
  EXPECT_LT(body.find(R"("service_name":"api","profile_type":"process_cpu)"),
            body.find(R"("service_name":"web")"));
  EXPECT_NE(body.find(R"("name":"inuse","unit":"bytes","temporality":"instant","total":30,)"),
            std::string::npos)
      << body;
  const std::string later = api.json("/api/v1/services?from=-20m&to=now");
  EXPECT_NE(later.find(R"("rows":[])"), std::string::npos) << later;
  EXPECT_NE(api.json("/api/v1/services?query=cpu{}&limit=1").find(R"("cut":{"rows":1})"),
            std::string::npos);
  EXPECT_EQ(api.call("/api/v1/services?points=301").status, 400);
  EXPECT_EQ(api.call("/api/v1/services?points=0").status, 400);
  EXPECT_EQ(api.call("/api/v1/services?query=x{}").status, 400);
  api.caller.tenant = "somebody else";
  EXPECT_NE(api.json("/api/v1/services").find(R"("rows":[])"), std::string::npos);
}

TEST(NativeApi, ListsWhoSendsProfiles) {
  TestApi api;
  NativeApiOptions options;
  options.local_agent = [] {
    LocalAgent agent;
    agent.rate_hz = 49;
    agent.losses = {{"sample ring full", 3}, {"nothing", 0}};
    return agent;
  };
  api.start(options);
  const std::string body = api.json("/api/v1/agents");
  EXPECT_NE(
      body.find(R"({"host":"","agent":"","services":2,"types":["inuse","cpu"],"profiles":5,)"),
      std::string::npos)
      << body;
  EXPECT_NE(body.find(R"("losses":[{"reason":"sample ring full","count":3}],"troubles":[])"),
            std::string::npos)
      << body;
  EXPECT_EQ(api.call("/api/v1/agents?query=cpu{}").status, 400);
  // The agent in the process is the owner's.
  api.caller.tenant = "somebody else";
  EXPECT_NE(api.json("/api/v1/agents").find(R"("agents":[],"local":null,"cut":{"agents":0})"),
            std::string::npos);
}

TEST(NativeApi, TellsPagesWhatTheServerIsSetUpTo) {
  TestApi api;
  EXPECT_NE(api.json("/api/v1/config").find(R"("tenant":"anonymous","scopes":null,)"),
            std::string::npos);
  NativeApiOptions options;
  options.version = "1.2";
  options.ui.trace_link = "https://tempo.example/{trace_id}";
  options.ui.cost_per_core_hour = 0.05;
  options.max_nodes = 7;
  api.start(options);
  api.caller.scopes = {"read", "write"};
  const std::string body = api.json("/api/v1/config");
  for (const char* part :
       {R"("version":"1.2")", R"("scopes":["read","write"])",
        R"("trace_link":"https://tempo.example/{trace_id}")", R"("cost_per_core_hour":0.05)",
        R"("nodes_max":7)", R"("empty":false)"}) {
    EXPECT_NE(body.find(part), std::string::npos) << body;
  }
  api.caller.tenant = "somebody else";
  EXPECT_NE(api.json("/api/v1/config").find(R"("empty":true)"), std::string::npos);
}

TEST(NativeApi, ExportsEveryFormat) {
  TestApi api;
  const std::map<std::string, std::string> starts = {
      {"pprof", "\x1f\x8b"}, {"folded", "main"}, {"speedscope", "{"}, {"otlp-json", "{"},
      {"flamebearer", "{"},  {"svg", "<"},       {"html", "<!"},      {"otlp", ""}};
  for (const auto& [format, start] : starts) {
    const HttpResponse response = api.call("/api/v1/export?query=cpu{}&format=" + format);
    EXPECT_EQ(response.status, 200) << format << response.body;
    EXPECT_TRUE(response.body.starts_with(start)) << format;
    EXPECT_FALSE(response.headers.empty());
    if (format == "svg" || format == "html") continue;
    const auto batch = read_profile(response.body, "", {});
    ASSERT_TRUE(batch.ok()) << format << ": " << batch.error().message;
    int64_t total = 0;
    for (const Profile& profile : batch->profiles) total += total_of(profile, 0);
    EXPECT_EQ(total, 107) << format;
  }
  EXPECT_EQ(api.call("/api/v1/export?query=cpu{}&format=zip").status, 400);
  const auto folded = api.call("/api/v1/export?query=cpu{}&format=folded&focus=read").body;
  EXPECT_EQ(folded, "main;work;read 1\n");
}

TEST(NativeApi, OpensInPprof) {
  TestApi api;
  const HttpResponse response = api.call("/api/v1/pprof?query=cpu{service_name=\"web\"}");
  const auto batch = read_profile(response.body, "pprof", {});
  ASSERT_TRUE(batch.ok());
  EXPECT_EQ(vesta::test::total_of_type(*batch, "cpu"), 7);
  EXPECT_FALSE(response.compressible);
  EXPECT_EQ(api.call("/api/v1/pprof?query=cpu{}&seconds=7200").status, 200);
  EXPECT_EQ(api.call("/api/v1/pprof?query=cpu{}&seconds=x").status, 400);
  const HttpResponse samples = api.call("/api/v1/pprof?query=cpu{}&samples=true");
  EXPECT_EQ(samples.status, 200) << samples.body;
}

TEST(NativeApi, AnswersWithTheColumnOfAWrongSelector) {
  TestApi api;
  const HttpResponse response = api.call("/api/v1/top?query=cpu{a=b}");
  EXPECT_EQ(response.status, 400);
  EXPECT_NE(response.body.find("selector, column 7: expected a value in quotes, found 'b'"),
            std::string::npos)
      << response.body;
}

TEST(NativeApi, RefusesWhatItDoesNotUnderstand) {
  TestApi api;
  EXPECT_EQ(api.call("/api/v1/top").status, 400);
  EXPECT_EQ(api.call("/api/v1/top?query=cpu{}&from=yesterday").status, 400);
  EXPECT_EQ(api.call("/api/v1/top?query=cpu{}&rows=-1").status, 400);
  EXPECT_EQ(api.call("/api/v1/top?query=cpu{}&order=up").status, 400);
  EXPECT_EQ(api.call("/api/v1/top?query=cpu{}&trace_id=xyz").status, 400);
  EXPECT_EQ(api.call("/api/v1/flame?query=cpu{}&nodes=100000000").status, 400);
  const HttpResponse response = api.call("/api/v1/top?query=cpu{}&focsu=a");
  EXPECT_EQ(response.status, 400);
  EXPECT_NE(response.body.find("did you mean 'focus'?"), std::string::npos);
  EXPECT_EQ(api.call("/api/v1/top?query=cpu{service_name=\"nobody\"}").status, 404);
  EXPECT_EQ(api.call("/api/v1/top?query=nonsense{}").status, 400);
}

TEST(NativeApi, KeepsTenantsApart) {
  TestApi api;
  api.caller.tenant = "somebody else";
  EXPECT_EQ(api.json("/api/v1/types"), R"({"types":[]})");
  EXPECT_EQ(api.json("/api/v1/labels"), R"({"labels":[]})");
  EXPECT_EQ(api.call("/api/v1/top?query=cpu{}").status, 404);
  const std::string top =
      api.json("/api/v1/top?query=process_cpu:cpu:nanoseconds:cpu:nanoseconds{}");
  EXPECT_NE(top.find("\"total\":0"), std::string::npos);
  EXPECT_EQ(api.json("/api/v1/series?query={}&all_time=true", "DELETE"), R"({"series":0})");
}

TEST(NativeApi, DeletesSeries) {
  TestApi api;
  EXPECT_EQ(api.call("/api/v1/series?all_time=true", "DELETE").status, 400);
  EXPECT_EQ(api.json("/api/v1/series?query=cpu{service_name=\"api\"}&all_time=true", "DELETE"),
            R"({"series":1})");
  EXPECT_NE(api.json("/api/v1/top?query=cpu{}").find("\"total\":7"), std::string::npos);
  EXPECT_EQ(api.json("/api/v1/series?query={}&from=-3h&to=-2h", "DELETE"), R"({"series":0})");
}

TEST(NativeApi, DeletesNothingThatWasNotSpelledOut) {
  TestApi api;
  for (const std::string range : {"", "&from=-1h", "&to=now", "&all_time=false", "&all_time=yes",
                                  "&all_time=", "&all_time=true&from=-1h",
                                  "&all_time=true&from=-1h&to=now", "&from=now&to=-1h"}) {
    EXPECT_EQ(api.call("/api/v1/series?query={}" + range, "DELETE").status, 400) << range;
  }
  EXPECT_NE(api.json("/api/v1/top?query=cpu{}").find("\"total\":107"), std::string::npos);
}

TEST(NativeApi, MakesBackupsInTheirDirectoryOnly) {
  TestApi api;
  EXPECT_EQ(api.call("/api/v1/backup?name=x", "POST").status, 501);
  NativeApiOptions options;
  options.backup_root = "/nonexistent";
  api.start(options);
  for (const std::string name : {"", "..", ".hidden", "a/b", "/etc", "a%00"})
    EXPECT_EQ(api.call("/api/v1/backup?name=" + name, "POST").status, 400) << name;
  // Good enough to reach the engine, which cannot do it.
  EXPECT_EQ(api.call("/api/v1/backup?name=2026-11-15", "POST").status, 501);
}

TEST(NativeApi, ShowsSourceOfFilesInTheSelectionAlone) {
  TestApi api;
  api.write_cpu("lines", {{"main@/src/a.cc:3;work@/src/a.cc:40", 2}, {"main@/src/a.cc:4", 5}}, 1);
  TemporaryFolder folder;
  std::string text;
  for (int i = 1; i <= 100; ++i) text += "line " + std::to_string(i) + "\n";
  std::ofstream(folder.path("a.cc")) << text;
  std::ofstream(folder.path("b.cc")) << "secret\n";
  const std::string query = "/api/v1/source?query=cpu{service_name=\"lines\"}&source_file=";
  const std::string weights =
      R"("weights":[{"line":3,"self":0,"total":2},{"line":4,"self":5,"total":5},)"
      R"({"line":40,"self":2,"total":2}])";
  const std::string without = api.json(query + "/src/a.cc");
  EXPECT_NE(
      without.find(R"("file":"/src/a.cc","function":"","reachable":false,)"
                   R"("reason":"no source folder is configured for /src/a.cc","first_line":1,)"
                   R"("lines":[],)" +
                   weights),
      std::string::npos)
      << without;
  NativeApiOptions options;
  options.sources = {{"/src", folder.path()}};
  api.start(options);
  const std::string all = api.json(query + "/src/a.cc");
  EXPECT_NE(all.find(R"("reachable":true,"reason":"","first_line":1,"lines":["line 1","line 2",)"),
            std::string::npos)
      << all;
  EXPECT_NE(all.find(R"("line 100"],)" + weights), std::string::npos) << all;
  const std::string one = api.json(query + "/src/a.cc&function=work");
  EXPECT_NE(one.find(R"("first_line":20,"lines":["line 20",)"), std::string::npos) << one;
  EXPECT_NE(one.find(R"("line 60"],"weights":[{"line":40,)"), std::string::npos) << one;
  const std::string part = api.json(query + "/src/a.cc&focus=work");
  EXPECT_NE(part.find(R"("weights":[{"line":3,"self":0,"total":2},{"line":40,)"), std::string::npos)
      << part;
  // It lies in the folder, but no profile speaks of it.
  EXPECT_EQ(api.call(query + "/src/b.cc").status, 404);
  EXPECT_EQ(api.call(query).status, 400);
}

TEST(NativeApi, TreesMayBeginWithTheValuesOfALabel) {
  TestApi api;
  const auto flame = test::read_flame_columns(
      api.call("/api/v1/flame?query=cpu{}&root_by=pod&format=columns").body);
  EXPECT_EQ(flame.totals.at(""), 107);
  EXPECT_EQ(flame.totals.at("pod=web-1;main;work;read"), 1);
  EXPECT_EQ(flame.totals.at("pod=web-2;main"), 4);
  EXPECT_EQ(flame.totals.at("pod=api-1"), 100);
  EXPECT_NE(flame.header.find(R"("total":107)"), std::string::npos) << flame.header;
  EXPECT_NE(flame.header.find(R"("profiles":3,"services":2)"), std::string::npos) << flame.header;
  const auto below = test::read_flame_columns(
      api.call("/api/v1/flame?query=cpu{}&root_by=pod&format=columns&path=pod=web-1&inverted=true")
          .body);
  EXPECT_EQ(below.totals.at("read;work;main"), 1);
  const auto diff = test::read_flame_columns(
      api.call("/api/v1/diff/flame?query=cpu{service_name=\"web\"}&baseline_query=cpu{}&root_by=pod"
               "&format=columns&scale=absolute")
          .body);
  EXPECT_EQ(diff.totals.at("pod=web-1"), 3);
  EXPECT_EQ(diff.totals.at("pod=api-1"), 0);
  EXPECT_EQ(diff.totals_before.at("pod=api-1;main;serve"), 100);
  // Nothing has this one, neither series nor samples.
  const auto none = test::read_flame_columns(
      api.call("/api/v1/flame?query=cpu{}&root_by=zone&format=columns").body);
  EXPECT_EQ(none.totals.at("zone=;main"), 107);
  EXPECT_NE(api.json("/api/v1/tree?query=cpu{}&root_by=pod").find(R"("name":"pod=web-2")"),
            std::string::npos);
  EXPECT_NE(api.call("/api/v1/tree?query=cpu{}&root_by=pod&format=csv").body.find("pod=web-2"),
            std::string::npos);
}

TEST(NativeApi, DrawsHeatMaps) {
  TestApi api;
  const std::string values = api.json("/api/v1/heatmap?query=cpu{}&step=30m&rows=4");
  EXPECT_NE(values.find(R"("cell_total":107,"left_out":0)"), std::string::npos) << values;
  EXPECT_NE(values.find(R"("rows_by":"rate","cells_are":"weight")"), std::string::npos) << values;
  const std::string heap = api.json("/api/v1/heatmap?query=inuse{}&step=1h&rows=2");
  EXPECT_NE(heap.find(R"("rows_by":"value","cells_are":"profiles")"), std::string::npos) << heap;
  EXPECT_NE(heap.find(R"("cells":[[0,0,1],[0,1,1]])"), std::string::npos) << heap;
  const std::string offsets = api.json("/api/v1/heatmap?query=cpu{}&kind=offset");
  EXPECT_NE(offsets.find("\"left_out\":107"), std::string::npos) << offsets;
  EXPECT_EQ(api.call("/api/v1/heatmap?query=cpu{}&kind=offset&from=-30d").status, 400);
}

TEST(NativeApi, SelectsRegionsOfHeatMaps) {
  TestApi api;
  const auto total = [&](const std::string& words) {
    return test::read_flame_columns(
               api.call("/api/v1/flame?query=cpu{}&format=columns&" + words).body)
        .totals.at("");
  };
  // Profiles of 3, 4 and 100.
  EXPECT_EQ(total("value_min=4"), 104);
  EXPECT_EQ(total("value_min=3&value_max=4"), 3);
  EXPECT_EQ(total("value_min=3.2&value_max=99.5"), 4);
  EXPECT_EQ(api.call("/api/v1/top?query=cpu{}&value_min=4&value_max=4").status, 400);
  EXPECT_EQ(api.call("/api/v1/top?query=cpu{}&value_min=many").status, 400);
  EXPECT_EQ(api.call("/api/v1/top?query=cpu{}&value_max=1e300").status, 400);
  EXPECT_EQ(total("sample_from=-2h"), 0) << "no sample has a time";
  // Per second that they cover, ten each.
  EXPECT_EQ(total("rate_min=0.4"), 104);
  EXPECT_EQ(total("rate_min=0.3&rate_max=0.4"), 3);
  EXPECT_EQ(total("rate_max=10"), 7);
  EXPECT_EQ(api.call("/api/v1/top?query=cpu{}&rate_min=4&rate_max=4").status, 400);
  EXPECT_EQ(api.call("/api/v1/top?query=cpu{}&rate_min=nan").status, 400);
  EXPECT_EQ(api.call("/api/v1/top?query=cpu{}&rate_min=inf").status, 400);
  EXPECT_EQ(api.call("/api/v1/top?query=cpu{}&rate_min=1&sample_from=-1h").status, 400);
  EXPECT_EQ(api.call("/api/v1/heatmap?query=cpu{}&kind=offset&rate_min=1").status, 400);
  const HttpResponse gauge = api.call("/api/v1/top?query=inuse{}&rate_min=1");
  EXPECT_EQ(gauge.status, 400);
  EXPECT_NE(gauge.body.find("value_min"), std::string::npos) << gauge.body;
  // Each side of a comparison has its own.
  const auto diff = test::read_flame_columns(
      api.call("/api/v1/diff/flame?query=cpu{}&baseline_query=cpu{}&format=columns&value_min=4"
               "&baseline_value_max=4&scale=absolute")
          .body);
  EXPECT_EQ(diff.totals.at(""), 104);
  EXPECT_EQ(diff.totals_before.at(""), 3);
  const auto by_rate = test::read_flame_columns(
      api.call("/api/v1/diff/flame?query=cpu{}&baseline_query=cpu{}&format=columns&rate_min=0.4"
               "&baseline_rate_max=0.4&scale=absolute")
          .body);
  EXPECT_EQ(by_rate.totals.at(""), 104);
  EXPECT_EQ(by_rate.totals_before.at(""), 3);
  EXPECT_EQ(api.call("/api/v1/top?query=cpu{}&sample_from=now&sample_to=-1h").status, 400);
  const std::string map = api.json("/api/v1/heatmap?query=cpu{}&step=1h&rows=2&match=work");
  EXPECT_NE(map.find(R"("cells":[[0,0,7],[0,1,100]],"matched":[[0,0,3]])"), std::string::npos)
      << map;
  const std::string part = api.json("/api/v1/heatmap?query=cpu{}&step=1h&rows=2&value_max=100");
  EXPECT_NE(part.find(R"("cell_total":7)"), std::string::npos) << part;
  EXPECT_EQ(part.find("matched"), std::string::npos);
  const HttpResponse wrong = api.call("/api/v1/heatmap?query=cpu{}&match=(");
  EXPECT_EQ(wrong.status, 400);
  EXPECT_NE(wrong.body.find("match: '('"), std::string::npos) << wrong.body;
}

TEST(NativeApi, PrintsTablesAsTextAndCsv) {
  TestApi api;
  const HttpResponse text =
      api.call("/api/v1/top?query=cpu{service_name=\"web\"}&format=text&rows=2");
  EXPECT_EQ(text.content_type, "text/plain; charset=utf-8");
  EXPECT_NE(text.body.find("of 7ns total"), std::string::npos) << text.body;
  EXPECT_NE(text.body.find("more, "), std::string::npos) << text.body;
  EXPECT_EQ(text.body.find('\x1b'), std::string::npos);
  const auto body = [&](const std::string& parameters) {
    return api.call("/api/v1/top?query=cpu{service_name=\"web\"}" + parameters).body;
  };
  EXPECT_NE(body("&format=text&color=true").find('\x1b'), std::string::npos);
  const std::string csv = body("&format=csv&group=file-function");
  EXPECT_TRUE(csv.starts_with("flat,flat_percent")) << csv;
  EXPECT_NE(csv.find("4,57.1429,57.1429,4,57.1429,idle"), std::string::npos) << csv;
  const std::string report = body("&format=report&rows=1");
  EXPECT_NE(report.find("\"name\": \"idle\""), std::string::npos) << report;
  EXPECT_EQ(report.find("from_ns"), std::string::npos) << report;
  EXPECT_NE(body("&relative=true&focus=read").find(R"("total":1,)"), std::string::npos);
  EXPECT_EQ(body("&format=csv&min_share=0.5").find("read"), std::string::npos);
  EXPECT_EQ(api.call("/api/v1/top?query=cpu{}&min_share=2").status, 400);
  EXPECT_EQ(api.call("/api/v1/top?query=cpu{}&format=text&unit=MB").status, 400);
}

TEST(NativeApi, SaysWhyAReportIsEmpty) {
  TestApi api;
  const auto state = [&](const std::string& parameters) {
    const HttpResponse response = api.call("/api/v1/top?format=csv&" + parameters);
    EXPECT_EQ(response.status, 200) << response.body;
    for (const auto& [name, value] : response.headers) {
      if (name == "Vesta-Answer") return value;
    }
    return std::string();
  };
  const std::string type = "query=process_cpu:cpu:nanoseconds:cpu:nanoseconds{service_name=\"";
  EXPECT_EQ(state(type + "web\"}"), "");
  EXPECT_EQ(state(type + "web\"}&focus=nothing"), "filtered");
  EXPECT_EQ(state(type + "nobody\"}"), "empty");
}

TEST(NativeApi, ShowsTheCallGraph) {
  TestApi api;
  const std::string web = "/api/v1/graph?query=cpu{service_name=\"web\"}";
  const std::string json = api.json(web + "&match=^work$");
  EXPECT_NE(json.find(R"("flat":0,"cum":3,"callers":[{"name":"main")"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("weight":2,"inlined":false)"), std::string::npos) << json;
  EXPECT_EQ(api.json(web + "&match=^work$&min_edge_share=0.2").find(R"("weight":1)"),
            std::string::npos);
  EXPECT_NE(api.call(web + "&format=text").body.find("Callers above"), std::string::npos);
  EXPECT_NE(api.call(web + "&format=csv").body.find("work,write,2,0"), std::string::npos);
  EXPECT_EQ(api.call(web + "&match=nothing").status, 404);
}

TEST(NativeApi, PrintsComparisonsAsText) {
  TestApi api;
  const std::string both = "query=cpu{service_name=\"web\"}&baseline_query=cpu{}&scale=absolute";
  const std::string text = api.call("/api/v1/diff?format=text&order=growth&" + both).body;
  EXPECT_NE(text.find("Total: 107ns before, 7ns after, -100ns"), std::string::npos) << text;
  EXPECT_NE(text.find("gone"), std::string::npos) << text;
  EXPECT_TRUE(api.call("/api/v1/diff?format=csv&" + both).body.starts_with("flat_before,"));
}

TEST(NativeApi, PrintsTreesAsText) {
  TestApi api;
  const HttpResponse text = api.call("/api/v1/tree?query=cpu{}&format=text");
  EXPECT_EQ(text.status, 200);
  EXPECT_NE(text.body.find("main"), std::string::npos);
  EXPECT_TRUE(api.call("/api/v1/tree?query=cpu{}&format=csv").body.starts_with("id,parent"));
  const std::string up = api.json("/api/v1/tree?query=cpu{}&direction=bottom-up");
  EXPECT_NE(up.find(R"("name":"read","total":1)"), std::string::npos) << up;
}

TEST(NativeApi, ShowsTheHeaviestNodesOfATreeInEveryFormat) {
  TestApi api;
  const std::string web = "/api/v1/tree?query=cpu{service_name=\"web\"}";
  const std::string two = api.json(web + "&rows=2");
  EXPECT_NE(two.find(R"("name":"main","total":7)"), std::string::npos) << two;
  EXPECT_NE(two.find(R"("name":"idle","total":4)"), std::string::npos) << two;
  EXPECT_EQ(two.find("work"), std::string::npos) << two;
  EXPECT_NE(two.find(R"("cut":{"nodes":3,"self":3})"), std::string::npos) << two;
  EXPECT_EQ(api.call(web + "&rows=2&format=csv").body.find("work"), std::string::npos);
  EXPECT_NE(api.call(web + "&rows=2&format=text").body.find("… 1 more, 42.9 %"), std::string::npos);
  EXPECT_EQ(api.json(web + "&min_share=0.5").find("work"), std::string::npos);
  EXPECT_NE(api.json(web + "&rows=0").find("read"), std::string::npos);
}

// Samples with labels that do not become labels of a series.
void write_labelled(const TestApi& api) {
  api.write_cpu("shop",
                {{"main@/src/a.cc:3;work", 1, {{"request", "slow"}}},
                 {"main@/src/a.cc:3;work", 2, {{"request", "fast"}}},
                 {"main@/src/a.cc:4;wait", 5}},
                1);
}

TEST(NativeApi, FiltersSamplesByLabel) {
  TestApi api;
  write_labelled(api);
  const std::string shop = "query=cpu{service_name=\"shop\"}";
  const auto totals = [&](const std::string& filters) {
    return test::read_flame_columns(
               api.call("/api/v1/flame?" + shop + "&format=columns" + filters).body)
        .totals;
  };
  EXPECT_EQ(totals("&tag_focus=request=slow").at("main;work"), 1);
  EXPECT_EQ(totals("&tag_focus=request&tag_ignore=fast").at("main"), 1);
  EXPECT_EQ(totals("&tag_ignore=request").at("main"), 5);
  EXPECT_EQ(totals("&tag_focus=service_name=shop").at("main"), 8) << "labels of the series count";
  const std::string top = api.json("/api/v1/top?" + shop + "&tag_focus=request");
  EXPECT_NE(top.find(R"("total":8,)"), std::string::npos) << top;
  EXPECT_EQ(top.find("wait"), std::string::npos) << top;
  const std::string relative = api.json("/api/v1/top?" + shop + "&tag_focus=request&relative=true");
  EXPECT_NE(relative.find(R"("total":3,)"), std::string::npos) << relative;
  EXPECT_EQ(api.call("/api/v1/top?" + shop + "&tag_focus=nothing").headers.size(), 1U);
  EXPECT_EQ(api.call("/api/v1/top?" + shop + "&tag_focus=(").status, 400);
  EXPECT_EQ(api.call("/api/v1/export?format=folded&" + shop + "&tag_focus=slow").body,
            "main;work 1\n");
}

TEST(NativeApi, TakesFilteredSamplesApartByLabel) {
  TestApi api;
  write_labelled(api);
  const std::string shop = "query=cpu{service_name=\"shop\"}";
  const auto totals = [&](const std::string& parameters) {
    return test::read_flame_columns(
               api.call("/api/v1/flame?" + shop + "&format=columns" + parameters).body)
        .totals;
  };
  const auto slow = totals("&tag_focus=request=slow&root_by=request");
  EXPECT_EQ(slow.at("request=slow;main;work"), 1);
  EXPECT_FALSE(slow.contains("request=fast"));
  const auto other = totals("&tag_ignore=request=slow&root_by=request");
  EXPECT_EQ(other.at("request=fast;main;work"), 2);
  EXPECT_EQ(other.at("request=;main;wait"), 5);
  EXPECT_EQ(totals("&tag_focus=request&root_by=service_name").at("service_name=shop;main"), 3)
      << "labels of the series count";
  const std::string json = "&tag_focus=request&root_by=request";
  EXPECT_NE(api.json("/api/v1/flame?" + shop + json).find(R"("total":8,)"), std::string::npos)
      << "shares are of all samples";
  const std::string text = api.call("/api/v1/tree?" + shop + json + "&rows=10&format=csv").body;
  EXPECT_NE(text.find(",3,0,total"), std::string::npos) << text;
  EXPECT_NE(text.find(",1,0,request=slow"), std::string::npos) << text;
  const auto both = test::read_flame_columns(
      api.call("/api/v1/diff/flame?" + shop +
               "&baseline_query=cpu{}&scale=absolute&format=columns" + json)
          .body);
  EXPECT_EQ(both.totals.at("request=fast;main"), 2);
}

TEST(NativeApi, MakesFramesOfLabels) {
  TestApi api;
  write_labelled(api);
  const std::string shop = "query=cpu{service_name=\"shop\"}";
  const auto csv = [&](const std::string& route) {
    return api.call("/api/v1/" + route + "&format=csv&rows=20&" + shop).body;
  };
  const std::string tree = csv("tree?tag_root=service_name&tag_root=request&tag_leaf=request");
  EXPECT_NE(tree.find(",8,0,shop"), std::string::npos) << tree;
  EXPECT_NE(tree.find(",1,1,slow"), std::string::npos) << tree;
  EXPECT_NE(tree.find(",5,5,<unknown>"), std::string::npos) << tree;
  EXPECT_NE(csv("tree?tag_root=request&root_by=service_name").find("service_name=shop"),
            std::string::npos);
  EXPECT_NE(csv("top?tag_leaf=request").find("fast"), std::string::npos);
  EXPECT_NE(csv("graph?tag_root=request").find("fast"), std::string::npos);
  EXPECT_NE(csv("traces?tag_root=request").find("fast"), std::string::npos);
  EXPECT_EQ(csv("top?tag_leaf=request&tag_focus=request=slow").find("fast"), std::string::npos);
}

TEST(NativeApi, DrawsTwoSelections) {
  TestApi api;
  const std::string both =
      "/api/v1/diff/flame?query=cpu{service_name=\"web\"}&baseline_query=cpu{}&scale=absolute";
  const HttpResponse svg = api.call(both + "&format=svg&title=compared");
  EXPECT_EQ(svg.content_type, "image/svg+xml");
  EXPECT_NE(svg.body.find("<title>compared</title>"), std::string::npos);
  EXPECT_NE(svg.body.find("<title>idle (before "), std::string::npos) << svg.body;
  EXPECT_NE(api.call(both + "&format=html").body.find("<script id=\"profile\""), std::string::npos);
  const HttpResponse png = api.call(both + "&format=png");
  EXPECT_EQ(png.status, 400);
  EXPECT_NE(png.body.find("use one of: json columns svg html"), std::string::npos) << png.body;
}

TEST(NativeApi, EndsStacksAtAFunction) {
  TestApi api;
  const auto totals =
      test::read_flame_columns(api.call("/api/v1/flame?query=cpu{service_name=\"web\"}"
                                        "&format=columns&prune_from=^work$")
                                   .body)
          .totals;
  EXPECT_EQ(totals.at("main;work"), 3);
  EXPECT_FALSE(totals.contains("main;work;read"));
}

TEST(NativeApi, ShowsStacksWithTheirLabels) {
  TestApi api;
  write_labelled(api);
  const std::string shop = "/api/v1/traces?query=cpu{service_name=\"shop\"}";
  const std::string json = api.json(shop);
  EXPECT_NE(json.find(R"("traces":[{"value":5,"labels":{},"stack":["wait","main"]})"),
            std::string::npos)
      << json;
  EXPECT_NE(json.find(R"({"value":1,"labels":{"request":"slow"},"stack":["work","main"]})"),
            std::string::npos)
      << json;
  EXPECT_EQ(api.json(shop + "&tag_hide=request").find("slow"), std::string::npos);
  const std::string two = api.call(shop + "&rows=2&format=text").body;
  EXPECT_NE(two.find("… 1 more, 12.5 %"), std::string::npos) << two;
  // Series do not tell stacks apart.
  const std::string web = api.call("/api/v1/traces?query=cpu{}&format=csv&focus=read").body;
  EXPECT_EQ(web, "value,labels,stack\n1,,main;work;read\n");
  EXPECT_EQ(api.call(shop + "&tag_show=(").status, 400);
}

TEST(NativeApi, ShowsTheWeightOfLabels) {
  TestApi api;
  write_labelled(api);
  const std::string csv = api.call("/api/v1/labels/weights?query=cpu{}&format=csv").body;
  for (const char* row : {"pod,web-2,4\n", "request,fast,2\n", "service_name,api,100\n"})
    EXPECT_NE(csv.find(row), std::string::npos) << csv;
  const std::string json = api.json("/api/v1/labels/weights?query=cpu{}&tag_show=request&rows=1");
  EXPECT_NE(json.find(R"("labels":[{"key":"request","weight":3,"values":[{"value":"fast",)"),
            std::string::npos)
      << json;
  EXPECT_NE(json.find(R"("cut":{"rows":1,"weight":1})"), std::string::npos) << json;
}

TEST(NativeApi, ShowsTheWeightOfLines) {
  TestApi api;
  write_labelled(api);
  const std::string shop = "/api/v1/lines?query=cpu{service_name=\"shop\"}";
  const std::string json = api.json(shop + "&match=^main$");
  EXPECT_NE(json.find(R"("functions":[{"name":"main","file":"/src/a.cc",)"), std::string::npos)
      << json;
  EXPECT_NE(json.find(R"("lines":[{"line":3,"flat":0,"cum":3},{"line":4,"flat":0,"cum":5}])"),
            std::string::npos)
      << json;
  EXPECT_NE(api.json(shop + "&match=^main$&tag_focus=slow").find(R"("cum":1})"), std::string::npos);
  EXPECT_EQ(api.call(shop + "&match=nothing").status, 404);
  EXPECT_EQ(api.call(shop).status, 400);
}

}  // namespace
}  // namespace vesta::server
