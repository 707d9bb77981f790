#include "demangle/demangle.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "demangle/short_name.h"

namespace vesta {
namespace {

struct Name {
  std::string linkage;
  std::string short_name;
  std::string full;
};

std::vector<Name> real_names() {
  return {
      {"_Z2fpi", "fp", "fp(int)"},
      {"_ZN3BoxIiElsEi", "Box<…>::operator<<", "Box<int>::operator<<(int)"},
      {"_ZNK3BoxIiEltERKS0_", "Box<…>::operator<", "Box<int>::operator<(Box<int> const&) const"},
      {"_ZNK3BoxIiEgtERKS0_", "Box<…>::operator>", "Box<int>::operator>(Box<int> const&) const"},
      {"_ZN3BoxIiEptEv", "Box<…>::operator->", "Box<int>::operator->()"},
      {"_ZN3BoxIiEixEi", "Box<…>::operator[]", "Box<int>::operator[](int)"},
      {"_ZN3BoxIiEcmEi", "Box<…>::operator,", "Box<int>::operator,(int)"},
      {"_ZN3BoxIiEdlEPv", "Box<…>::operator delete", "Box<int>::operator delete(void*)"},
      {"_ZN3BoxIiEnaEm", "Box<…>::operator new[]", "Box<int>::operator new[](unsigned long)"},
      {"_ZStltIcSt11char_traitsIcESaIcEEbRKNSt7__cxx1112basic_stringIT_T0_T1_EESA_",
       "std::operator< <…>",
       "bool std::operator< <char, std::char_traits<char>, std::allocator<char> "
       ">(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > const&, "
       "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > const&)"},
      {"_ZNK3BoxIiEclIdEEiT_", "Box<…>::operator()<…>",
       "int Box<int>::operator()<double>(double) const"},
      {"_ZNK3BoxIiEcvPSt6vectorIiSaIiEEEv", "Box<…>::operator std::vector<…>*",
       "Box<int>::operator std::vector<int, std::allocator<int> >*() const"},
      {"_ZNK3BoxIiEcvT_ISt6vectorIiSaIiEEEEv", "Box<…>::operator std::vector<…>",
       "Box<int>::operator std::vector<int, std::allocator<int> ><std::vector<int, "
       "std::allocator<int> > >() const"},
      {"_Zli3_kme", "operator\"\" _km", "operator\"\" _km(long double)"},
      {"_Z3memIXadL_ZNK3BoxIiEltERKS1_EEEiv", "mem<…>",
       "int mem<&(Box<int>::operator<(Box<int> const&) const)>()"},
      {"_Z4callIXadL_Z2fpiEEEiv", "call<…>", "int call<&(fp(int))>()"},
      {"_Z3retIiEPFiiET_", "ret<…>", "int (*ret<int>(int))(int)"},
      {"_Z3arrILi5ELb1EEDTixfp_Li0EERAT__i", "arr<…>",
       "decltype ({parm#1}[0]) arr<5, true>(int (&) [5])"},
      {"_Z6taggedB5cxx11v", "tagged", "tagged[abi:cxx11]()"},
      {"_ZN12_GLOBAL__N_16Hidden3runIZ4mainEUlvE_EEiT_", "(anonymous namespace)::Hidden::run<…>",
       "int (anonymous namespace)::Hidden::run<main::{lambda()#1}>(main::{lambda()#1})"},
      {"_ZNKSt8functionIFiiEEclEi", "std::function<…>::operator()",
       "std::function<int (int)>::operator()(int) const"},
      {"_ZZZ4tmplIiEDaT_ENKUlS0_E_clIdEEDaS0_ENUliE_clEi",
       "tmpl<…>::{lambda()#1}::operator()<…>::{lambda()#1}::operator()",
       "tmpl<int>(int)::{lambda(auto:1)#1}::operator()<double>(double) "
       "const::{lambda(int)#1}::operator()(int)"},
      {"_ZNSt14_Function_baseD2Ev", "std::_Function_base::~_Function_base",
       "std::_Function_base::~_Function_base()"},
      {"_ZThn16_N4node7Process3RunEv", "non-virtual thunk to node::Process::Run",
       "non-virtual thunk to node::Process::Run()"},
      {"_ZN4llvm5Value7setNameERKNS_5TwineE.part.0", "llvm::Value::setName",
       "llvm::Value::setName(llvm::Twine const&) [clone .part.0]"},
      {"_Z3fooi.constprop.0.cold", "foo", "foo(int) [clone .constprop.0] [clone .cold]"},
      {"_Z3fooi.llvm.1234567890", "foo", "foo(int) [clone .llvm.1234567890]"},
      // Rust, legacy: the hash goes, escapes are undone.
      {"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt",
       "core::fmt::Write::write_fmt"},
      {"_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$"
       "3bar17h930b740aa"
       "94f1d3aE",
       "<Test + 'static as foo::Bar<…>>::bar", "<Test + 'static as foo::Bar<Test>>::bar"},
      {"_ZN3std2rt10lang_start28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE",
       "std::rt::lang_start::{{closure}}", "std::rt::lang_start::{{closure}}"},
      {"_ZN3std2rt10lang_start17h0123456789abcdefE.llvm.42", "std::rt::lang_start",
       "std::rt::lang_start.llvm.42"},
      // Rust, v0.
      {"_RNvC6_123foo3bar", "123foo::bar", "123foo::bar"},
      {"_RNvMCs1234_7mycrateINtB2_3FooyE3bar", "<mycrate::Foo<…>>::bar",
       "<mycrate::Foo<u64>>::bar"},
      {"_RINvNtC3std3mem8align_ofdE", "std::mem::align_of::<…>", "std::mem::align_of::<f64>"},
      {"_RNCNvC4main1f0", "main::f::{closure#0}", "main::f::{closure#0}"},
      // C, and languages that are left alone.
      {"main", "main", "main"},
      {"qsort_r.constprop.0", "qsort_r", "qsort_r.constprop.0"},
      {"do_work.isra.3.part.12.cold", "do_work", "do_work.isra.3.part.12.cold"},
      {"runtime.gopark", "runtime.gopark", "runtime.gopark"},
      {"main.(*T).run.func1.2", "main.(*T).run.func1.2", "main.(*T).run.func1.2"},
      {"_D3std5stdio12__ModuleInfoZ", "_D3std5stdio12__ModuleInfoZ", "_D3std5stdio12__ModuleInfoZ"},
      {"$s4main3fooyyF", "$s4main3fooyyF", "$s4main3fooyyF"},
      {"_Zfoo", "_Zfoo", "_Zfoo"},
      {"_R", "_R", "_R"},
      {"", "", ""},
  };
}

TEST(Demangle, KnowsRealNames) {
  for (const Name& name : real_names()) {
    EXPECT_EQ(demangle(name.linkage, DemangleStyle::kShort), name.short_name) << name.linkage;
    EXPECT_EQ(demangle(name.linkage, DemangleStyle::kFull), name.full) << name.linkage;
    EXPECT_EQ(demangle(name.linkage, DemangleStyle::kOff), name.linkage);
  }
}

TEST(Demangle, KeepsGoFunctionsThatAreNamedLikeSuffixes) {
  for (const char* name : {"main.part", "main.isra.func1", "main.part.0.func1", "x.llvm.y"}) {
    EXPECT_EQ(demangle(name, DemangleStyle::kShort), name);
  }
}

TEST(Demangle, LeavesNamesPastTheLimitAlone) {
  const std::string name = "_Z" + std::string(kMaxLinkageNameBytes, '3');
  EXPECT_EQ(demangle(name, DemangleStyle::kFull), name);
}

TEST(Demangle, SurvivesDeepNesting) {
  for (const size_t depth : {100U, 500U, 1000U, 30'000U}) {
    std::string pointers = "_Z1f" + std::string(depth, 'P') + "i";
    demangle(pointers, DemangleStyle::kFull);
    std::string templates = "_Z1f";
    for (size_t i = 0; i < depth; ++i) templates += "1aI";
    templates += "i" + std::string(depth, 'E');
    demangle(templates, DemangleStyle::kFull);
    std::string rust = "_RNvC1a1b" + std::string(depth, 'R');
    demangle(rust, DemangleStyle::kFull);
  }
}

TEST(Demangle, GivesUpOnNamesThatUnfoldWithoutEnd) {
  // Each substitution is a pair of the one before: 2^60 leaves.
  const std::string_view digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string cpp = "_Z1f1aIiiE";
  for (int level = 0; level < 30; ++level) {
    const std::string last{'S', digits[level], '_'};
    cpp.append("S_I").append(last).append(last).append("E");
  }
  EXPECT_EQ(demangle(cpp, DemangleStyle::kFull), cpp);

  // Rust: each tuple holds the one before twice, by back reference.
  std::string rust = "_RINvC1a1b";
  std::vector<size_t> starts;
  const auto base62 = [](size_t value) {
    const std::string_view base = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    if (value == 0) return std::string("_");
    std::string text;
    for (--value;; value /= 62) {
      text.insert(text.begin(), base[value % 62]);
      if (value < 62) break;
    }
    return text + "_";
  };
  starts.push_back(rust.size() - 2);
  rust += "TllE";
  for (int level = 0; level < 60; ++level) {
    const std::string last = "B" + base62(starts.back());
    starts.push_back(rust.size() - 2);
    rust.append("T").append(last).append(last).append("E");
  }
  rust += "E";
  EXPECT_EQ(demangle(rust, DemangleStyle::kFull), rust);
}

TEST(ShortName, HandlesTextThatNoDemanglerWouldPrint) {
  for (const char* text : {"<", ">", "(", ")", "operator", "operator<", "operator< <", "a<b",
                           "a<(b", "{lambda", "{lambda()#", "[abi:", "a::operator()(", "}}>>))"}) {
    shorten_cpp_name(text);
    shorten_rust_name(text);
  }
  EXPECT_EQ(shorten_cpp_name("f<((4)>(3))>::g"), "f<…>::g");
  EXPECT_EQ(shorten_cpp_name("my_operator<int>::f"), "my_operator<…>::f");
  EXPECT_EQ(shorten_cpp_name("a<(b)1, &(c::operator->)>::d"), "a<…>::d");
}

TEST(Demangle, OneLanguageCanBeLeftAlone) {
  const std::string cpp = "_ZN4shop4cartEv";
  const std::string old_rust = "_ZN4shop4cart17h0123456789abcdefE";
  const std::string new_rust = "_RNvC4shop4cart";
  const DemangleLanguages only_cpp{true, false};
  const DemangleLanguages only_rust{false, true};
  EXPECT_EQ(demangle(cpp, DemangleStyle::kShort, only_cpp), "shop::cart");
  EXPECT_EQ(demangle(old_rust, DemangleStyle::kShort, only_cpp), old_rust);
  EXPECT_EQ(demangle(new_rust, DemangleStyle::kShort, only_cpp), new_rust);
  EXPECT_EQ(demangle(cpp, DemangleStyle::kShort, only_rust), cpp);
  EXPECT_EQ(demangle(old_rust, DemangleStyle::kShort, only_rust), "shop::cart");
  EXPECT_EQ(demangle(new_rust, DemangleStyle::kShort, only_rust), "shop::cart");
}

}  // namespace
}  // namespace vesta
