// The viewer's scripts, styles and page, compiled into the binary by vesta_embed(). Constants.
#pragma once

#include <string_view>

namespace vesta {

struct EmbeddedText {
  std::string_view text;
  std::string_view sha256_hex;
};

extern const EmbeddedText kFlameViewerPage;
extern const EmbeddedText kFlameViewerStyle;
extern const EmbeddedText kFlameViewerScript;
extern const EmbeddedText kFlameSvgStyle;
extern const EmbeddedText kFlameSvgScript;

}  // namespace vesta
