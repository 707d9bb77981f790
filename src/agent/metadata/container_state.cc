#include "agent/metadata/container_state.h"

#include <simdjson.h>

#include <array>
#include <span>

#include "base/utf8.h"

namespace vesta::agent {
namespace {

namespace dom = simdjson::dom;

constexpr size_t kMaxTextBytes = 512;

constexpr std::array<std::string_view, 3> kServiceLabels = {
    "com.docker.compose.service", "com.docker.swarm.service.name", "io.podman.compose.service"};
constexpr std::array<std::string_view, 4> kNameAnnotations = {
    "io.kubernetes.cri.container-name", "io.kubernetes.container.name",
    "io.kubernetes.cri-o.ContainerName", "nerdctl/name"};
constexpr std::array<std::string_view, 3> kImageAnnotations = {
    "io.kubernetes.cri.image-name", "io.kubernetes.cri-o.ImageName",
    "io.kubernetes.cri-o.UserRequestedImage"};

// Empty when it is no text, or too long to be one of these names.
std::string text_of(const simdjson::simdjson_result<dom::element>& value) {
  std::string_view text;
  if (value.get(text) != simdjson::SUCCESS || text.size() > kMaxTextBytes) return "";
  return std::string(text);
}

std::string first_of(const simdjson::simdjson_result<dom::element>& object,
                     std::span<const std::string_view> keys) {
  for (const std::string_view key : keys) {
    if (std::string text = text_of(object[key]); !text.empty()) return text;
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

// The parser owns what it gives out.
class Document {
 public:
  explicit Document(std::string_view json)
      : text_(replace_invalid_utf8(json)), root_(parser_.parse(text_)) {}
  const simdjson::simdjson_result<dom::element>& root() const { return root_; }

 private:
  simdjson::padded_string text_;
  dom::parser parser_;
  simdjson::simdjson_result<dom::element> root_;
};

}  // namespace

ContainerState parse_docker_container(std::string_view json) {
  const Document document(json);
  const auto& root = document.root();
  ContainerState out;
  out.name = text_of(root["Name"]);
  if (out.name.starts_with('/')) out.name.erase(0, 1);
  set_image(out, text_of(root["Config"]["Image"]));
  out.service = first_of(root["Config"]["Labels"], kServiceLabels);
  return out;
}

ContainerState parse_oci_config(std::string_view json) {
  const Document document(json);
  const auto annotations = document.root()["annotations"];
  ContainerState out;
  out.name = first_of(annotations, kNameAnnotations);
  set_image(out, first_of(annotations, kImageAnnotations));
  out.service = first_of(annotations, kServiceLabels);
  return out;
}

ContainerState parse_stored_containers(std::string_view json, std::string_view id) {
  const Document document(json);
  ContainerState out;
  dom::array containers;
  if (document.root().get(containers) != simdjson::SUCCESS) return out;
  for (const dom::element container : containers) {
    if (text_of(container["id"]) != id) continue;
    out.name = text_of(container["names"].at(0));
    std::string_view metadata;
    if (container["metadata"].get(metadata) != simdjson::SUCCESS) break;
    const Document inner(metadata);
    set_image(out, text_of(inner.root()["image-name"]));
    if (std::string name = text_of(inner.root()["name"]); !name.empty()) out.name = name;
    break;
  }
  return out;
}

}  // namespace vesta::agent
