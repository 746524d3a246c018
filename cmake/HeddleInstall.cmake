# SPDX-License-Identifier: Apache-2.0
# cmake --install build --prefix DIRECTORY. Programs find Heddle's own libraries in ../lib from where
# they are, so the tree can be moved as a whole.
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_BINDIR bin)
set(CMAKE_INSTALL_LIBDIR lib)
set(CMAKE_INSTALL_INCLUDEDIR include)
set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/Heddle)
set(HEDDLE_PREFIX_FROM_PACKAGE ../../..)
set(HEDDLE_INSTALLED_BIN ${CMAKE_INSTALL_BINDIR})
set(HEDDLE_INSTALLED_INCLUDE ${CMAKE_INSTALL_INCLUDEDIR})
set(package_source ${CMAKE_CURRENT_SOURCE_DIR}/cmake/package)
set(package_build ${CMAKE_CURRENT_BINARY_DIR}/package)

configure_package_config_file(
  ${package_source}/HeddleConfig.cmake.in ${package_build}/HeddleConfig.cmake
  INSTALL_DESTINATION ${package_directory}
  PATH_VARS HEDDLE_INSTALLED_BIN HEDDLE_INSTALLED_INCLUDE)
write_basic_package_version_file(${package_build}/HeddleConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
configure_file(${package_source}/heddle-toolchain.cmake.in ${package_build}/heddle-toolchain.cmake
               @ONLY)
configure_file(${package_source}/heddle.pc.in ${package_build}/heddle.pc @ONLY)

install(TARGETS heddle heddle-cc heddle-c++ RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS heddle-ld heddle-restorer RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS heddle_rt heddle_pass LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/heddle_mark.o
              ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/heddle_woven_breakpoints.o
              ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/heddle_freed_memory.o
              ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/heddle_scopes.o
              ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/heddle_thread_birth.o
              ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/libheddle_tsan.so
              ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/heddle_gdb.py DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/heddle DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${package_build}/HeddleConfig.cmake ${package_build}/HeddleConfigVersion.cmake
              ${package_build}/heddle-toolchain.cmake DESTINATION ${package_directory})
install(FILES ${package_build}/heddle.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
