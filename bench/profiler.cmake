# What profilers are compared on: code as distributions build it, without frame pointers.
find_package(Threads REQUIRED)
add_executable(deep_load "${CMAKE_CURRENT_LIST_DIR}/profiler/deep_load.cc")
target_compile_options(deep_load PRIVATE -fomit-frame-pointer)
target_link_libraries(deep_load PRIVATE Threads::Threads)
