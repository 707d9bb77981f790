// What is known of a process, as names and values in the words of OpenTelemetry. Plain data, sorted
// by name, each name once, values never empty. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vesta::agent {

using Attributes = std::vector<std::pair<std::string, std::string>>;

namespace attribute {
inline constexpr std::string_view kServiceName = "service.name";
inline constexpr std::string_view kServiceNamespace = "service.namespace";
inline constexpr std::string_view kServiceVersion = "service.version";
inline constexpr std::string_view kHostName = "host.name";
inline constexpr std::string_view kProcessPid = "process.pid";
inline constexpr std::string_view kProcessName = "process.name";  // of its first thread: comm
inline constexpr std::string_view kExecutableName = "process.executable.name";
inline constexpr std::string_view kExecutablePath = "process.executable.path";
inline constexpr std::string_view kRuntimeName = "process.runtime.name";
inline constexpr std::string_view kRuntimeVersion = "process.runtime.version";
inline constexpr std::string_view kEnvironmentPrefix = "process.environment_variable.";
inline constexpr std::string_view kSystemdUnit = "systemd.unit";
inline constexpr std::string_view kContainerId = "container.id";
inline constexpr std::string_view kContainerName = "container.name";
inline constexpr std::string_view kContainerImage = "container.image.name";
inline constexpr std::string_view kContainerImageTag = "container.image.tags";
inline constexpr std::string_view kContainerRuntime = "container.runtime";
inline constexpr std::string_view kEcsTask = "aws.ecs.task.id";
inline constexpr std::string_view kNodeName = "k8s.node.name";
inline constexpr std::string_view kNamespaceName = "k8s.namespace.name";
inline constexpr std::string_view kPodName = "k8s.pod.name";
inline constexpr std::string_view kPodUid = "k8s.pod.uid";
inline constexpr std::string_view kPodLabelPrefix = "k8s.pod.label.";
inline constexpr std::string_view kK8sContainerName = "k8s.container.name";
}  // namespace attribute

inline constexpr size_t kMaxAttributeNameBytes = 256;
inline constexpr size_t kMaxAttributeValueBytes = 1024;

// Empty when there is none of that name.
std::string_view find_attribute(const Attributes& attributes, std::string_view name);

// Adds or replaces. The value is made fit to be shown: valid UTF-8, no control characters, cut at
// kMaxAttributeValueBytes. An empty one, and a name that is not fit, are left out.
void set_attribute(Attributes& attributes, std::string_view name, std::string_view value);

// Sorts by name, and keeps the last of equal names: for what others have put together.
void normalize(Attributes& attributes);

// Memory held, for caches with a limit.
size_t memory_bytes(const Attributes& attributes);

// Does the whole text match, where * stands for any characters and ? for one? Linear in the
// product of the lengths at worst.
bool matches_glob(std::string_view pattern, std::string_view text);

}  // namespace vesta::agent
