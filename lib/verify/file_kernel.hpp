// Kernels whose calls lie in files: written for them, and read back.
//
// A case's folder holds the call itself (verify/call_files.hpp), and a folder for each launch of
// the probe: probe-000, probe-001 ... with the same names in it. A file unsupported.txt says that
// the kernel does not do the case; its first line is the reason.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "verify/judge.hpp"

namespace swa {

// What is wrong with a kernel's files, in one sentence: the case is an error, not the question.
class FileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Launches of the probe that are written for a problem; 0 where its dtype cannot tell the keys
// apart, or their files would take more than 256 MiB.
Index exported_launches(const Problem& problem);

// Bytes on the disk that export_case() takes, as a double.
double export_bytes(const Problem& problem);

// Writes the call with these inputs and the launches of the probe. make_folder(path) is called for
// each folder before anything is written into it, that of the case first. Throws what that throws,
// Stopped, and as write_file() does.
void export_case(const std::string& folder, const Problem& problem, const Inputs& inputs,
                 const std::function<void(const std::string&)>& make_folder);

// Bytes of memory that judging a folder, or writing one, takes besides inputs and oracle. As a
// double.
double file_memory(const Problem& problem);

// A kernel of one case, good for one call of judge() with these checks. Their outputs are at hand
// already, so that what needs further calls is left out; the verdict says so with these words.
struct FileKernel {
  Kernel kernel;
  Checks checks = kNumbersOnly;
  std::vector<std::string> left_out = {};
};

// The kernel whose outputs a case's folder holds. The probe is judged where one of its launches has
// an output. The kernel's functions throw FileError where files are missing or not what they should
// be.
FileKernel kernel_of_folder(const std::string& name, const std::string& folder,
                            const Problem& problem);

// The kernel that returned these outputs.
FileKernel kernel_of_outputs(const std::string& name, const Attention& outputs);

}  // namespace swa
