// Parse, run one command, write its report, map errors to the exit status.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <iostream>
#include <new>

#include "cli/program.hpp"
#include "error.hpp"

namespace {

int complain(const std::string& who, const swa::Error& error, int status) {
  std::string text = fmt::format("{}: {}\n", who, error.what());
  if (!error.remedy().empty()) text += fmt::format("  {}\n", error.remedy());
  std::fputs(text.c_str(), stderr);  // where stderr is closed, the status still tells
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
