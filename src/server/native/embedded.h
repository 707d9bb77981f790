// The description of the API, compiled into the binary by vesta_embed(). Constant.
#pragma once

#include "formats/flamegraph/embedded.h"

namespace vesta {

extern const EmbeddedText kOpenApiDocument;

}  // namespace vesta
