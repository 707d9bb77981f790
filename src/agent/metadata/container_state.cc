#include "agent/metadata/container_state.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/json_reader.h"

namespace vesta::agent {
namespace {

constexpr size_t kMaxTextBytes = 512;

constexpr std::array<std::string_view, 3> kServiceLabels = {
    "com.docker.compose.service", "com.docker.swarm.service.name", "io.podman.compose.service"};
constexpr std::array<std::string_view, 4> kNameAnnotations = {
    "io.kubernetes.cri.container-name", "io.kubernetes.container.name",
    "io.kubernetes.cri-o.ContainerName", "nerdctl/name"};
constexpr std::array<std::string_view, 3> kImageAnnotations = {
    "io.kubernetes.cri.image-name", "io.kubernetes.cri-o.ImageName",
    "io.kubernetes.cri-o.UserRequestedImage"};

std::string first_of(const Json& object, std::span<const std::string_view> keys) {
  for (const std::string_view key : keys) {
    if (std::string text = object[key].short_text(kMaxTextBytes); !text.empty()) return text;
  }
  return "";
}

// docker.io/library/nginx:1.25@sha256:… in its parts; an id alone is no name.
void set_image(ContainerState& out, std::string_view image) {
  if (image.starts_with("sha256:")) return;
  image = image.substr(0, image.find('@'));
  const size_t colon = image.rfind(':');
  const size_t slash = image.rfind('/');
  const bool has_tag =
      colon != std::string_view::npos && (slash == std::string_view::npos || colon > slash);
  out.image = image.substr(0, has_tag ? colon : image.size());
  if (has_tag) out.image_tag = image.substr(colon + 1);
}

}  // namespace

ContainerState parse_docker_container(std::string_view json) {
  ContainerState out;
  const auto tree = JsonTree::parse(json);
  if (!tree) return out;
  const Json root = tree->root();
  out.name = root["Name"].short_text(kMaxTextBytes);
  if (out.name.starts_with('/')) out.name.erase(0, 1);
  set_image(out, root["Config"]["Image"].short_text(kMaxTextBytes));
  out.service = first_of(root["Config"]["Labels"], kServiceLabels);
  return out;
}

ContainerState parse_oci_config(std::string_view json) {
  ContainerState out;
  const auto tree = JsonTree::parse(json);
  if (!tree) return out;
  const Json annotations = tree->root()["annotations"];
  out.name = first_of(annotations, kNameAnnotations);
  set_image(out, first_of(annotations, kImageAnnotations));
  out.service = first_of(annotations, kServiceLabels);
  return out;
}

ContainerState parse_stored_containers(std::string_view json, std::string_view id) {
  ContainerState out;
  const auto tree = JsonTree::parse(json);
  if (!tree) return out;
  const auto containers = tree->root().list().value_or({});
  const auto container = std::ranges::find_if(
      containers, [&](const Json& item) { return item["id"].short_text(kMaxTextBytes) == id; });
  if (container == containers.end()) return out;
  const auto names = (*container)["names"].list().value_or({});
  if (!names.empty()) out.name = names.front().short_text(kMaxTextBytes);
  const auto inner = JsonTree::parse((*container)["metadata"].text().value_or(""));
  if (!inner) return out;
  set_image(out, inner->root()["image-name"].short_text(kMaxTextBytes));
  if (std::string name = inner->root()["name"].short_text(kMaxTextBytes); !name.empty())
    out.name = name;
  return out;
}

}  // namespace vesta::agent
