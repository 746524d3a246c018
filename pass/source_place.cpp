// SPDX-License-Identifier: Apache-2.0
#include "pass/source_place.h"

#include <cstdlib>
#include <memory>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Support/Path.h"

namespace heddle::pass {
namespace {

struct FreeDeleter {
  void operator()(char* text) const { std::free(text); }
};

// Removes what stands in brackets, nested ones too: "A<B<int>>::f(int)" becomes "A::f". The
// brackets of operator names are no brackets.
std::string without_arguments(llvm::StringRef text) {
  static constexpr llvm::StringLiteral kOperators[] = {
      "operator()", "operator<=>", "operator<<=", "operator>>=", "operator->*", "operator<<",
      "operator>>", "operator<=",  "operator>=",  "operator->",  "operator<",   "operator>"};
  std::string kept;
  int depth = 0;
  while (!text.empty()) {
    const auto* name =
        llvm::find_if(kOperators, [&](llvm::StringRef known) { return text.starts_with(known); });
    const std::size_t taken = name == std::end(kOperators) ? 1 : name->size();
    const char c = text.front();
    if (taken == 1 && (c == '<' || c == '(')) {
      ++depth;
    } else if (taken == 1 && (c == '>' || c == ')')) {
      --depth;
    } else if (depth == 0) {
      kept += text.take_front(taken);
    }
    text = text.drop_front(taken);
  }
  return kept;
}

void replace_all(std::string& text, llvm::StringRef what, llvm::StringRef by) {
  for (std::size_t at = 0; (at = text.find(what.data(), at, what.size())) != std::string::npos;) {
    text.replace(at, what.size(), by.data(), by.size());
    at += by.size();
  }
}

std::string demangled(llvm::StringRef symbol) {
  llvm::ItaniumPartialDemangler demangler;
  std::string mangled = symbol.str();  // the demangler keeps pointing into it
  if (demangler.partialDemangle(mangled.c_str())) return mangled;
  if (!demangler.isFunction()) return llvm::demangle(mangled);
  const auto text = [](char* owned) {
    const std::unique_ptr<char, FreeDeleter> holder(owned);
    return std::string(owned == nullptr ? "" : owned);
  };
  const std::string context = text(demangler.getFunctionDeclContextName(nullptr, nullptr));
  const std::string name = text(demangler.getFunctionBaseName(nullptr, nullptr));
  return context.empty() ? name : context + "::" + name;
}

std::string name_of(const llvm::DISubprogram& subprogram) {
  const llvm::StringRef linkage_name = subprogram.getLinkageName();
  return readable_name(linkage_name.empty() ? subprogram.getName() : linkage_name);
}

std::string absolute_path(const llvm::DIFile* file) {
  if (file == nullptr) return "";
  llvm::SmallString<256> path;
  if (!llvm::sys::path::is_absolute(file->getFilename())) path = file->getDirectory();
  llvm::sys::path::append(path, file->getFilename());
  // Only "./" goes: a "../" after a symbolic link does not mean what it seems to.
  llvm::sys::path::remove_dots(path, /*remove_dot_dot=*/false);
  return path.str().str();
}

SourceFrame frame_of(const llvm::DILocation& location) {
  const llvm::DISubprogram& subprogram = *location.getScope()->getSubprogram();
  SourceFrame frame;
  frame.function = name_of(subprogram);
  frame.file = absolute_path(location.getFile());
  frame.line = location.getLine();
  frame.column = location.getColumn();
  if (frame.line != 0) {
    frame.relative_line = static_cast<std::int64_t>(frame.line) - subprogram.getLine();
  }
  return frame;
}

}  // namespace

std::string readable_name(llvm::StringRef symbol) {
  std::string name = demangled(symbol);
  replace_all(name, "(anonymous namespace)::", "");
  name = without_arguments(name);
  replace_all(name, "'", "");
  replace_all(name, " ", "_");
  return name;
}

std::vector<SourceFrame> source_frames(const llvm::DILocation* location,
                                       const llvm::Function& function) {
  std::vector<SourceFrame> frames;
  for (; location != nullptr; location = location->getInlinedAt()) {
    frames.push_back(frame_of(*location));
  }
  if (!frames.empty()) return frames;

  SourceFrame frame;
  if (const llvm::DISubprogram* subprogram = function.getSubprogram()) {
    frame.function = name_of(*subprogram);
    frame.file = absolute_path(subprogram->getFile());
  } else {
    frame.function = readable_name(function.getName());
  }
  return {frame};
}

}  // namespace heddle::pass
