// --export: which files it takes, and that it writes all of a file or nothing.
#include "cli/export.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "error.hpp"
#include "folder.hpp"
#include "scratch.hpp"

using namespace swa;
using namespace swa::cli;
using std::string;
using swa::test::content_of;
using swa::test::FullDisk;
using swa::test::names_in;
using swa::test::Scratch;
namespace fs = std::filesystem;

namespace {

const string kOption = "--export";

report::Report small_report() {
  report::Report report;
  report.schema = "swa.test/1";
  report::Table table;
  append(table, report::Record().add({"n", "n"}, std::int64_t{7}));
  report.blocks.push_back(table);
  return report;
}

std::vector<ExportFile> parse(const string& text, bool has_figure = true) {
  return parse_exports(kOption, text, has_figure);
}
void write(const string& text, const string& figure = "<svg/>") {
  write_exports(parse(text), small_report(), figure);
}

// The sentence of the complaint; empty where there is none.
string complaint(const string& text, bool has_figure = true) {
  try {
    require_writable(kOption, parse(text, has_figure));
  } catch (const UsageError& error) {
    CHECK_FALSE(error.remedy().empty());
    return error.what();
  }
  return {};
}

// Root may write anywhere: for the time of a test it is nobody in particular.
class Unprivileged {
 public:
  Unprivileged() {
    if (geteuid() == 0) changed_ = seteuid(65534) == 0;
  }
  ~Unprivileged() {
    if (changed_ && seteuid(0) != 0) std::abort();
  }
  Unprivileged(const Unprivileged&) = delete;
  Unprivileged& operator=(const Unprivileged&) = delete;

 private:
  bool changed_ = false;
};

}  // namespace

TEST_CASE("the suffix of an exported file names its kind") {
  const auto files = parse("a.csv,b.json,c.jsonl,d.md,e.txt,f.svg,.hidden/g.x.csv");
  REQUIRE(files.size() == 7);
  CHECK(files[0].format == report::Format::csv);
  CHECK(files[1].format == report::Format::json);
  CHECK(files[2].format == report::Format::jsonl);
  CHECK(files[3].format == report::Format::md);
  CHECK(files[4].format == report::Format::text);
  CHECK(files[5].is_figure());
  CHECK(files[6].format == report::Format::csv);
  for (const string wrong :
       {"a", "a.", "a.png", "a.CSV", "a.text", ".csv", "dir.csv/", "a.csv.gz"}) {
    CAPTURE(wrong);
    CHECK(complaint(wrong) == "--export " + wrong + ": the suffix names no kind of file");
  }
  CHECK(complaint("a.svg", false) == "--export a.svg: this command has no figure");
  CHECK(complaint("a.csv,") != "");
}

TEST_CASE("a file is exported to once") {
  const Scratch scratch;
  const string folder = scratch.folder();
  const string twice = ": the file was named more than once";
  CHECK(complaint("a.csv,a.csv") == "--export a.csv" + twice);
  CHECK(complaint("a.csv,./a.csv") == "--export ./a.csv" + twice);
  fs::create_symlink(scratch.write("b.csv", "old"), folder + "/link.csv");
  CHECK(complaint(folder + "/b.csv," + folder + "/link.csv") ==
        "--export " + folder + "/link.csv" + twice);
  CHECK(complaint(folder + "/a.csv," + folder + "/a.json") == "");
}

TEST_CASE("what cannot be written is refused before the work") {
  const Scratch scratch;
  const string folder = scratch.folder();
  const auto said = [&](const string& name) {
    return scratch.without_folder(complaint(folder + "/" + name));
  };
  CHECK(said("new.csv") == "");
  CHECK(names_in(folder).empty());  // the question leaves nothing behind
  CHECK(said("none/a.csv") == "--export none/a.csv: there is no such folder");
  scratch.write("file", "");
  CHECK(said("file/a.csv") == "--export file/a.csv: there is no such folder");
  fs::create_directory(folder + "/folder.csv");
  CHECK(said("folder.csv") == "--export folder.csv: that is a folder");
  fs::create_symlink("/dev/full", folder + "/device.csv");
  CHECK(said("device.csv") == "--export device.csv: that is not a plain file");
  CHECK(
      complaint(folder + "/" + string(300, 'x') + ".csv").ends_with("no such name can be written"));

  chmod(scratch.write("kept.csv", "old").c_str(), 0444);
  fs::create_directory(folder + "/closed");
  chmod((folder + "/closed").c_str(), 0555);
  chmod(folder.c_str(), 0777);
  const Unprivileged unprivileged;
  CHECK(said("closed/a.csv") == "--export closed/a.csv: its folder cannot be written to");
  CHECK(said("kept.csv") == "--export kept.csv: the file is there and cannot be written");
  CHECK(said("new.csv") == "");
}

TEST_CASE("exported files hold the report and the figure and nothing is left beside them") {
  const Scratch scratch;
  const string folder = scratch.folder();
  const string old = scratch.write("a.csv", "something much longer than the report\n");
  chmod(old.c_str(), 0640);
  write(folder + "/a.csv," + folder + "/b.txt," + folder + "/c.svg");
  CHECK(content_of(old) == "n\n7\n");
  CHECK(content_of(folder + "/b.txt") == "n\n7\n");
  CHECK(content_of(folder + "/c.svg") == "<svg/>");
  CHECK(names_in(folder) == std::set<string>{"a.csv", "b.txt", "c.svg"});
  struct stat now {};
  REQUIRE(stat(old.c_str(), &now) == 0);
  CHECK((now.st_mode & 0777) == 0640);  // who may read it stays as it was
}

TEST_CASE("an export through a link writes the file that it names") {
  const Scratch scratch;
  const string file = scratch.write("real.csv", "old"), link = scratch.folder() + "/link.csv";
  fs::create_symlink("real.csv", link);
  write(link);
  CHECK(fs::is_symlink(link));
  CHECK(content_of(file) == "n\n7\n");
}

TEST_CASE("an export through a link makes the file that is not there yet") {
  const Scratch scratch;
  const string folder = scratch.folder() + "/";
  fs::create_directory(folder + "results");
  fs::create_symlink("results/../results/real.csv", folder + "one.csv");
  fs::create_symlink("one.csv", folder + "two.csv");
  CHECK(complaint(folder + "two.csv," + folder + "results/real.csv")
            .ends_with("the file was named more than once"));
  CHECK(complaint(folder + "two.csv") == "");
  write(folder + "two.csv");
  CHECK(fs::is_symlink(folder + "one.csv"));
  CHECK(fs::is_symlink(folder + "two.csv"));
  CHECK(content_of(folder + "results/real.csv") == "n\n7\n");

  fs::create_symlink("none/real.csv", folder + "lost.csv");
  CHECK(complaint(folder + "lost.csv").ends_with(": there is no such folder"));
  fs::create_symlink("loop.csv", folder + "loop.csv");
  CHECK(complaint(folder + "loop.csv").ends_with(": no such name can be written"));
}

TEST_CASE("an export that fails leaves the older files and no other") {
  const Scratch scratch;
  const string folder = scratch.folder();
  scratch.write("a.csv", "old");
  const string large(10'000, ' ');
  const auto before = std::signal(SIGXFSZ, SIG_DFL);  // it would end this program
  {
    const FullDisk full(5000);
    // The first of the two files can be written, and still does not take its name.
    CHECK_THROWS_AS(write(folder + "/a.csv," + folder + "/b.svg", large), CannotRun);
    CHECK_THROWS_AS(write(folder + "/b.svg", large), CannotRun);
  }
  std::signal(SIGXFSZ, before);
  CHECK(content_of(folder + "/a.csv") == "old");
  CHECK(names_in(folder) == std::set<string>{"a.csv"});
  write(folder + "/a.csv," + folder + "/b.svg", large);
  CHECK(content_of(folder + "/b.svg") == large);
}

TEST_CASE("an export whose folder went away is said") {
  const Scratch scratch;
  const string folder = scratch.folder() + "/gone";
  fs::create_directory(folder);
  const auto files = parse(folder + "/a.csv");
  require_writable(kOption, files);
  fs::remove(folder);
  CHECK_THROWS_AS(write_exports(files, small_report(), ""), CannotRun);
}
