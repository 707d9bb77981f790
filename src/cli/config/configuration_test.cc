#include "cli/config/configuration.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <memory>
#include <set>

#include "base/file.h"
#include "cli/commands.h"
#include "config/show.h"
#include "config/yaml.h"

namespace vesta::cli {
namespace {

using ::testing::HasSubstr;

std::string text_of(const std::string& path) {
  const auto file = InputFile::open(std::string(VESTA_SOURCE_DIR "/") + path, 1 << 20);
  EXPECT_TRUE(file.ok()) << path;
  return file.ok() ? std::string(file->bytes()) : std::string();
}

// Keys that are the same as others, and documented there.
std::string documented_as(std::string key) {
  static constexpr auto kSame = std::to_array<std::pair<std::string_view, std::string_view>>(
      {{"agent.targets.exclude[].", "agent.targets.include[]."},
       {"agent.service_names[].match.", "agent.targets.include[]."},
       {"limits.tenants.*.", "limits."},
       {"scrape_configs[].relabel_configs[].", "agent.relabel[]."}});
  for (const auto& [prefix, other] : kSame) {
    if (key.starts_with(prefix)) return key.replace(0, prefix.size(), other);
  }
  return key;
}

TEST(Configuration, EveryKeyIsInTheGuide) {
  const std::string guide = text_of("docs/guide/configuration.md");
  Configuration configuration;
  for (const std::string& key : config::keys_of(configuration_fields(configuration))) {
    EXPECT_THAT(guide, HasSubstr("| `" + documented_as(key) + "` | "));
  }
}

TEST(Configuration, TheGuideHasTypesAndDefaultsAsTheyAre) {
  const std::string guide = text_of("docs/guide/configuration.md");
  Configuration configuration;
  for (const config::Field& field : configuration_fields(configuration)) {
    if (!field.below.empty()) continue;
    std::string value = "–";
    if (field.show) {
      const config::Node node = field.show();
      if (!node.word.empty()) value = "`" + node.word + "`";
      if (node.is_list()) {
        value.clear();
        for (const config::Node& item : node.items) {
          value += fmt::format("{}\"{}\"", value.empty() ? "" : ", ", item.word);
        }
        value = fmt::format("`[{}]`", value);
      }
    }
    EXPECT_THAT(guide, HasSubstr("| `" + field.key + "` | " + field.type + " | " + value + " |"));
  }
}

TEST(Configuration, TheGuideHasNoKeysThatThereAreNot) {
  const std::string guide = text_of("docs/guide/configuration.md");
  Configuration configuration;
  std::set<std::string> known = {"agent.targets.exclude[]", "agent.service_names[].match",
                                 "limits.tenants.*", "scrape_configs[].relabel_configs[]"};
  for (const std::string& key : config::keys_of(configuration_fields(configuration))) {
    known.insert(key);
  }
  size_t rows = 0;
  for (size_t at = guide.find("\n| `"); at != std::string::npos; at = guide.find("\n| `", at + 1)) {
    const std::string key = guide.substr(at + 4, guide.find('`', at + 4) - at - 4);
    if (key.find('.') == std::string::npos) continue;  // a table of types
    EXPECT_TRUE(known.contains(key)) << key;
    ++rows;
  }
  EXPECT_GT(rows, 100U);
}

TEST(Configuration, KeysOfBothRolesAreKeptApart) {
  Configuration configuration;
  std::set<std::string> variables;
  for (const config::Field& field : configuration_fields(configuration)) {
    EXPECT_TRUE(variables.insert(config::environment_name(field.key)).second) << field.key;
  }
}

TEST(Configuration, TheExamplePassesTheCheck) {
  const Command command = config_command();
  const auto arguments = parse_arguments(command, {"check", VESTA_SOURCE_DIR "/deploy/vesta.yaml"});
  ASSERT_TRUE(arguments.ok());
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> nowhere(std::tmpfile(), std::fclose);
  Console console(nowhere.get(), nowhere.get());
  const Result<int> code = command.run(*arguments, console);
  ASSERT_TRUE(code.ok()) << code.error().message;
  EXPECT_EQ(*code, kOk);
}

TEST(Configuration, TheExampleIsRight) {
  Configuration configuration;
  read_configuration_file(configuration, VESTA_SOURCE_DIR "/deploy/vesta.yaml");
  check_roles(configuration);
  EXPECT_TRUE(configuration.findings.status().ok())
      << configuration.findings.status().error().message;
  EXPECT_TRUE(configuration.findings.warnings.empty());
  EXPECT_EQ(configuration.agent.exporters.size(), 2U);
  EXPECT_EQ(configuration.server.scrape.jobs.size(), 1U);
}

TEST(Configuration, WhatIsShownLoadsAgain) {
  Configuration first;
  read_configuration_file(first, VESTA_SOURCE_DIR "/deploy/vesta.yaml");
  const config::Node tree = config::show_fields(configuration_fields(first));
  const std::string yaml = config::show_yaml(tree, first.findings.origins);
  const auto document = config::parse_yaml(yaml, "shown");
  ASSERT_TRUE(document.ok()) << document.error().message;
  Configuration second;
  config::read_document(*document, configuration_fields(second), second.findings);
  EXPECT_TRUE(second.findings.status().ok()) << second.findings.status().error().message;
  const config::Node again = config::show_fields(configuration_fields(second));
  EXPECT_EQ(config::show_yaml(again, {}), config::show_yaml(tree, {}));
}

TEST(Configuration, FlagsStandAboveTheRest) {
  Arguments arguments;
  arguments.set("config", VESTA_SOURCE_DIR "/deploy/vesta.yaml");
  arguments.set("rate", "7");
  constexpr auto kFlags = std::to_array<FlagKey>({{"rate", "agent.profiling.sample_rate"}});
  const Configuration configuration = configuration_of(arguments, kFlags);
  EXPECT_EQ(configuration.agent.profiling.sample_rate, 7U);
  EXPECT_EQ(configuration.findings.origin_of("agent.profiling.sample_rate").text(), "--rate");
  EXPECT_EQ(configuration.server.retention.rules.size(), 2U);
}

}  // namespace
}  // namespace vesta::cli
