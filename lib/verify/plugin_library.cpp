#include "verify/plugin_library.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace swa {
namespace {

// The file header, whose members that are read lie at the same place in both classes.
std::optional<Elf64_Ehdr> header_of(const std::string& path) {
  Elf64_Ehdr header{};
  std::ifstream file(path, std::ios::binary);
  // The shorter of the two; the members below are in it.
  if (!file.read(reinterpret_cast<char*>(&header), sizeof(Elf32_Ehdr))) return std::nullopt;
  return header;
}

}  // namespace

std::optional<std::string> why_no_library(const std::string& path) {
  errno = 0;
  if (!std::ifstream(path, std::ios::binary)) {
    return fmt::format("it cannot be read ({})", std::strerror(errno));
  }
  const std::optional<Elf64_Ehdr> header = header_of(path);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) {
    return "it is not a shared library (no ELF header)";
  }
  const std::optional<Elf64_Ehdr> own = header_of("/proc/self/exe");
  if (own &&
      (header->e_ident[EI_CLASS] != own->e_ident[EI_CLASS] ||
       header->e_ident[EI_DATA] != own->e_ident[EI_DATA] || header->e_machine != own->e_machine)) {
    return fmt::format(
        "it was built for another architecture (ELF machine {} of {} bits; swa has machine {} of "
        "64 bits)",
        header->e_machine, header->e_ident[EI_CLASS] == ELFCLASS32 ? 32 : 64, own->e_machine);
  }
  if (header->e_type != ET_DYN) {
    return "it is an ELF file, but not a shared library (link it with -shared)";
  }
  return std::nullopt;
}

}  // namespace swa
