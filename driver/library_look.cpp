// SPDX-License-Identifier: Apache-2.0
#include "driver/library_look.h"

#include "driver/opened_libraries.h"

namespace heddle::driver {

Program open_with_libraries(const Inputs& inputs, const abi::Options& options,
                            std::chrono::milliseconds timeout, const Progress& progress,
                            abi::Variant variant) {
  const StartedProgram started(inputs.arguments.at(0));
  Program program = Program::open(started, progress, variant);
  if (!program.may_open_libraries()) return program;
  OpenedLibraries libraries(program.build_id());
  if (libraries.is_known(inputs.arguments)) return program;
  if (progress) progress("looking which libraries it opens");
  const std::size_t before = libraries.known().size();
  {
    // How it ends does not matter here.
    Target target(program.image(), inputs, options.max_events, timeout);
    target.run(options, {});
    libraries.learn(inputs.arguments, target.channel().opened());
  }
  return libraries.known().size() == before ? std::move(program)
                                            : Program::open(started, progress, variant);
}

}  // namespace heddle::driver
