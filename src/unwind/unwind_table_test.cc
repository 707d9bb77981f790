#include "unwind/unwind_table.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "unwind/row_writer.h"

namespace vesta {
namespace {

vesta_unwind_rule sp_rule(int32_t offset) {
  vesta_unwind_rule rule{};
  rule.cfa_kind = VESTA_CFA_SP;
  rule.cfa_offset = offset;
  return rule;
}

UnwindTable small_table() {
  RowWriter rows(0x401000, 0x404000, 10);
  rows.add(0x401010, sp_rule(8));
  rows.add(0x401020, sp_rule(16));
  rows.add(0x401030, sp_rule(8));
  rows.add(0x403ff0, sp_rule(24));
  return std::move(rows).finish();
}

TEST(UnwindTableTest, HasTheDocumentedLayout) {
  const UnwindTable table = small_table();
  EXPECT_TRUE(validate(table).ok());
  EXPECT_EQ(table.header.text_start, 0x401000U);
  EXPECT_EQ(table.header.page_count, 3U);
  EXPECT_EQ(table.header.page_cells, 2U);
  EXPECT_EQ(table.header.row_count, 4U);
  EXPECT_EQ(table.header.rule_cell, 4U);
  EXPECT_EQ(table.header.rule_count, 4U);  // the empty one and three others
  ASSERT_EQ(table.cells.size(), 8U);
  EXPECT_EQ(table.cells[0], 0x0000000300000000U);  // page 0 begins with row 0, page 1 with row 3
  EXPECT_EQ(table.cells[1], 0x0000000400000003U);  // page 2 as well; the end
  EXPECT_EQ(table.cells[2], 0x0000202000001010U);
  EXPECT_EQ(table.cells[3], 0x00003ff000001030U);
  EXPECT_EQ(table.cells[4], 0U);
}

TEST(UnwindTableTest, FindsTheRowInForce) {
  const UnwindTable table = small_table();
  EXPECT_EQ(rule_at(table, 0x40100f).cfa_kind, VESTA_CFA_NONE);
  EXPECT_EQ(rule_at(table, 0x401010).cfa_offset, 8);
  EXPECT_EQ(rule_at(table, 0x40102f).cfa_offset, 16);
  EXPECT_EQ(rule_at(table, 0x402abc).cfa_offset, 8);
  EXPECT_EQ(rule_at(table, 0x403fff).cfa_offset, 24);
  EXPECT_EQ(rule_at(table, 0x404000).cfa_kind, VESTA_CFA_NONE);
}

TEST(UnwindTableTest, MergesEqualNeighboursAndSharesRules) {
  RowWriter rows(0, 0x1000, 10);
  rows.add(0x10, sp_rule(8));
  rows.add(0x20, sp_rule(8));
  rows.add(0x30, sp_rule(16));
  rows.add(0x40, sp_rule(8));
  const UnwindTable table = std::move(rows).finish();
  EXPECT_EQ(table.header.row_count, 3U);
  EXPECT_EQ(table.header.rule_count, 3U);
}

TEST(UnwindTableTest, DropsRowsThatWouldBeOutOfOrderOrOutside) {
  RowWriter rows(0x1000, 0x2000, 10);
  rows.add(0x1100, sp_rule(8));
  rows.add(0x1100, sp_rule(16));
  rows.add(0x1000, sp_rule(24));
  rows.add(0x10, sp_rule(32));
  rows.add(0x2000, sp_rule(40));
  const UnwindTable table = std::move(rows).finish();
  EXPECT_EQ(table.header.row_count, 1U);
  EXPECT_TRUE(validate(table).ok());
}

TEST(UnwindTableTest, RunsOutOfRulesWithoutHarm) {
  RowWriter rows(0, 0x2000000, 0);
  uint64_t address = 0;
  for (int32_t i = 0; i < VESTA_MAX_RULES + 100; ++i) rows.add(address += 8, sp_rule(i));
  const UnwindTable table = std::move(rows).finish();
  EXPECT_TRUE(validate(table).ok());
  EXPECT_EQ(table.header.rule_count, static_cast<uint32_t>(VESTA_MAX_RULES));
  EXPECT_EQ(rule_at(table, 8 * 1000).cfa_offset, 999);
  EXPECT_EQ(rule_at(table, address).cfa_kind, VESTA_CFA_UNSUPPORTED);
  EXPECT_GE(table.unsupported_rows, 1U);
}

TEST(UnwindTableTest, EveryKindOfDamageIsNoticed) {
  const auto damaged = [](auto change) {
    UnwindTable table = small_table();
    change(table);
    return !validate(table).ok();
  };
  EXPECT_TRUE(damaged([](UnwindTable& t) { t.header.page_count = 0; }));
  EXPECT_TRUE(damaged([](UnwindTable& t) { t.header.page_count = 4; }));
  EXPECT_TRUE(damaged([](UnwindTable& t) { t.header.page_count = kMaxUnwindPages + 1; }));
  EXPECT_TRUE(damaged([](UnwindTable& t) { t.header.page_cells = 1; }));
  EXPECT_TRUE(damaged([](UnwindTable& t) { t.header.row_count = 6; }));
  EXPECT_TRUE(damaged([](UnwindTable& t) { t.header.row_count = ~0U; }));
  EXPECT_TRUE(damaged([](UnwindTable& t) { t.header.rule_count = 5; }));
  EXPECT_TRUE(damaged([](UnwindTable& t) { t.header.rule_count = 0; }));
  EXPECT_TRUE(damaged([](UnwindTable& t) { t.header.rule_cell = 5; }));
  EXPECT_TRUE(damaged([](UnwindTable& t) { t.header.text_start = 0x401001; }));
  EXPECT_TRUE(damaged([](UnwindTable& t) { t.header.text_start = ~uint64_t{0xfff}; }));
  EXPECT_TRUE(damaged([](UnwindTable& t) { t.header.state = 7; }));
  EXPECT_TRUE(damaged([](UnwindTable& t) { t.header.state = VESTA_MODULE_NO_TABLE; }));
  EXPECT_TRUE(damaged([](UnwindTable& t) { t.cells.pop_back(); }));
  EXPECT_TRUE(damaged([](UnwindTable& t) { t.cells[0] = 0x0000000500000000; }));  // index
  EXPECT_TRUE(damaged([](UnwindTable& t) { t.cells[0] = 0x0000000300000001; }));
  EXPECT_TRUE(damaged([](UnwindTable& t) { t.cells[1] = 0x0000000400000002; }));  // backwards
  EXPECT_TRUE(damaged([](UnwindTable& t) { t.cells[2] = 0x0000200000001010; }));  // row order
  EXPECT_TRUE(damaged([](UnwindTable& t) { t.cells[2] = 0x0000402000001010; }));  // rule 4
  EXPECT_TRUE(damaged([](UnwindTable& t) { t.cells[4] = 1; }));                   // rule 0
  EXPECT_TRUE(damaged([](UnwindTable& t) { t.cells[5] = 0x0f; }));                // kind
  EXPECT_TRUE(damaged([](UnwindTable& t) { t.cells[5] = 0xc1; }));    // early, but with a caller
  EXPECT_TRUE(damaged([](UnwindTable& t) { t.cells[5] = 0x1008; }));  // register 16
}

}  // namespace
}  // namespace vesta
