# Run by vesta_embed() at build time: INPUTS ("a|b|c"), SYMBOL, HEADER -> OUTPUT.
string(REPLACE "|" ";" inputs "${INPUTS}")
set(joined "${OUTPUT}.txt")
file(REMOVE "${joined}")
foreach(input ${inputs})
  file(READ "${input}" text)
  file(APPEND "${joined}" "${text}")
endforeach()
file(SHA256 "${joined}" digest)
# Bytes, not a string literal: compilers bound the length of literals.
file(READ "${joined}" hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
file(WRITE "${OUTPUT}" "#include \"${HEADER}\"

namespace vesta {
namespace {

constexpr unsigned char kBytes[] = {
${bytes}
};

}  // namespace

const EmbeddedText ${SYMBOL} = {
    {reinterpret_cast<const char*>(kBytes), sizeof(kBytes)},
    \"${digest}\"};

}  // namespace vesta
")
