#include "formats/flamegraph/flame_text.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "base/units.h"
#include "base/utf8.h"
#include "profile/frame_names.h"
#include "profile/merged_profile.h"

namespace vesta {
namespace {

struct CodePoint {
  uint32_t value = 0;
  size_t length = 1;
};

// REQUIRES: valid UTF-8
CodePoint decode_at(std::string_view text, size_t i) {
  const auto byte = [&](size_t k) { return static_cast<uint32_t>(static_cast<uint8_t>(text[k])); };
  const uint32_t lead = byte(i);
  if (lead < 0x80) return {lead, 1};
  if (lead < 0xE0) return {(lead & 0x1F) << 6 | (byte(i + 1) & 0x3F), 2};
  if (lead < 0xF0) {
    return {(lead & 0x0F) << 12 | (byte(i + 1) & 0x3F) << 6 | (byte(i + 2) & 0x3F), 3};
  }
  return {(lead & 0x07) << 18 | (byte(i + 1) & 0x3F) << 12 | (byte(i + 2) & 0x3F) << 6 |
              (byte(i + 3) & 0x3F),
          4};
}

bool must_be_spelt_out(uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) ||  // controls
         c == 0x061C || c == 0x200B || c == 0x200E || c == 0x200F || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF ||  // bidirectional, invisible
         (c & 0xFFFE) == 0xFFFE;                         // not characters
}

}  // namespace

std::string visible_text(std::string_view name) {
  const std::string valid = replace_invalid_utf8(name);
  std::string out;
  out.reserve(valid.size());
  for (size_t i = 0; i < valid.size();) {
    const CodePoint c = decode_at(valid, i);
    if (must_be_spelt_out(c.value)) {
      fmt::format_to(std::back_inserter(out), "\\u{{{:04X}}}", c.value);
    } else {
      out.append(valid, i, c.length);
    }
    i += c.length;
  }
  return out;
}

std::string markup_escape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out.push_back(c);
    }
  }
  return out;
}

std::string base64_encode(std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](size_t k) {
      return k < bytes.size() ? static_cast<uint32_t>(static_cast<uint8_t>(bytes[k])) : 0u;
    };
    const uint32_t group = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    out.push_back(kDigits[group >> 18]);
    out.push_back(kDigits[group >> 12 & 63]);
    out.push_back(i + 1 < bytes.size() ? kDigits[group >> 6 & 63] : '=');
    out.push_back(i + 2 < bytes.size() ? kDigits[group & 63] : '=');
  }
  return out;
}

std::string csp_hash(std::string_view sha256_hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (size_t i = 0; i + 1 < sha256_hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(digit(sha256_hex[i]) << 4 | digit(sha256_hex[i + 1])));
  }
  return "sha256-" + base64_encode(bytes);
}

std::string frame_label(const FrameNames& names, uint32_t name) {
  std::string label = visible_text(names.text(name));
  if (names[name].kind == FrameKind::kKernel && !label.ends_with("[k]")) label += " [k]";
  return label;
}

std::string flamegraph_title(const ReportHeader& header, const FlamegraphOptions& options) {
  if (!options.title.empty()) return visible_text(options.title);
  std::string title = visible_text(header.type);
  if (!title.empty()) title += ' ';
  return title + (header.has_baseline ? "difference" : "flame graph");
}

std::string value_text(int64_t value, std::string_view unit) {
  if (parse_unit(unit).kind != UnitKind::kCount) return format_value(value, unit);
  const std::string digits =
      format_count(value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value));
  return value < 0 ? "-" + digits : digits;
}

std::string flamegraph_subtitle(const ReportHeader& header, const FlameTree& tree) {
  std::string text = visible_text(header.type.empty() ? "samples" : header.type);
  const bool counts = parse_unit(header.unit).kind == UnitKind::kCount;
  if (!header.unit.empty() && !counts) text += " in " + visible_text(header.unit);
  const int64_t total = header.total;
  const int64_t shown = tree.weights.total[0];
  if (header.has_baseline) {
    const int64_t before = header.baseline_total;
    text += fmt::format(" · before {} · after {} · change {}", value_text(before, header.unit),
                        value_text(total, header.unit), change_percent(before, total));
  } else {
    text += " · total " + value_text(total, header.unit);
  }
  if (shown != total && total != 0) {
    text += fmt::format(" · shown {} ({})", value_text(shown, header.unit),
                        format_percent(static_cast<double>(shown), static_cast<double>(total)));
  }
  if (header.duration_ns > 0) {
    text += " · over " + format_value(header.duration_ns, "nanoseconds");
  }
  return text;
}

std::string losses_text(const ReportHeader& header) {
  std::string text;
  for (const LossCount& loss : header.losses) {
    if (!text.empty()) text += " · ";
    text += format_count(loss.count) + " × " + visible_text(loss.reason);
  }
  return text;
}

double share_base(int64_t profile_total, int64_t tree_total) {
  return std::fabs(static_cast<double>(profile_total != 0 ? profile_total : tree_total));
}

std::string change_percent(int64_t before, int64_t after) {
  if (before == after) return "±0%";
  if (before == 0) return "new";
  if (after == 0) return "gone";
  const double delta = static_cast<double>(after) - static_cast<double>(before);
  return (delta > 0 ? "+" : "-") +
         format_percent(std::fabs(delta), std::fabs(static_cast<double>(before)));
}

}  // namespace vesta
