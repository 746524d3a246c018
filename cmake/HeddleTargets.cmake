# SPDX-License-Identifier: Apache-2.0
# One way to declare a part, its tests and its fuzz targets.

set(HEDDLE_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wno-gnu-zero-variadic-macro-arguments -Werror)
set(HEDDLE_SANITIZERS)
if(HEDDLE_SANITIZE)
  set(HEDDLE_SANITIZERS -fsanitize=address,undefined -fno-sanitize-recover=all
                        -fno-omit-frame-pointer)
endif()

# Warnings, include root and sanitizers of Heddle's own processes (not of the runtime, which lives
# in somebody else's).
function(heddle_configure_host target)
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR})
  target_compile_options(${target} PRIVATE ${HEDDLE_WARNINGS} ${HEDDLE_SANITIZERS})
  target_link_options(${target} PRIVATE ${HEDDLE_SANITIZERS})
  if(HEDDLE_FUZZ)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()

# For code that waits for others all of its time (commands, what they print) or is a test: with
# sanitizers optimising it takes the compiler three times as long as everything else, and nobody
# would notice.
function(heddle_compile_quickly target)
  if(HEDDLE_SANITIZE)
    target_compile_options(${target} PRIVATE -O0)
  endif()
endfunction()

# heddle_library(NAME SOURCES... [DEPENDS targets...]): a static library heddle_NAME.
function(heddle_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS")
  add_library(heddle_${name} STATIC ${arg_UNPARSED_ARGUMENTS})
  heddle_configure_host(heddle_${name})
  target_link_libraries(heddle_${name} PUBLIC ${arg_DEPENDS})
endfunction()

# heddle_test(NAME SOURCES... [DEPENDS targets...]): a GoogleTest program, one ctest entry a case.
function(heddle_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS")
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  heddle_configure_host(${name})
  heddle_compile_quickly(${name})
  target_link_libraries(${name} PRIVATE ${arg_DEPENDS} GTest::gtest GTest::gtest_main GTest::gmock)
  gtest_discover_tests(${name} PROPERTIES TIMEOUT 600)
endfunction()

# heddle_fuzzer(NAME SOURCES... [DEPENDS targets...] [CORPUS directory]): a libFuzzer target and a
# short ctest run of it over its seed corpus.
function(heddle_fuzzer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "CORPUS" "DEPENDS")
  if(NOT HEDDLE_FUZZ)
    return()
  endif()
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  heddle_configure_host(${name})
  target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  target_link_libraries(${name} PRIVATE ${arg_DEPENDS})
  # New inputs go to a scratch directory: the seeds in the source tree stay as they are.
  set(found ${CMAKE_CURRENT_BINARY_DIR}/${name}.found)
  file(MAKE_DIRECTORY ${found})
  add_test(NAME ${name} COMMAND ${name} -max_total_time=15 -timeout=10 -rss_limit_mb=2048
                                -print_final_stats=1 ${found} ${arg_CORPUS})
  set_tests_properties(${name} PROPERTIES LABELS fuzz)
  add_dependencies(fuzzers ${name})
endfunction()
add_custom_target(fuzzers)

include(GoogleTest)
