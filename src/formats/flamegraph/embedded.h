// Scripts, styles and the frame of the page, compiled into the binary by vesta_embed(): those of
// the page are built from ui/. Constants.
#pragma once

#include <string_view>

namespace vesta {

struct EmbeddedText {
  std::string_view text;
  std::string_view sha256_hex;
};

extern const EmbeddedText kFlamePage;
extern const EmbeddedText kFlamePageStyle;
extern const EmbeddedText kFlamePageScript;
extern const EmbeddedText kFlameSvgStyle;
extern const EmbeddedText kFlameSvgScript;

}  // namespace vesta
