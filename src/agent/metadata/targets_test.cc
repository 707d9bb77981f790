#include "agent/metadata/targets.h"

#include <gtest/gtest.h>

namespace vesta::agent {
namespace {

const Attributes kShop = [] {
  Attributes out;
  set_attribute(out, "process.pid", "42");
  set_attribute(out, "process.name", "shop-worker");
  set_attribute(out, "process.executable.path", "/opt/shop/bin/shop");
  set_attribute(out, "service.name", "shop");
  set_attribute(out, "container.id", std::string(60, 'a') + "bcde");
  set_attribute(out, "k8s.container.name", "web");
  set_attribute(out, "k8s.namespace.name", "prod");
  set_attribute(out, "k8s.pod.name", "shop-7d4b9c-x2x");
  set_attribute(out, "k8s.pod.label.tier", "front");
  return out;
}();

TEST(Targets, ARuleHoldsWhenAllItSaysDoes) {
  TargetRule rule;
  EXPECT_TRUE(matches_rule(rule, kShop));
  rule.pid = 42;
  rule.executable = "sh?p";
  rule.comm = "shop-*";
  rule.service = "shop";
  rule.k8s_namespace = "pr*";
  rule.pod = "shop-*";
  rule.pod_labels = {{"tier", "front"}};
  EXPECT_TRUE(matches_rule(rule, kShop));
  rule.pid = 43;
  EXPECT_FALSE(matches_rule(rule, kShop));
}

TEST(Targets, ExecutablesAreComparedByPathOrName) {
  TargetRule rule;
  for (const char* pattern : {"shop", "/opt/*/shop", "/opt/shop/bin/shop"}) {
    rule.executable = pattern;
    EXPECT_TRUE(matches_rule(rule, kShop)) << pattern;
  }
  for (const char* pattern : {"bin", "/opt/shop", "shop2"}) {
    rule.executable = pattern;
    EXPECT_FALSE(matches_rule(rule, kShop)) << pattern;
  }
}

TEST(Targets, ContainersAreComparedByNameIdOrItsBeginning) {
  TargetRule rule;
  for (const char* pattern : {"web", "w*", "aaaaaaaaaaaa", "aaaa*bcde"}) {
    rule.container = pattern;
    EXPECT_TRUE(matches_rule(rule, kShop)) << pattern;
  }
  for (const char* pattern : {"aaa", "bbbbbbbbbbbb"}) {
    rule.container = pattern;
    EXPECT_FALSE(matches_rule(rule, kShop)) << pattern;
  }
}

TEST(Targets, WhatAProcessDoesNotHaveMatchesNoPattern) {
  TargetRule rule;
  rule.k8s_namespace = "*";
  EXPECT_FALSE(matches_rule(rule, Attributes{{"process.pid", "1"}}));
  TargetRule labels;
  labels.pod_labels = {{"tier", "*"}, {"team", "*"}};
  EXPECT_FALSE(matches_rule(labels, kShop));
}

TEST(Targets, ExcludeWinsOverInclude) {
  TargetRule prod;
  prod.k8s_namespace = "prod";
  TargetRule shop;
  shop.service = "shop";
  TargetRule other;
  other.service = "other";
  EXPECT_TRUE(is_target({}, kShop));
  EXPECT_TRUE(is_target({{prod, other}, {}}, kShop));
  EXPECT_FALSE(is_target({{other}, {}}, kShop));
  EXPECT_FALSE(is_target({{prod}, {shop}}, kShop));
  EXPECT_TRUE(is_target({{}, {other}}, kShop));
}

TEST(Targets, TheFirstMatchingRuleNamesAService) {
  TargetRule prod;
  prod.k8s_namespace = "prod";
  TargetRule other;
  other.service = "other";
  EXPECT_EQ(configured_service_name({{other, "a"}, {prod, "b"}, {{}, "c"}}, kShop), "b");
  EXPECT_EQ(configured_service_name({{other, "a"}}, kShop), std::nullopt);
  EXPECT_EQ(configured_service_name({{{}, ""}}, kShop), std::nullopt);
}

}  // namespace
}  // namespace vesta::agent
