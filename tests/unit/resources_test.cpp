// What nvcc says of the kernels, read from texts: no nvcc and no GPU is needed.
#include "kernels/resources.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "chapter/compare.hpp"
#include "chapter/compile_check.hpp"
#include "cli/data.hpp"
#include "commands/kernels_check.hpp"
#include "kernels/launch/decode.hpp"
#include "kernels/launch/prefill.hpp"
#include "kernels/resources/checks.hpp"
#include "kernels/resources/compiled.hpp"
#include "kernels/resources/describe.hpp"

using namespace swa;
using std::string;
using Words = std::vector<string>;

namespace {

const string kLdmatrix = "ldmatrix.sync.aligned.m8n8.x4.shared.b16";
const string kLdmatrixTrans = "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16";
const string kMma = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32";
const string kSums = "{%f1, %f2, %f3, %f4}", kA = "{%r91, %r92, %r93, %r94}";

string mma(const string& b) {
  return "\t" + kMma + " " + kSums + ", " + kA + ", " + b + ", " + kSums + ";\n";
}

string ptx(const string& arch, const string& body) {
  return "//\n// wgmma.mma_async stands in a comment\n.version 9.0\n.target " + arch +
         "\n.address_size 64\n\n.extern .shared .align 16 .b8 memory[];\n\n"
         ".visible .entry first(\n\t.param .b64 first_param_0\n)\n.maxntid 128, 1, 1\n{\n"
         "\t.reg .b32 \t%r<99>;\n" +
         body + "\tret;\n\n}\n\t// .globl\tsecond\n.entry second(\n)\n{\n\tret;\n}\n";
}

string reported(const string& entry, const string& arch, const string& used = "40 registers") {
  return "ptxas info    : Compiling entry function '" + entry + "' for '" + arch +
         "'\nptxas info    : Function properties for " + entry +
         "\n    64 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads\n"
         "ptxas info    : Used " +
         used +
         ", used 1 barriers, 64 bytes cumulative stack size, 2048 bytes smem, 728 bytes cmem[0]\n"
         "ptxas info    : Compile time = 12.5 ms\n";
}

const string kBoth = reported("first", "sm_90a") + reported("second", "sm_90a", "8 registers");

CompiledKernel first_of(const string& body) {
  return compiled_kernels_of({ptx("sm_90a", body)}, kBoth).at(0);
}

// An instance as it should be.
Resources instance(const string& kernel) {
  Resources r;
  r.kernel = kernel;
  r.variant = "plain";
  r.arch = "sm_80";
  r.head_dim = r.head_dim_v = 64;
  r.BM = 128;
  r.BN = 64;
  r.threads = 128;
  r.registers = 200;
  r.smem_bytes = 1000;
  r.mma = {kMma};
  r.copies = {"cp.async.commit_group", kLdmatrix, kLdmatrixTrans};
  r.mma_scores = r.mma_values = 64;
  return r;
}

// The checks that do not hold.
Words violated(const std::vector<Resources>& instances) {
  Words found;
  for (const ResourceCheck& check : check_resources(instances)) {
    if (!check.holds) found.push_back(check.check);
  }
  return found;
}

}  // namespace

TEST_CASE("ptxas' report gives registers and spills and shared memory to their kernels") {
  const auto kernels = compiled_kernels_of({ptx("sm_90a", "")}, kBoth);
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[0].entry == "first");
  CHECK(kernels[0].arch == "sm_90a");
  CHECK(kernels[0].registers == 40);
  CHECK(kernels[0].spill_stores == 12);
  CHECK(kernels[0].spill_loads == 16);
  CHECK(kernels[0].static_smem == 2048);
  CHECK(kernels[1].entry == "second");
  CHECK(kernels[1].registers == 8);
  CHECK(kernels[1].mma.empty());
}

TEST_CASE("each architecture has its own figures and PTX for later GPUs has none") {
  const string also_80 = reported("second", "sm_80", "30 registers") + reported("first", "sm_80");
  const auto kernels = compiled_kernels_of(
      {ptx("sm_80", ""), ptx("sm_90a", mma("{%r1, %r2}")), ptx("sm_90", "")}, kBoth + also_80);
  REQUIRE(kernels.size() == 4);
  CHECK(kernels[0].arch == "sm_80");
  CHECK(kernels[0].mma.empty());
  CHECK(kernels[1].registers == 30);
  CHECK(kernels[2].arch == "sm_90a");
  CHECK(kernels[2].mma == Words{kMma});
}

TEST_CASE("PTX instructions are found once each behind predicates and braces but not in comments") {
  const CompiledKernel kernel = first_of(
      "\t// begin inline asm\n"
      "\t{ .reg .pred p; setp.ne.b32 p, %r1, 0; "
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%f1}, %rd1, %rd2, p, 1, 1, 0, 1; }\n"
      "\t@%p1 cp.async.cg.shared.global.L2::128B [%r1], [%rd1], 16, %r2;\n"
      "\t@!%p1 cp.async.cg.shared.global.L2::128B [%r1], [%rd1], 16, %r2;\n"
      "\tcp.async.commit_group;\n"
      "\t// commit; cp.async.wait_all;\n"
      "\tmov.b32 \t%r5, %r6;  // ldmatrix.sync\n");
  CHECK(kernel.mma == Words{"wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16"});
  CHECK(kernel.copies == Words{"cp.async.cg.shared.global.L2::128B", "cp.async.commit_group"});
  CHECK(kernel.mma_plain + kernel.mma_transposed + kernel.mma_other == 0);
}

TEST_CASE("PTX tells Q K^T from P V by how the second factor was loaded") {
  const string k = "\t" + kLdmatrix + " {%r1, %r2, %r3, %r4}, [%r50];\n";
  const string v = "\t" + kLdmatrixTrans + " {%r5, %r6, %r7, %r8}, [%r51];\n";
  const CompiledKernel kernel =
      first_of(k + v + mma("{%r1, %r3}") + mma("{%r5, %r6}") + mma("{%r7, %r8}") +
               mma("{%r1, %r5}") + mma("{%r60, %r61}") +
               // Through a move; then the register is overwritten with something else.
               "\tmov.b32 \t%r20, %r5;\n\tmov.b32 \t%r21, %r6;\n" + mma("{%r20, %r21}") +
               "\tadd.s32 \t%r20, %r50, 4;\n" + mma("{%r20, %r21}") +
               // A store reads its operands.
               "\tst.shared.b32 \t[%r1], %r3;\n" + mma("{%r1, %r3}"));
  CHECK(kernel.mma_plain == 2);
  CHECK(kernel.mma_transposed == 3);
  CHECK(kernel.mma_other == 3);
  CHECK(kernel.copies == Words{kLdmatrix, kLdmatrixTrans});
}

TEST_CASE("PTX and report that do not fit together are an error") {
  CHECK_THROWS_AS(compiled_kernels_of({ptx("sm_90a", "")}, ""), std::runtime_error);
  CHECK_THROWS_AS(compiled_kernels_of({ptx("sm_80", "")}, kBoth), std::runtime_error);
  CHECK_THROWS_AS(compiled_kernels_of({}, kBoth), std::runtime_error);
  CHECK_THROWS_AS(compiled_kernels_of({ptx("sm_90a", "")}, reported("first", "sm_90a", "no")),
                  std::runtime_error);
  const string helper = ".target sm_90a\n.func  (.param .b32 out) helper()\n{\n" + mma("{%r1}");
  CHECK_THROWS_AS(compiled_kernels_of({helper + "}\n" + ptx("sm_90a", "")}, kBoth),
                  std::runtime_error);
}

TEST_CASE("mma_shape keeps shape and types") {
  CHECK(mma_shape(kMma) == "m16n8k16.f32.bf16.bf16.f32");
  CHECK(mma_shape("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16") ==
        "m64n128k16.f32.bf16.bf16");
  CHECK(mma_shape("cp.async.wait_all").empty());
}

TEST_CASE("a mangled name tells which instance it is") {
  CompiledKernel compiled;
  compiled.entry =
      "_ZN3swa8portable7prefillINS0_7PrefillI6__halfLi192ELi128ELNS_6ScoresE1ELNS_8TileLoopE1E"
      "LNS_7PlantedE0EEEEEvNS_11PrefillCallE";
  compiled.static_smem = 100;
  compiled.mma_plain = 48;
  compiled.mma_transposed = 32;
  const Resources masked = describe(compiled);
  CHECK(masked.kernel == "portable-mask-only");
  CHECK(masked.variant == "general");
  CHECK(masked.dtype == Dtype::fp16);
  CHECK(masked.head_dim == 192);
  CHECK(masked.head_dim_v == 128);
  CHECK(masked.BM == prefill_tile(192, 128).BM);
  CHECK(masked.BN == prefill_tile(192, 128).BN);
  CHECK(masked.threads == prefill_tile(192, 128).threads());
  CHECK(masked.smem_bytes == 100 + prefill_tile(192, 128).smem_bytes());
  CHECK(masked.mma_scores == 48);
  CHECK(masked.mma_values == 32);

  compiled.entry =
      "_ZN3swa8portable7prefillINS0_7PrefillI13__nv_bfloat16Li64ELi64ELNS_6ScoresE0E"
      "LNS_8TileLoopE0ELNS_7PlantedE1EEEEEvNS_11PrefillCallE";
  CHECK(describe(compiled).kernel == "portable-prefill");
  CHECK(describe(compiled).variant == "nan-after-masked-tile");
  CHECK(describe(compiled).dtype == Dtype::bf16);

  compiled.entry =
      "_ZN3swa8portable6decodeINS0_6DecodeI13__nv_bfloat16Li96ELi96ELNS_6ScoresE0EEEEEvNS_10"
      "DecodeCallE";
  const Resources decode = describe(compiled);
  CHECK(decode.kernel == "portable-decode");
  CHECK(decode.variant == "plain");
  CHECK(decode.dtype == Dtype::bf16);
  CHECK(decode.head_dim == 96);
  CHECK(decode.BM == DecodeTile::kRows);
  CHECK(decode.BN == DecodeTile::kKeys);
  CHECK(decode.threads == decode_tile(96, 96).threads());
  CHECK(decode.smem_bytes == 100 + decode_tile(96, 96).smem_bytes());

  compiled.entry =
      "_ZN3swa8portable12prefill_fp32INS0_11PrefillFp32ILNS_5DtypeE2ELi128EEEEEvNS_11PrefillCallE"
      "NS_8TileLoopE";
  const Resources wide = describe(compiled);
  CHECK(wide.kernel == "portable-prefill");
  CHECK(wide.variant == "general");
  CHECK(wide.dtype == Dtype::tf32);
  CHECK(wide.head_dim == 128);
  CHECK(wide.BM == fp32_tile(128).BM);
  CHECK(wide.threads == 128);
  CHECK(wide.smem_bytes == 100 + fp32_tile(128).smem_bytes());

  compiled.entry =
      "_ZN3swa40_GLOBAL__N__73605e8a_8_naive_cu_324771df5naiveIddLb1EEEvNS_13ForwardParamsE"
      "NS_10NaiveFactsE";
  CHECK(describe(compiled).kernel == "naive");
  CHECK(describe(compiled).variant == "oracle");
  CHECK(describe(compiled).dtype == Dtype::fp64);
  CHECK(describe(compiled).BM == 0);
  CHECK(describe(compiled).smem_bytes == 100);
}

TEST_CASE("a kernel that nobody described keeps its own name and fails the check") {
  CompiledKernel compiled;
  // An unknown kernel, a tile that there is not, and an enumerator of another type.
  for (const string entry :
       {"_ZN3swa4sm9014band_attentionILi64EEEvv",
        "_ZN3swa8portable7prefillINS0_7PrefillI6__halfLi65ELi128ELNS_6ScoresE1ELNS_8TileLoopE1E"
        "LNS_7PlantedE0EEEEEvNS_11PrefillCallE",
        "_ZN3swa8portable7prefillINS0_7PrefillI6__halfLi64ELi64ELNS_8TileLoopE1ELNS_8TileLoopE1E"
        "LNS_7PlantedE0EEEEEvNS_11PrefillCallE"}) {
    compiled.entry = entry;
    const Resources r = describe(compiled);
    CAPTURE(r.kernel);
    CHECK(r.kernel.starts_with("void swa::"));
    CHECK(r.variant.empty());
    CHECK(violated({r}) == Words{"described"});
  }
}

TEST_CASE("the checks hold for instances that are as they should be") {
  const auto checks =
      check_resources({instance("portable-prefill"), instance("portable-mask-only")});
  REQUIRE(checks.size() == 3);
  for (const ResourceCheck& check : checks) CHECK(check.holds);
  CHECK(checks[0].figures == "mma.sync m16n8k16.f32.bf16.bf16.f32: 64 of Q K^T, 64 of P V");
  CHECK(checks[2].check == "as mask-only");
}

TEST_CASE("the band kernel is described, and its products run beside the threads") {
  CompiledKernel compiled;
  compiled.entry =
      "_ZN3swa4sm904bandINS0_4BandI13__nv_bfloat16Li0EEEEEvNS0_8BandCallENS0_8BandMapsE";
  compiled.mma = {"wgmma.mma_async.sync.aligned.m64n136k16.f32.bf16.bf16"};
  const Resources r = describe(compiled);
  CHECK(r.kernel == "sm90-band");
  CHECK(r.variant == "merged");
  CHECK(r.head_dim == 64);
  CHECK(r.BN == 136);
  CHECK(r.threads == 640);
  CHECK(violated({r}).empty());
  Resources other = r;
  other.one_by_one = true;
  CHECK(violated({other}) == Words{"side by side"});
  other = r;
  other.mma = {"wgmma.mma_async.sync.aligned.m64n136k16.f16.f16.f16"};
  CHECK(violated({other}) == Words{"side by side"});
  other.mma.clear();
  CHECK(violated({other}) == Words{"side by side"});
  // Of an instance that there is not.
  compiled.entry =
      "_ZN3swa4sm904bandINS0_4BandI13__nv_bfloat16Li99EEEEEvNS0_8BandCallENS0_8BandMapsE";
  CHECK(violated({describe(compiled)}) == Words{"described"});
}

TEST_CASE("ptxas says which kernel's products run one by one") {
  const string said =
      "ptxas info    : (C7512) Potential Performance Loss: wgmma.mma_async instructions are "
      "serialized due to insufficient register resources for the function 'second'\n";
  const auto kernels = compiled_kernels_of({ptx("sm_90a", "")}, said + kBoth);
  REQUIRE(kernels.size() == 2);
  CHECK_FALSE(kernels[0].one_by_one);
  CHECK(kernels[1].one_by_one);
}

TEST_CASE("fp32 has no MMA and TF32 adds up in fp32") {
  Resources r = instance("portable-prefill");
  r.variant = "general";
  r.mma_scores = r.mma_values = 0;
  r.dtype = Dtype::fp32;
  CHECK(violated({r}) == Words{"fp32 sums"});
  r.mma.clear();
  CHECK(violated({r}).empty());  // one instance for both loops: no "as mask-only"
  r.dtype = Dtype::tf32;
  CHECK(violated({r}) == Words{"fp32 sums"});
  r.mma = {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"};
  CHECK(violated({r}).empty());
  r.mma = {"mma.sync.aligned.m16n8k8.row.col.f16.tf32.tf32.f16"};
  CHECK(violated({r}) == Words{"fp32 sums"});
}

TEST_CASE("the check of the sums finds every other accumulation and a product that is missing") {
  const Resources masked = instance("portable-mask-only");
  for (const string wrong : {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16",
                             "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f16",
                             "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f32",
                             "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16",
                             "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32"}) {
    CAPTURE(wrong);
    Resources r = masked;
    r.mma = {wrong};
    CHECK(violated({r}) == Words{"fp32 sums"});
    r.mma = {kMma, wrong};
    CHECK(violated({r}) == Words{"fp32 sums"});
  }
  for (int Resources::*count : {&Resources::mma_scores, &Resources::mma_values}) {
    Resources r = masked;
    r.*count = 0;
    CHECK(violated({r}) == Words{"fp32 sums"});
  }
  Resources r = masked;
  r.mma_unknown = 1;
  CHECK(violated({r}) == Words{"fp32 sums"});
  CHECK(check_resources({r})[0].figures.ends_with("64 of P V, 1 of neither"));
}

TEST_CASE("the check of the window finds what it costs") {
  const Resources masked = instance("portable-mask-only");
  const Words wanted{"as mask-only"};
  Resources r = instance("portable-prefill");
  r.smem_bytes += 16;
  CHECK(violated({r, masked}) == wanted);
  r = instance("portable-prefill");
  r.copies.push_back("stmatrix.sync.aligned.m8n8.x4.shared.b16");
  CHECK(violated({r, masked}) == wanted);
  CHECK(check_resources({r, masked})[2].figures.find("only one has stmatrix") != string::npos);
  r = instance("portable-prefill");
  r.copies.pop_back();
  CHECK(violated({r, masked}) == wanted);
  // No partner of the same tile.
  r = instance("portable-prefill");
  CHECK(violated({r}) == wanted);
  r.arch = "sm_90a";
  CHECK(violated({r, masked}) == wanted);
  // Registers and spills are shown and not judged.
  r = instance("portable-prefill");
  r.registers = 255;
  r.spill_stores = 40;
  CHECK(violated({r, masked}).empty());
  CHECK(
      check_resources({r, masked})[2].figures.ends_with("registers 255 and 200, spill 40 and 0 B"));
}

TEST_CASE("a planted fault is not compared with mask-only but its sums are") {
  Resources planted = instance("portable-prefill");
  planted.variant = "top-left";
  CHECK(check_resources({planted}).size() == 1);
  CHECK(violated({planted}).empty());
}

TEST_CASE("the command ends with 1 where a check does not hold") {
  const Resources masked = instance("portable-mask-only");
  Resources r = instance("portable-prefill");
  CHECK(commands::check_kernels({r, masked}).status == 0);
  r.smem_bytes = 1;
  CHECK(commands::check_kernels({r, masked}).status == 1);
}

TEST_CASE("the chapter's tiles beside ours are those that it printed") {
  const auto printed = chapter::read_printed(cli::data_path("chapter/figures.tsv"));
  Words found, expected;
  for (const auto& tile : chapter::compiled_tiles()) {
    const string of = "compiled for sm_90, tile " + std::to_string(tile.BM) + "x" +
                      std::to_string(tile.BN) + ": ";
    expected.insert(expected.end(),
                    {of + "shared bytes " + std::to_string(tile.smem_bytes),
                     of + "wgmma of Q K^T " + tile.scores, of + "wgmma of P V " + tile.values});
  }
  for (const auto& [key, figure] : printed) {
    if (key.second.starts_with("compiled for")) found.push_back(key.second + " " + figure);
  }
  std::sort(found.begin(), found.end());
  std::sort(expected.begin(), expected.end());
  CHECK(found == expected);
}

TEST_CASE("in a build with CUDA kernels every instance is described and every check holds") {
  const std::vector<Resources> instances = kernel_resources();
  if (!instances.empty())
    CHECK(instances.size() >= 10 * kPrefillTiles.size() + 4 * kDecodeTiles.size());
  for (const ResourceCheck& check : check_resources(instances)) {
    CAPTURE(check.check);
    CAPTURE(check.figures);
    CHECK(check.holds);
  }
}
