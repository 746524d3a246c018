// SPDX-License-Identifier: Apache-2.0
//
// Writes down what each site is, in the section abi/site_record.h describes.
//
// Keys name a site across builds: "push+3.store.2" is the second store on the third line after the
// one where push begins; "push+3@main.store.1" is the first one of push inlined into main. Lines
// count from the function, so that an edit above it changes no key.
#pragma once

#include "pass/selection.h"

namespace heddle::pass {

/// Adds the table to the module. Must come before the sites are rewritten.
void emit_site_table(llvm::Module& module, llvm::ArrayRef<Site> sites);

}  // namespace heddle::pass
