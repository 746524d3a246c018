// SPDX-License-Identifier: Apache-2.0
//
// Writes down what each site is, in the section abi/site_record.h describes.
//
// Keys name a site across builds: "push+3.store.kfqz" is the store with that fingerprint on the
// third line after the one where push begins, "push+3.store.kfqz.2" the second of that description;
// "push+3@main.store.kfqz" is in the push that was inlined into main. Lines count from the
// function, so that an edit above it changes no key.
#pragma once

#include "pass/program_layout.h"
#include "pass/selection.h"

namespace heddle::pass {

/// Adds the table to the module. Must come before the sites are rewritten.
void emit_site_table(llvm::Module& module, const ProgramLayout& layout, llvm::ArrayRef<Site> sites);

}  // namespace heddle::pass
