// Names of Java code as people write them, and without the parts that differ from run to run: ids
// of lambdas, proxies, accessors and extracted libraries, so that equal code has one name. Pure
// functions.
#pragma once

#include <string>
#include <string_view>

namespace vesta::jfr {

// "App$$Lambda$14/0x0000000800c03000" -> "App$$Lambda", "GeneratedMethodAccessor12" ->
// "GeneratedMethodAccessor", "Foo$$EnhancerBySpringCGLIB$$1a2b3c" -> "Foo$$EnhancerBySpringCGLIB".
std::string collapse_generated_class(std::string_view name);

// "java/lang/Thread" -> "java.lang.Thread", "[[I" -> "int[][]", "[Ljava/lang/String;" ->
// "java.lang.String[]"; generated names collapsed.
std::string readable_class(std::string_view name);

// The name of a class, method or library as Pyroscope has it, whose queries people have: slashes
// stay, "App$$Lambda$669.0x0000000800fd7318" -> "App$$Lambda_", and likewise for accessors, proxies
// of Spring and some libraries.
std::string pyroscope_symbol(std::string_view name);

// "libzstd-jni-1.5.1-16931311898282279136.so" -> "libzstd-jni-1.5.1.so"
std::string collapse_library(std::string_view name);

}  // namespace vesta::jfr
