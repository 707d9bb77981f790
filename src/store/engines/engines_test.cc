#include "store/engines/engines.h"

#include <gtest/gtest.h>

#include <set>

#include "store/testing/stored_profiles.h"
#include "testing/temporary_folder.h"

namespace vesta {
namespace {

// What each row promises, asked of the engine that it opens.
TEST(EnginesTest, EachIsWhatItsRowSays) {
  std::set<std::string_view> names;
  for (const EngineKind& kind : engine_kinds()) {
    EXPECT_TRUE(names.insert(kind.name).second) << kind.name;
    const TemporaryFolder directory;
    const EngineSettings settings{directory.path() + "/data", [](std::string_view) {}};
    auto engine = kind.open(settings);
    ASSERT_TRUE(engine) << kind.name << ": " << engine.error().message;
    test::ProfileSpec spec;
    spec.labels = {{"service_name", "web"}};
    spec.samples = {{.stack = "main;work", .value = 3}};
    ASSERT_TRUE((*engine)->write("t", test::batch_of({spec}), {}));
    const std::string backup = directory.path() + "/backup";
    EXPECT_EQ((*engine)->backup(backup).ok(), kind.restore != nullptr) << kind.name;
    engine->reset();
    const auto services = [&](const std::string& folder) {
      auto again = kind.open({folder, [](std::string_view) {}});
      EXPECT_TRUE(again) << kind.name;
      return (*again)->label_values("t", "service_name", {}, kAllTime, "", 0).value().size();
    };
    EXPECT_EQ(services(settings.directory), kind.is_durable ? 1U : 0U) << kind.name;
    if (kind.restore == nullptr) continue;
    ASSERT_TRUE(kind.restore(backup, directory.path() + "/restored")) << kind.name;
    EXPECT_EQ(services(directory.path() + "/restored"), 1U) << kind.name;
  }
  EXPECT_TRUE(server_engine().is_durable);
  EXPECT_NE(server_engine().restore, nullptr) << "`vesta restore` asks for it";
  EXPECT_FALSE(temporary_engine().is_durable);
}

}  // namespace
}  // namespace vesta
