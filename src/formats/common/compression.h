// gzip and zstd with a bound on what comes out, so that a small file cannot fill the memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/memory_account.h"
#include "base/result.h"

namespace vesta {

enum class Compression { kNone, kGzip, kZstd };

// By the magic bytes.
Compression detect_compression(std::string_view bytes);

// REQUIRES: the magic bytes are there. Several gzip members or zstd frames in a row are one stream,
// as their tools have it. kLimit when more than `max_bytes` would come out; kInvalidInput with the
// byte offset for damaged or cut-off input. What comes out is taken from the thread's MemoryAccount
// before there is memory for it, and stays there until the account's end; kTooMany when there is
// not that much left.
Result<std::string> gunzip(std::string_view bytes, uint64_t max_bytes);
Result<std::string> unzstd(std::string_view bytes, uint64_t max_bytes);
// The same, by the magic bytes, for who gives it back earlier: it is in `charge`.
Result<std::string> decompress(std::string_view bytes, uint64_t max_bytes, MemoryCharge& charge);

std::string gzip(std::string_view bytes, int level = 6);
std::string zstd(std::string_view bytes, int level = 3);

}  // namespace vesta
