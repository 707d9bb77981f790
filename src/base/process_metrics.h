// What the process itself uses. Reads /proc; any thread.
#pragma once

#include "base/prometheus_text.h"

namespace vesta {

// process_* as Prometheus' own clients name them.
void write_process_metrics(PrometheusText& text);

}  // namespace vesta
