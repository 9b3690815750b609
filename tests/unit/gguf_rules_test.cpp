// How architectures in GGUF files place their windows, and headers that are refused.
#include "model/gguf/read.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "gguf_model.hpp"
#include "scratch.hpp"

using namespace swa;
using namespace swa::test;

TEST_CASE("the default plans of architectures in GGUF files") {
  CHECK(windowed("gemma2", 5, 8).plan() == "LGLGL");
  CHECK(windowed("cohere2", 6, 8).plan() == "LLLGLL");
  CHECK(windowed("olmo2", 6, 8).plan() == "LLLGLL");
  CHECK(windowed("afmoe", 6, 8).plan() == "LLLGLL");
  CHECK(windowed("exaone-moe", 6, 8).plan() == "LLLGLL");
  CHECK(windowed("exaone4", 64, 8).plan() == repeated("LLLG", 64));
  CHECK(windowed("plamo3", 9, 8).plan() == "LLLLLLLGL");
  CHECK(windowed("laguna", 6, 8).plan() == "GLLLGL");
  CHECK(windowed("smallthinker", 6, 4096).plan() == "GLLLGL");
  CHECK(windowed("phi3", 3, 8).plan() == "LLL");
  for (const char* name :
       {"gemma3", "olmo2", "afmoe", "laguna", "plamo3", "smallthinker", "lfm2", "phi3", "mellum"}) {
    CAPTURE(name);
    CHECK(uniform(name, 4, 2, 64).plan() == "GGGG");
    CHECK(windowed(name, 4, 0).plan() == "GGGG");
  }
  for (const char* name : {"cohere2", "gpt-oss", "gemma3n", "gemma4", "mimo2", "step35",
                           "exaone-moe", "gemma-embedding"}) {
    CAPTURE(name);
    const std::string key = "m.gguf: '" + std::string(name) + ".attention.sliding_window' ";
    CHECK(uniform(name, 4, 2, 64).refusal() == key + "is missing");
    CHECK(windowed(name, 4, 0).refusal() == key + "= 0 is not within 1 .. 2^60");
  }
  CHECK(uniform("gemma2", 2, 2, 64).read().model.layers[0].window == Window::causal(4096));
  CHECK(uniform("exaone4", 64, 2, 64).read().model.layers[0].window == Window::causal(4096));
  CHECK(uniform("exaone4", 30, 2, 64).plan() == repeated("G", 30));
  CHECK(windowed("exaone4", 30, 8).refusal() ==
        "m.gguf: 'exaone4.attention.sliding_window_pattern' is missing");
}

TEST_CASE("a pattern in a GGUF header is a period or a list") {
  const std::string key = "attention.sliding_window_pattern";
  CHECK(windowed("gemma3", 5, 8).add(key, 2u).plan() == "LGLGL");
  CHECK(windowed("gemma3", 5, 8).add(key, 1u).plan() == "GGGGG");
  CHECK(windowed("gemma3", 5, 8).add(key, 0u).plan() == "LLLLL");
  CHECK(windowed("laguna", 5, 8).add(key, 2u).plan() == "GLGLG");
  CHECK(windowed("cohere2moe", 5, 8).add(key, 4u).plan() == "GLLLG");
  CHECK(windowed("mellum", 5, 8).add(key, 4u).plan() == "LLLGL");
  CHECK(windowed("mellum", 3, 8).add(key, flags("GLG")).plan() == "GLG");

  const ConfigReading usual = windowed("olmo2", 4, 8).add(key, flags("LLLG")).read();
  CHECK(usual.warnings.empty());
  const ConfigReading other = windowed("olmo2", 4, 8).add(key, flags("LGLG")).read();
  CHECK(layer_plan(other.model) == "LGLG");
  CHECK(warns(other, "llama.cpp does not read the list olmo2.attention.sliding_window_pattern"));
  CHECK(warns(windowed("exaone4", 4, 8).add(key, flags("LLLG")).read(), "does not read the list"));
  CHECK(warns(windowed("exaone4", 4, 8).add(key, flags("LLLL")).read(), "does not read the list"));

  const std::string complaint = "m.gguf: 'gemma4." + key + "' ";
  CHECK(windowed("gemma4", 4, 8).refusal() == complaint + "is missing");
  CHECK(windowed("gemma4", 4, 8).add(key, 6u).refusal() == complaint + "is not a list of layers");
  CHECK(windowed("gemma4", 4, 8).add(key, flags("LLG")).refusal() ==
        complaint + "has 3 entries for 4 layers");
  CHECK(windowed("gemma4", 2, 8).add(key, std::vector{1, 2}).refusal() ==
        complaint + "= 2 is not within 0 .. 1");
}

TEST_CASE("windows that are chunks or reach to both sides") {
  const ConfigReading llama4 = uniform("llama4", 6, 8, 128).read();
  CHECK(layer_plan(llama4.model) == "CCCGCC");
  CHECK(llama4.model.layers[0].window == Window::chunked(8192));
  CHECK(warns(llama4, "chunks have 8192 tokens in llama.cpp"));
  CHECK(windowed("llama4", 6, 0).plan() == "GGGGGG");

  const Model bert = windowed("modern-bert", 4, 128).read().model;
  CHECK(layer_plan(bert) == "GLLG");
  CHECK(bert.layers[1].window == Window::band(Side::of(64), Side::of(64)));
  CHECK(bert.encoder);
  const Model gemma = windowed("gemma-embedding", 6, 512).read().model;
  CHECK(layer_plan(gemma) == "LLLLLG");
  CHECK(gemma.layers[0].window == Window::band(Side::of(256), Side::of(256)));
  CHECK(gemma.encoder);
}

TEST_CASE("what llama.cpp and the header leave out is said") {
  const ConfigReading llama = windowed("llama", 3, 4096).read();
  CHECK(layer_plan(llama.model) == "GGG");
  CHECK(warns(llama, "Mistral models are stored as llama too"));
  const auto is_window = [](const Ignored& ignored) {
    return ignored.key == "llama.attention.sliding_window" && ignored.value == "4096";
  };
  CHECK(std::count_if(llama.ignored.begin(), llama.ignored.end(), is_window) == 1);

  CHECK(warns(windowed("phi3", 3, 2047).read(), "its issue 13676"));
  CHECK(uniform("phi3", 3, 2, 64).read().warnings.empty());
  CHECK(warns(uniform("starcoder2", 3, 2, 64).read(), "not stored in GGUF files"));
  CHECK(warns(windowed("smallthinker", 4, 512).read(), "with a window of 4096"));
  CHECK(windowed("smallthinker", 4, 4096).read().warnings.empty());
  CHECK(warns(windowed("gemma3", 6, 131'072).read(),
              "a window of 131072 is not below the 131072 positions"));
}

TEST_CASE("an architecture that is not known is read where no key is its own") {
  const ConfigReading reading = uniform("novel", 3, 2, 64).read();
  CHECK(layer_plan(reading.model) == "GGG");
  CHECK(warns(reading, "the architecture 'novel' is not known"));
  CHECK_FALSE(warns(uniform("qwen2", 3, 2, 64).read(), "not known"));
  CHECK_FALSE(reading.model.encoder);
  for (const char* key : {"attention.sliding_window", "attention.kv_lora_rank", "ssm.state_size",
                          "attention.indexer.top_k", "full_attention_interval", "num_loops"}) {
    CHECK(uniform("novel", 3, 2, 64).add(key, 8u).refusal() ==
          "m.gguf: 'novel." + std::string(key) +
              "' decides what is cached, and how it does in the architecture 'novel' is not known");
  }
}

TEST_CASE("GGUF files that describe no model are refused") {
  const auto refused = [](const Gguf& header) {
    const std::string bytes = header.bytes();
    return refusal(
        [&] { model_from_gguf(read_gguf_header(Source("m.gguf", bytes_of(bytes))), "m.gguf"); });
  };
  const std::string nameless = "m.gguf: 'general.architecture' is missing or no name";
  CHECK(refused(Gguf()) == nameless);
  CHECK(refused(Gguf("a b")) == nameless);
  CHECK(refused(Gguf(std::string(65, 'a'))) == nameless);
  CHECK(refused(Gguf().add("general.architecture", 5u)) ==
        "m.gguf: 'general.architecture' is no short string");
  CHECK(refused(Gguf("clip")) == "m.gguf: that holds 'clip', not a language model");
  CHECK(refused(Gguf("llama").add("general.type", std::string("adapter"))) ==
        "m.gguf: that holds 'adapter', not a language model");
  CHECK(refused(Gguf().add("split.no", Gguf::u16, little_endian(2, 2))) ==
        "m.gguf: that is a later part of a model in several files");
  CHECK(refused(Gguf("llama").add("split.no", Gguf::u16, little_endian(0, 2))) ==
        "m.gguf: 'llama.block_count' is missing");
}

TEST_CASE("figures of a GGUF header that cannot be are refused") {
  const auto refused = [](const GgufModel& model) { return model.refusal(); };
  const auto llama = [] { return GgufModel("llama").add("block_count", 2u); };
  CHECK(refused(GgufModel("llama").add("block_count", 1'000'000'000u)) ==
        "m.gguf: 'llama.block_count' = 1000000000 is not within 1 .. 10000");
  CHECK(refused(GgufModel("llama").add("block_count", 0u)) ==
        "m.gguf: 'llama.block_count' = 0 is not within 1 .. 10000");
  CHECK(refused(GgufModel("llama").add("block_count", 2.f)) ==
        "m.gguf: 'llama.block_count' = 2.0 is not a whole number");
  CHECK(refused(GgufModel("llama").whole("block_count", std::string(8, '\xff'))) ==
        "m.gguf: 'llama.block_count' = 18446744073709551615 is not a whole number below 2^63");
  CHECK(refused(GgufModel("llama").add("block_count", std::vector<std::string>(3, "x"))) ==
        "m.gguf: 'llama.block_count' = 'array of 3 string' is not a whole number");
  CHECK(refused(llama().add("nextn_predict_layers", 2u)) ==
        "m.gguf: 'llama.nextn_predict_layers' = 2 is not within 0 .. 1");
  CHECK(refused(llama()) == "m.gguf: 'llama.attention.head_count' is missing");
  CHECK(refused(llama().add("attention.head_count", 1'000'001u)) ==
        "m.gguf: 'llama.attention.head_count' = 1000001 is not within 0 .. 1000000");
  CHECK(refused(llama().add("attention.head_count_kv", std::vector{4, -1})) ==
        "m.gguf: 'llama.attention.head_count_kv' = -1 is not within 0 .. 1000000");
  const std::vector<std::int32_t> longest(20'000, 1);
  CHECK(refused(llama().add("attention.head_count_kv", longest)) ==
        "m.gguf: 'llama.attention.head_count_kv' = 'array of 20000 int32' is not a whole number");
  CHECK(refused(llama().add("attention.head_count", 3u)) ==
        "m.gguf: 'llama.attention.key_length' is missing");
  CHECK(refused(llama().add("attention.head_count", 3u).add("embedding_length", 100u)) ==
        "m.gguf: 'llama.attention.key_length' is missing, and llama.embedding_length is no "
        "multiple of one llama.attention.head_count");
  CHECK(refused(llama().add("attention.head_count", std::vector{2, 4}).add("embedding_length", 64u))
            .find("is no multiple of one") != std::string::npos);
  CHECK(refused(llama()
                    .add("attention.head_count", 0u)
                    .add("attention.head_count_kv", 1u)
                    .add("embedding_length", 64u))
            .find("is no multiple of one") != std::string::npos);
  CHECK(refused(uniform("llama", 2, 2, 64).add("rope.freq_base", -1.f)) ==
        "m.gguf: 'llama.rope.freq_base' = -1.0 is not a finite number above 0");
  CHECK(refused(uniform("llama", 2, 2, 64).add("attention.causal", 1u)) ==
        "m.gguf: 'llama.attention.causal' = 1 is neither true nor false");
  CHECK(refused(windowed("gemma3", 2, 8).add("attention.key_length_swa", 0u)) ==
        "m.gguf: 'gemma3.attention.key_length_swa' = 0 is not within 1 .. 1000000");
  const std::string far = little_endian((std::uint64_t{1} << 60) + 1, 8);
  CHECK(refused(uniform("gemma3", 2, 2, 64).whole("attention.sliding_window", far)) ==
        "m.gguf: 'gemma3.attention.sliding_window' = 1152921504606846977 is not within 0 .. 2^60");
}

TEST_CASE("a GGUF file is read by its name") {
  const Scratch scratch;
  const std::string bytes = Gguf("qwen2")
                                .add("general.name", std::string("Qwen 2"))
                                .add("qwen2.block_count", 2u)
                                .add("qwen2.attention.head_count", 2u)
                                .add("qwen2.embedding_length", 8u)
                                .bytes();
  const Model model = read_gguf(scratch.write("My model\u00e4 Q4_0.gguf", bytes)).model;
  CHECK(model.id == "My-model---Q4_0");
  CHECK(model.title == "Qwen 2");
  CHECK(model.layers == std::vector(2, Layer{Window::global(), 2, 4, 4}));
  CHECK(read_gguf(scratch.write("-m.gguf", bytes)).model.id == "m");
  CHECK(read_gguf(scratch.write("...gguf", bytes)).model.id == "model");
  CHECK(read_gguf(scratch.write(std::string(200, 'm') + ".gguf", bytes)).model.id ==
        std::string(100, 'm'));
}
