// What the process itself uses. Reads /proc; any thread.
#pragma once

#include <cstdint>

#include "base/prometheus_text.h"

namespace vesta {

uint64_t resident_bytes();

// process_* as Prometheus' own clients name them.
void write_process_metrics(PrometheusText& text);

}  // namespace vesta
