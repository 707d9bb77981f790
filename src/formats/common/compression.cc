#include "formats/common/compression.h"

#include <libdeflate.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "formats/common/parse_error.h"

namespace vesta {
namespace {

constexpr std::string_view kCutOffHint = "the file is incomplete: fetch or record it again";

using Decompressor =
    std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)>;

// What the last four bytes of a gzip file say of its size. They may lie, so it is only a first
// guess.
size_t claimed_size(std::string_view bytes) {
  uint32_t size = 0;
  if (bytes.size() >= 18) std::memcpy(&size, bytes.data() + bytes.size() - 4, 4);
  return size;
}

Error bomb_error(std::string_view format, uint64_t max_bytes) {
  Error error = limit_error(format, "decompressed size", max_bytes);
  error.hint = "raise the limit with --max-size if you trust the file";
  return error;
}

Result<std::string> gunzip_into(std::string_view bytes, uint64_t max_bytes, MemoryCharge& charge) {
  const Decompressor decompressor(libdeflate_alloc_decompressor(), &libdeflate_free_decompressor);
  if (decompressor == nullptr) throw std::bad_alloc();
  std::string out;
  size_t used_out = 0;
  size_t used_in = 0;
  // Deflate cannot expand more than 1032 times, so neither a false size field nor a guess needs
  // more room than that.
  constexpr size_t kMaxRatio = 1032;
  while (used_in < bytes.size()) {
    const std::string_view rest = bytes.substr(used_in);
    // Other tools ignore zero padding after the last member, and so do we.
    if (used_in > 0 && rest.find_first_not_of('\0') == std::string_view::npos) break;
    const size_t most = std::min<uint64_t>(max_bytes - used_out, rest.size() * kMaxRatio + 64);
    size_t room = std::min(most, std::max<size_t>(claimed_size(rest), 4096));
    while (true) {
      VESTA_TRY(charge.resize(used_out + room));
      out.resize(used_out + room);
      size_t consumed = 0;
      size_t produced = 0;
      const libdeflate_result result =
          libdeflate_gzip_decompress_ex(decompressor.get(), rest.data(), rest.size(),
                                        out.data() + used_out, room, &consumed, &produced);
      if (result == LIBDEFLATE_SUCCESS) {
        used_out += produced;
        used_in += consumed;
        break;
      }
      if (result == LIBDEFLATE_INSUFFICIENT_SPACE && room < most) {
        room = std::min(most, room * 4);
        continue;
      }
      if (result == LIBDEFLATE_INSUFFICIENT_SPACE) return bomb_error("gzip", max_bytes);
      return parse_error("gzip", used_in, "the compressed data is damaged or cut off", kCutOffHint);
    }
  }
  out.resize(used_out);
  VESTA_TRY(charge.resize(out.capacity()));
  return out;
}

Result<std::string> unzstd_into(std::string_view bytes, uint64_t max_bytes, MemoryCharge& charge) {
  const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(),
                                                                     &ZSTD_freeDCtx);
  if (context == nullptr) throw std::bad_alloc();
  // A frame may ask for a window of gigabytes; 128 MiB is what the zstd tool itself accepts by
  // default.
  ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, 27);
  std::string out;
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  size_t pending = 1;
  while (in.pos < in.size) {
    const size_t used = out.size();
    const size_t room = std::min<uint64_t>(std::max<size_t>(used, 64 * 1024), max_bytes + 1 - used);
    // The decoder has a window of its own, which is as large as what came out, if it is large.
    VESTA_TRY(charge.resize(2 * (used + room)));
    out.resize(used + room);
    ZSTD_outBuffer to{out.data() + used, room, 0};
    pending = ZSTD_decompressStream(context.get(), &to, &in);
    out.resize(used + to.pos);
    if (ZSTD_isError(pending)) {
      return parse_error(
          "zstd", in.pos,
          std::string("the compressed data is damaged: ") + ZSTD_getErrorName(pending),
          kCutOffHint);
    }
    if (out.size() > max_bytes) return bomb_error("zstd", max_bytes);
  }
  // The input is used up, but the decoder may still hold output.
  while (pending != 0) {
    const size_t used = out.size();
    VESTA_TRY(charge.resize(2 * (used + 128 * 1024)));
    out.resize(used + 128 * 1024);
    ZSTD_outBuffer to{out.data() + used, 128 * 1024, 0};
    pending = ZSTD_decompressStream(context.get(), &to, &in);
    out.resize(used + to.pos);
    if (out.size() > max_bytes) return bomb_error("zstd", max_bytes);
    if (ZSTD_isError(pending) || (pending != 0 && to.pos == 0)) {
      return parse_error("zstd", bytes.size(), "the compressed data is cut off", kCutOffHint);
    }
  }
  VESTA_TRY(charge.resize(out.capacity()));
  return out;
}

}  // namespace

Compression detect_compression(std::string_view bytes) {
  if (bytes.starts_with("\x1f\x8b")) return Compression::kGzip;
  if (bytes.starts_with("\x28\xb5\x2f\xfd")) return Compression::kZstd;
  return Compression::kNone;
}

Result<std::string> gunzip(std::string_view bytes, uint64_t max_bytes) {
  MemoryCharge charge;
  auto out = gunzip_into(bytes, max_bytes, charge);
  if (out) charge.leave();
  return out;
}

Result<std::string> unzstd(std::string_view bytes, uint64_t max_bytes) {
  MemoryCharge charge;
  auto out = unzstd_into(bytes, max_bytes, charge);
  if (out) charge.leave();
  return out;
}

Result<std::string> decompress(std::string_view bytes, uint64_t max_bytes, MemoryCharge& charge) {
  return detect_compression(bytes) == Compression::kZstd ? unzstd_into(bytes, max_bytes, charge)
                                                         : gunzip_into(bytes, max_bytes, charge);
}

std::string gzip(std::string_view bytes, int level) {
  const std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> compressor(
      libdeflate_alloc_compressor(level), &libdeflate_free_compressor);
  if (compressor == nullptr) throw std::bad_alloc();
  std::string out(libdeflate_gzip_compress_bound(compressor.get(), bytes.size()), '\0');
  out.resize(libdeflate_gzip_compress(compressor.get(), bytes.data(), bytes.size(), out.data(),
                                      out.size()));
  return out;
}

std::string zstd(std::string_view bytes, int level) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  const size_t size = ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), level);
  if (ZSTD_isError(size)) throw std::bad_alloc();
  out.resize(size);
  return out;
}

}  // namespace vesta
