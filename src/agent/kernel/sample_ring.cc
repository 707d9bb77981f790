#include "agent/kernel/sample_ring.h"

#include <bpf/libbpf.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace vesta::agent {

bool parse_sample(std::span<const char> bytes, std::span<const StackPiece> more_stack,
                  const std::function<void(const SampleRecord&)>& use) {
  if (bytes.size() < sizeof(vesta_sample)) return false;
  const auto* head = reinterpret_cast<const vesta_sample*>(bytes.data());
  bytes = bytes.subspan(sizeof(*head));
  const auto take = [&](size_t count) {
    const std::span<const uint64_t> words(reinterpret_cast<const uint64_t*>(bytes.data()), count);
    bytes = bytes.subspan(words.size_bytes());
    return words;
  };
  const size_t registers = head->stack_bytes != 0 ? VESTA_LEAF_REGISTERS : 0;
  const size_t words = size_t{head->kernel_frames} + head->user_frames + registers;
  if (bytes.size() < words * sizeof(uint64_t) + head->stack_bytes) return false;
  const auto kernel_frames = take(head->kernel_frames);
  const auto user_frames = take(head->user_frames);
  const auto leaf_registers = take(registers);
  use(SampleRecord{*head, kernel_frames, user_frames, leaf_registers,
                   bytes.first(head->stack_bytes), more_stack});
  return true;
}

void SampleRing::Free::operator()(ring_buffer* ring) const {
  ring_buffer__free(ring);
}

SampleRing::~SampleRing() = default;

Result<std::unique_ptr<SampleRing>> SampleRing::open(int map_fd) {
  std::unique_ptr<SampleRing> ring(new SampleRing());
  ring->ring_.reset(ring_buffer__new(map_fd, on_record, ring.get(), nullptr));
  if (ring->ring_ == nullptr) {
    return Error{ErrorCode::kIo,
                 fmt::format("cannot map the sample ring: {}", std::strerror(errno)), ""};
  }
  return ring;
}

int SampleRing::fd() const {
  return ring_buffer__epoll_fd(ring_.get());
}

int SampleRing::on_record(void* context, void* data, size_t size) {
  auto* self = static_cast<SampleRing*>(context);
  if (!self->take_record({static_cast<const char*>(data), size})) ++self->damaged_records_;
  return 0;
}

bool SampleRing::take_record(std::span<const char> bytes) {
  if (bytes.size() < sizeof(vesta_sample)) return false;
  const auto& head = *reinterpret_cast<const vesta_sample*>(bytes.data());
  std::vector<StackPiece>& pieces = pieces_[head.cpu];
  if (head.probe == VESTA_STACK_PIECE) {
    const std::span<const char> stack = bytes.subspan(sizeof(head));
    if (stack.size() < head.stack_bytes || pieces.size() >= VESTA_MORE_STACK_RECORDS) return false;
    pieces.push_back(
        {head.time_ns, head.resume.sp, {stack.begin(), stack.begin() + head.stack_bytes}});
    return true;
  }
  // Pieces whose own record found no room are of no use.
  std::erase_if(pieces, [&](const StackPiece& piece) { return piece.time_ns != head.time_ns; });
  const bool taken = parse_sample(bytes, pieces, *use_);
  pieces.clear();
  return taken;
}

Status SampleRing::drain(const std::function<void(const SampleRecord&)>& use) {
  use_ = &use;
  const int consumed = ring_buffer__consume(ring_.get());
  use_ = nullptr;
  if (consumed < 0) {
    return Error{ErrorCode::kIo,
                 fmt::format("cannot read the sample ring: {}", std::strerror(-consumed)), ""};
  }
  return {};
}

}  // namespace vesta::agent
