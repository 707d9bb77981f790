// Pieces that several reports share: headers, units of a column, losses, the line that says what
// was cut. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_writer.h"
#include "profile/frame_names.h"
#include "reports/print/report.h"

namespace vesta {

// One unit for all values of a report, so that figures compare at a glance.
class ValueFormat {
 public:
  // `smallest` and `largest` are magnitudes; the unit that the options ask for wins.
  ValueFormat(std::string_view unit, const ReportOptions& options, int64_t smallest,
              int64_t largest);
  std::string operator()(int64_t value) const;

 private:
  std::string unit_;
  std::string target_;
};

// "Type: cpu", "Time: …", "Duration: …": as much as the profile knows.
std::string header_text(const ReportHeader& header);

// "Samples: 1,234", where that is known, and a line for each warning.
std::string basis_text(const ReportHeader& header, const TextStyle& style);
// "samples": 1234 or null, "warnings": [{"code": …, "text": …}]
void write_json_basis(JsonWriter& json, const ReportHeader& header);
void write_warnings(JsonWriter& json, const std::vector<ReportWarning>& warnings);
// The number, or null for 0: not known.
void write_samples(JsonWriter& json, std::string_view name, uint64_t samples);

// "lost: 12 ring full, 3 stack truncated", or nothing.
std::string losses_text(const std::vector<LossCount>& losses, const TextStyle& style);

// "coverage": {"named": 0.98, "losses": [{"reason": …, "count": …}]}
void write_coverage(JsonWriter& json, double named, const std::vector<LossCount>& losses);

// The members every JSON report starts with: type, unit, total, duration_ns, time_ns.
void write_json_header(JsonWriter& json, std::string_view type, std::string_view unit,
                       int64_t total, int64_t duration_ns, int64_t time_ns);
void write_json_header(JsonWriter& json, const ReportHeader& header);

// "… 37 more, 4.2 %", with how to see them; empty when nothing was cut.
std::string cut_text(size_t rows, int64_t weight, int64_t total, const TextStyle& style);

// The rows that fit the options, and what had to be left out.
template <class Row>
struct ShownRows {
  std::vector<Row> rows;
  size_t cut_rows = 0;
  int64_t cut_weight = 0;

  bool has_room(const ReportOptions& options) const {
    return options.max_rows == 0 || rows.size() < options.max_rows;
  }
  void cut(int64_t weight) {
    ++cut_rows;
    cut_weight = saturating_add(cut_weight, weight);
  }
};

// Finds the smallest weight other than zero among those it sees; 0 when there is none.
struct SmallestWeight {
  int64_t value = 0;
  void see(int64_t weight);
};

// That of the rows.
int64_t smallest_weight(const std::vector<FunctionRow>& rows);

// "cut": {"rows": …, weight_name: …}
void write_cut(JsonWriter& json, size_t rows, std::string_view weight_name, int64_t weight);

// Closes the list of rows and the document: "cut" with the weight under `weight_name`, and
// "coverage".
std::string finish_json(JsonWriter& json, const ReportHeader& header, size_t cut_rows,
                        std::string_view weight_name, int64_t cut_weight);

// The members that identify a frame: name, file, line, binary, address, kind.
void write_frame(JsonWriter& json, const FrameNames& names, uint32_t name);

std::string csv_field(std::string_view text);

}  // namespace vesta
