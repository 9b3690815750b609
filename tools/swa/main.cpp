// Parse, run one command, write its report, map errors to the exit status.
#include <fmt/format.h>

#include <exception>
#include <iostream>
#include <new>

#include "cli/program.hpp"
#include "error.hpp"

namespace {

int complain(const std::string& who, const swa::Error& error, int status) {
  fmt::print(stderr, "{}: {}\n", who, error.what());
  if (!error.remedy().empty()) fmt::print(stderr, "  {}\n", error.remedy());
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  swa::cli::Program program;
  try {
    return program.run(argc, argv, std::cout);
  } catch (const swa::UsageError& error) {
    return complain(program.name(), error, 2);
  } catch (const swa::CannotRun& error) {
    return complain(program.name(), error, 3);
  } catch (const std::bad_alloc&) {
    return complain(program.name(), swa::CannotRun("there is not enough memory"), 3);
  } catch (const std::exception& error) {
    return complain(program.name(),
                    swa::Error(fmt::format("a defect of swa: {}", error.what()),
                               "please report it, with the command line"),
                    4);
  }
}
