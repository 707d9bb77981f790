// What a recording says about its process, as far as it may be told: command lines and properties
// may hold secrets, so nothing of them is kept but the names below. Owns its texts; not
// thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace vesta::jfr {

struct JvmInformation {
  std::string name;
  std::string version;
  std::string main_class;  // or jar, without its folder
  int64_t pid = 0;

  // A system property; all but those that name the service or the program are forgotten.
  void add_property(std::string_view key, std::string_view value);
  // The main class or jar, with its arguments.
  void add_command(std::string_view command);
  // The virtual machine's own arguments: -Dkey=value.
  void add_jvm_arguments(std::string_view arguments);

  // By the properties that frameworks take it from; empty when none is set.
  const std::string& service_name() const;

 private:
  // Best first: what OpenTelemetry was told, then frameworks, then habits.
  static constexpr std::array<std::string_view, 4> kServiceKeys = {
      "otel.service.name", "spring.application.name", "application.name", "app.name"};
  std::array<std::string, kServiceKeys.size()> service_names_;
};

// "17.0.9+9" of "OpenJDK 64-Bit Server VM (17.0.9+9) for linux-amd64 JRE (17.0.9+9), built on …".
std::string version_of(std::string_view jvm_version);

}  // namespace vesta::jfr
