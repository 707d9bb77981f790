#include "store/rocksdb/format/dictionary_chunk.h"

#include "base/leb128.h"

namespace vesta::rocks {
namespace {

constexpr uint8_t kChunkVersion = 1;

void put_hash(std::string& out, const Hash128& hash) {
  for (const uint64_t part : {hash.high, hash.low}) {
    for (unsigned shift = 0; shift < 64; shift += 8)
      out.push_back(static_cast<char>(part >> shift));
  }
}

Hash128 get_hash(VarintReader& reader) {
  uint64_t parts[2] = {};
  for (uint64_t& part : parts)
    for (unsigned shift = 0; shift < 64; shift += 8) part |= uint64_t{reader.byte()} << shift;
  return {parts[0], parts[1]};
}

struct ChunkHeader {
  DictionaryMark from;
  DictionaryMark count;
};

void put_mark(std::string& out, const DictionaryMark& mark) {
  for (const uint32_t number :
       {mark.strings, mark.frames, mark.nodes, mark.name_nodes, mark.stacks, mark.label_sets}) {
    put_varint(out, number);
  }
}
DictionaryMark get_mark(VarintReader& reader) {
  DictionaryMark mark;
  for (uint32_t* number : {&mark.strings, &mark.frames, &mark.nodes, &mark.name_nodes, &mark.stacks,
                           &mark.label_sets}) {
    *number = reader.varint32();
  }
  return mark;
}

bool read_header(VarintReader& reader, ChunkHeader& header) {
  if (reader.byte() != kChunkVersion) return false;
  header.from = get_mark(reader);
  header.count = get_mark(reader);
  // Every entry takes a byte at least.
  const DictionaryMark& n = header.count;
  return reader.ok() &&
         uint64_t{n.strings} + n.frames + n.nodes + n.stacks + n.label_sets <= reader.remaining();
}

void put_frame(std::string& out, const StoredFrame& frame) {
  put_varint(out, frame.name.value);
  put_varint(out, frame.system_name.value);
  put_varint(out, frame.file.value);
  put_varint(out, frame.binary.value);
  put_varint(out, frame.build_id.value);
  put_varint(out, static_cast<uint64_t>(frame.kind) << 1 | (frame.inlined ? 1 : 0));
  put_varint(out, frame.column);
  put_signed(out, frame.line);
  put_signed(out, frame.start_line);
  put_varint(out, frame.address);
  put_varint(out, frame.shown.value);
}

bool get_frame(VarintReader& reader, size_t string_count, StoredFrame& frame) {
  frame.name = TreeString(reader.varint32());
  frame.system_name = TreeString(reader.varint32());
  frame.file = TreeString(reader.varint32());
  frame.binary = TreeString(reader.varint32());
  frame.build_id = TreeString(reader.varint32());
  const uint32_t kind = reader.varint32();
  if (kind >> 1 > static_cast<uint32_t>(FrameKind::kLuajit)) return false;
  frame.kind = static_cast<FrameKind>(kind >> 1);
  frame.inlined = (kind & 1) != 0;
  frame.column = reader.varint32();
  frame.line = reader.signed_varint();
  frame.start_line = reader.signed_varint();
  frame.address = reader.varint();
  frame.shown = TreeString(reader.varint32());
  if (!reader.ok()) return false;
  for (const TreeString id :
       {frame.name, frame.system_name, frame.file, frame.binary, frame.build_id, frame.shown})
    if (id.index() >= string_count) return false;
  return true;
}

// A node has its parent as a distance, and says whether its name node is new, which is then the
// next one, or which it is.
bool get_node(VarintReader& reader, StackTree& tree) {
  const size_t next = tree.node_count();
  const uint32_t distance = reader.varint32();
  const TreeFrame frame(reader.varint32());
  const NameNode name(reader.varint32());
  if (!reader.ok() || distance == 0 || distance > next || !frame ||
      frame.index() >= tree.frame_count() || name.index() >= tree.name_node_count()) {
    return false;
  }
  const TreeNode parent(next - distance);
  NameNode name_node = name;
  if (!name) name_node = tree.add_name_node(parent ? tree.name_node(parent) : NameNode(), frame);
  tree.add_node(parent, frame, name_node);
  return true;
}

bool get_label_set(VarintReader& reader, size_t string_count, std::vector<StoredLabel>& set) {
  const uint64_t count = reader.varint();
  if (count > reader.remaining()) return false;
  for (uint64_t i = 0; i < count; ++i) {
    StoredLabel label;
    label.key = TreeString(reader.varint32());
    const uint8_t kind = reader.byte();
    label.kind = kind == 0 ? LabelKind::kString : LabelKind::kNumber;
    label.text = TreeString(reader.varint32());
    label.unit = TreeString(reader.varint32());
    label.number = reader.signed_varint();
    if (!reader.ok() || kind > 1 || label.key.index() >= string_count ||
        label.text.index() >= string_count || label.unit.index() >= string_count) {
      return false;
    }
    set.push_back(label);
  }
  return true;
}

}  // namespace

DictionaryMark mark_of(const StackTree& tree, const LabelSets& label_sets) {
  return {static_cast<uint32_t>(tree.string_count()), static_cast<uint32_t>(tree.frame_count()),
          static_cast<uint32_t>(tree.node_count()),   static_cast<uint32_t>(tree.name_node_count()),
          static_cast<uint32_t>(tree.stack_count()),  static_cast<uint32_t>(label_sets.size())};
}

std::string encode_chunk(const StackTree& tree, const LabelSets& label_sets,
                         const StackNumbers& stacks, const StackNumbers& sets,
                         const DictionaryMark& from) {
  const DictionaryMark to = mark_of(tree, label_sets);
  std::string out;
  out.push_back(static_cast<char>(kChunkVersion));
  put_mark(out, from);
  put_mark(out, {to.strings - from.strings, to.frames - from.frames, to.nodes - from.nodes,
                 to.name_nodes - from.name_nodes, to.stacks - from.stacks,
                 to.label_sets - from.label_sets});
  for (uint32_t i = from.stacks; i < to.stacks; ++i) put_hash(out, stacks.hash(StackNumber(i)));
  for (uint32_t i = from.label_sets; i < to.label_sets; ++i)
    put_hash(out, sets.hash(StackNumber(i - 1)));
  for (uint32_t i = from.strings; i < to.strings; ++i) put_text(out, tree.string(TreeString(i)));
  for (uint32_t i = from.frames; i < to.frames; ++i)
    put_frame(out, tree.stored_frame(TreeFrame(i)));
  // Name nodes are numbered in the order of the nodes that made them.
  NameNode next_name(from.name_nodes);
  for (const TreeNode i : Ids<TreeNode>(from.nodes, to.nodes)) {
    put_varint(out, i.value - tree.parent(i).value);
    put_varint(out, tree.frame(i).value);
    const bool is_new = tree.name_node(i) == next_name;
    put_varint(out, is_new ? 0 : tree.name_node(i).value);
    if (is_new) next_name = NameNode(next_name.index() + 1);
  }
  for (uint32_t i = from.stacks; i < to.stacks; ++i)
    put_varint(out, tree.leaf(StackNumber(i)).value);
  for (uint32_t i = from.label_sets; i < to.label_sets; ++i) {
    put_varint(out, label_sets[i].size());
    for (const StoredLabel& label : label_sets[i]) {
      put_varint(out, label.key.value);
      out.push_back(label.kind == LabelKind::kString ? 0 : 1);
      put_varint(out, label.text.value);
      put_varint(out, label.unit.value);
      put_signed(out, label.number);
    }
  }
  return out;
}

bool decode_chunk(std::string_view bytes, StackTree& tree, LabelSets& label_sets) {
  VarintReader reader(bytes);
  ChunkHeader header;
  if (!read_header(reader, header) || header.from != mark_of(tree, label_sets)) return false;
  const DictionaryMark& n = header.count;
  reader.bytes((uint64_t{n.stacks} + n.label_sets) * sizeof(Hash128));
  for (uint32_t i = 0; i < n.strings; ++i) {
    const std::string_view text = reader.text();
    if (!reader.ok()) return false;
    tree.add_string(text);
  }
  for (uint32_t i = 0; i < n.frames; ++i) {
    StoredFrame frame;
    if (!get_frame(reader, tree.string_count(), frame)) return false;
    tree.add_frame(frame);
  }
  for (uint32_t i = 0; i < n.nodes; ++i)
    if (!get_node(reader, tree)) return false;
  if (tree.name_node_count() != uint64_t{header.from.name_nodes} + n.name_nodes) return false;
  for (uint32_t i = 0; i < n.stacks; ++i) {
    const TreeNode leaf(reader.varint32());
    if (!reader.ok() || leaf.index() >= tree.node_count()) return false;
    tree.add_stack(leaf);
  }
  for (uint32_t i = 0; i < n.label_sets; ++i) {
    std::vector<StoredLabel> set;
    if (!get_label_set(reader, tree.string_count(), set)) return false;
    label_sets.push_back(std::move(set));
  }
  return reader.ok() && reader.at_end();
}

bool decode_chunk_hashes(std::string_view bytes, DictionaryMark& mark, StackNumbers& stacks,
                         StackNumbers& sets) {
  VarintReader reader(bytes);
  ChunkHeader header;
  if (!read_header(reader, header) || header.from != mark) return false;
  const DictionaryMark& n = header.count;
  if ((uint64_t{n.stacks} + n.label_sets) * sizeof(Hash128) > reader.remaining()) return false;
  for (uint32_t i = 0; i < n.stacks; ++i)
    if (stacks.find_or_add(get_hash(reader)).value != mark.stacks + i) return false;
  for (uint32_t i = 0; i < n.label_sets; ++i)
    if (sets.find_or_add(get_hash(reader)).value + 1 != mark.label_sets + i) return false;
  mark = {mark.strings + n.strings,       mark.frames + n.frames, mark.nodes + n.nodes,
          mark.name_nodes + n.name_nodes, mark.stacks + n.stacks, mark.label_sets + n.label_sets};
  return true;
}

}  // namespace vesta::rocks
