#include "formats/jfr/names.h"

#include <gtest/gtest.h>

#include "formats/jfr/settings.h"

namespace vesta::jfr {
namespace {

TEST(JfrNames, CollapsesGeneratedClasses) {
  const auto same = [](std::string_view name) { EXPECT_EQ(collapse_generated_class(name), name); };
  EXPECT_EQ(collapse_generated_class("App$$Lambda$14/0x0000000800c03000"), "App$$Lambda");
  EXPECT_EQ(collapse_generated_class("App$$Lambda/0x0000000800c03000"), "App$$Lambda");
  EXPECT_EQ(collapse_generated_class("a.B$$Lambda$155+0x00007f47940e7fa0/1182696712"),
            "a.B$$Lambda");
  EXPECT_EQ(collapse_generated_class("App$$Lambda$14/1234567"), "App$$Lambda");
  EXPECT_EQ(collapse_generated_class("java/lang/invoke/LambdaForm$MH/0x0000000800c03000"),
            "java/lang/invoke/LambdaForm$MH");
  EXPECT_EQ(collapse_generated_class("java/lang/invoke/LambdaForm$DMH.0x00007f0001"),
            "java/lang/invoke/LambdaForm$DMH");
  EXPECT_EQ(collapse_generated_class("java/lang/invoke/LambdaForm$MH/1234"),
            "java/lang/invoke/LambdaForm$MH");
  EXPECT_EQ(collapse_generated_class("jdk/internal/reflect/GeneratedMethodAccessor123"),
            "jdk/internal/reflect/GeneratedMethodAccessor");
  EXPECT_EQ(collapse_generated_class("jdk/internal/reflect/GeneratedConstructorAccessor5"),
            "jdk/internal/reflect/GeneratedConstructorAccessor");
  EXPECT_EQ(collapse_generated_class("com/sun/proxy/$Proxy12"), "com/sun/proxy/$Proxy");
  EXPECT_EQ(collapse_generated_class("a/Foo$$EnhancerBySpringCGLIB$$1a2b3c4d"),
            "a/Foo$$EnhancerBySpringCGLIB");
  EXPECT_EQ(
      collapse_generated_class("a/Foo$$EnhancerBySpringCGLIB$$1a2b$$FastClassBySpringCGLIB$$99"),
      "a/Foo$$EnhancerBySpringCGLIB$$FastClassBySpringCGLIB");
  EXPECT_EQ(collapse_generated_class("a/Foo$$SpringCGLIB$$0"), "a/Foo$$SpringCGLIB");
  EXPECT_EQ(collapse_generated_class("a/Foo$MockitoMock$123456"), "a/Foo$MockitoMock");
  same("");
  same("java/lang/Thread");
  same("a/Foo$$LambdaFactory");
  same("a/Foo$1");
  same("a/B0x12");
  same("a/FooCGLIB$$Callback");
}

TEST(JfrNames, WritesClassesAsJavaDoes) {
  EXPECT_EQ(readable_class("java/lang/Thread"), "java.lang.Thread");
  EXPECT_EQ(readable_class("[[I"), "int[][]");
  EXPECT_EQ(readable_class("[Ljava/lang/String;"), "java.lang.String[]");
  EXPECT_EQ(readable_class("[LApp$$Lambda$14;"), "App$$Lambda[]");
  EXPECT_EQ(readable_class("I"), "I");
  EXPECT_EQ(readable_class("["), "[]");
  EXPECT_EQ(readable_class(""), "");
}

TEST(JfrNames, WritesWhatPyroscopeDoes) {
  const auto is = [](std::string_view name, std::string_view expected) {
    EXPECT_EQ(pyroscope_symbol(name), expected);
  };
  const auto same = [&](std::string_view name) { is(name, name); };
  is("org/example/OrderService$$Lambda$669.0x0000000800fd7318",
     "org/example/OrderService$$Lambda_");
  is("Fib$$Lambda.0x00007ffa600c4da0", "Fib$$Lambda_");
  is("App$$Lambda$14/1234", "App$$Lambda_");
  is("App$$Lambda14", "App$$Lambda_");
  is("jdk/internal/reflect/GeneratedMethodAccessor31",
     "jdk/internal/reflect/GeneratedMethodAccessor_");
  is("a/Foo$$EnhancerBySpringCGLIB$$1a2b", "a/Foo$$EnhancerBySpringCGLIB$$_");
  is("libzstd-jni-1.5.1-16931311898282279136.so", "libzstd-jni-_.so");
  is("./tmp/libzstd-jni-1.5.1-16931311898282279136.so (deleted)", "libzstd-jni-_.so");
  is("./tmp/libamazonCorrettoCryptoProvider109b39cf33c563eb.so",
     "libamazonCorrettoCryptoProvider_.so");
  is("/tmp/amazonCorrettoCryptoProviderNativeLibraries.7382c2f79097f415/libcrypto.so (deleted)",
     "libamazonCorrettoCryptoProvider_.so");
  is("libasyncProfiler-linux-x64-17b9a1d8156277a98ccc871afa9a8f69215f92.so",
     "libasyncProfiler-_.so");
  same("");
  same("java/lang/Thread");
  same("run");
  same("App$$Lambda");
  same("App$$Lambda$14");
  same("$$Lambda.0x1");
  same("App$$LambdaFactory");
  same("sun/reflect/GeneratedMethodAccessor31");
  same("jdk/internal/reflect/GeneratedMethodAccessor");
  same("libzstd-jni-1.5.1.so");
  same("libzstd-jni-1.5-1.so");
  same("/tmp/libamazonCorrettoCryptoProvider109b39cf33c563e.so");
  same("libjvm.so");
  same("App$$Lambda$14.0x");
}

TEST(JfrNames, CollapsesExtractedLibraries) {
  EXPECT_EQ(collapse_library("libzstd-jni-1.5.1-16931311898282279136.so"), "libzstd-jni-1.5.1.so");
  EXPECT_EQ(collapse_library("libasyncProfiler-d73f214b50539537b06070b954cbc95c10a06024.so"),
            "libasyncProfiler.so");
  EXPECT_EQ(collapse_library("snappy-1.1.8-6fb9393a-3093-4706-a7e4-837efe01d078-libsnappyjava.so"),
            "snappy-1.1.8-libsnappyjava.so");
  EXPECT_EQ(collapse_library("libjvm.so"), "libjvm.so");
  EXPECT_EQ(collapse_library("libc-2.31.so"), "libc-2.31.so");
  EXPECT_EQ(collapse_library("[vdso]"), "[vdso]");
}

TEST(JfrNames, ReadsPeriods) {
  EXPECT_EQ(parse_period_ns("20 ms"), 20'000'000);
  EXPECT_EQ(parse_period_ns("1 s"), 1'000'000'000);
  EXPECT_EQ(parse_period_ns("10ms"), 10'000'000);
  EXPECT_EQ(parse_period_ns("500/s"), 2'000'000);
  EXPECT_EQ(parse_period_ns("everyChunk"), std::nullopt);
  EXPECT_EQ(parse_period_ns("-1 ms"), std::nullopt);
  EXPECT_EQ(parse_period_ns("9223372036854775807 d"), std::nullopt);
  EXPECT_EQ(parse_period_ns("20"), std::nullopt);
  EXPECT_EQ(parse_period_ns(""), std::nullopt);
}

}  // namespace
}  // namespace vesta::jfr
