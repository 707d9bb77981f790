// The numbers of the DWARF standard that the reader uses, under its names: version 5, chapter 7,
// and GNU's extensions. Names without a comment are the standard's.
#pragma once

#include <cstdint>

namespace vesta::dw {

enum Tag : uint16_t {
  kClassType = 0x02,
  kEnumerationType = 0x04,
  kCompileUnit = 0x11,
  kStructureType = 0x13,
  kSubroutineType = 0x15,
  kUnionType = 0x17,
  kInlinedSubroutine = 0x1d,
  kModule = 0x1e,
  kSubprogram = 0x2e,
  kInterfaceType = 0x38,
  kNamespace = 0x39,
  kSkeletonUnit = 0x4a,
};

enum Attribute : uint16_t {
  kSibling = 0x01,
  kName = 0x03,
  kStmtList = 0x10,
  kLowPc = 0x11,
  kHighPc = 0x12,
  kCompDir = 0x1b,
  kAbstractOrigin = 0x31,
  kDeclLine = 0x3b,
  kSpecification = 0x47,
  kRanges = 0x55,
  kCallColumn = 0x57,
  kCallFile = 0x58,
  kCallLine = 0x59,
  kLinkageName = 0x6e,
  kStrOffsetsBase = 0x72,
  kAddrBase = 0x73,
  kRnglistsBase = 0x74,
  kDwoName = 0x76,
  kMipsLinkageName = 0x2007,
  kGnuDwoName = 0x2130,
  kGnuAddrBase = 0x2133,
};

enum Form : uint16_t {
  kAddr = 0x01,
  kBlock2 = 0x03,
  kBlock4 = 0x04,
  kData2 = 0x05,
  kData4 = 0x06,
  kData8 = 0x07,
  kString = 0x08,
  kBlock = 0x09,
  kBlock1 = 0x0a,
  kData1 = 0x0b,
  kFlag = 0x0c,
  kSdata = 0x0d,
  kStrp = 0x0e,
  kUdata = 0x0f,
  kRefAddr = 0x10,
  kRef1 = 0x11,
  kRef2 = 0x12,
  kRef4 = 0x13,
  kRef8 = 0x14,
  kRefUdata = 0x15,
  kIndirect = 0x16,
  kSecOffset = 0x17,
  kExprloc = 0x18,
  kFlagPresent = 0x19,
  kStrx = 0x1a,
  kAddrx = 0x1b,
  kRefSup4 = 0x1c,
  kStrpSup = 0x1d,
  kData16 = 0x1e,
  kLineStrp = 0x1f,
  kRefSig8 = 0x20,
  kImplicitConst = 0x21,
  kLoclistx = 0x22,
  kRnglistx = 0x23,
  kRefSup8 = 0x24,
  kStrx1 = 0x25,
  kStrx2 = 0x26,
  kStrx3 = 0x27,
  kStrx4 = 0x28,
  kAddrx1 = 0x29,
  kAddrx2 = 0x2a,
  kAddrx3 = 0x2b,
  kAddrx4 = 0x2c,
  kGnuAddrIndex = 0x1f01,
  kGnuStrIndex = 0x1f02,
  kGnuRefAlt = 0x1f20,
  kGnuStrpAlt = 0x1f21,
};

enum UnitType : uint8_t {
  kUtCompile = 0x01,
  kUtType = 0x02,
  kUtPartial = 0x03,
  kUtSkeleton = 0x04,
  kUtSplitCompile = 0x05,
  kUtSplitType = 0x06,
};

enum RangeListEntry : uint8_t {
  kRleEndOfList = 0,
  kRleBaseAddressx = 1,
  kRleStartxEndx = 2,
  kRleStartxLength = 3,
  kRleOffsetPair = 4,
  kRleBaseAddress = 5,
  kRleStartEnd = 6,
  kRleStartLength = 7,
};

enum LineOpcode : uint8_t {
  kLnsExtended = 0,
  kLnsCopy = 1,
  kLnsAdvancePc = 2,
  kLnsAdvanceLine = 3,
  kLnsSetFile = 4,
  kLnsSetColumn = 5,
  kLnsConstAddPc = 8,
  kLnsFixedAdvancePc = 9,
};

enum LineExtendedOpcode : uint8_t {
  kLneEndSequence = 1,
  kLneSetAddress = 2,
  kLneDefineFile = 3,
};

enum LineContent : uint16_t { kLnctPath = 1, kLnctDirectoryIndex = 2 };

}  // namespace vesta::dw
