// SPDX-License-Identifier: GPL-3.0-or-later
// The classes of tokenizers in transformers, and what they know that their files do not say.
#pragma once

#include <array>
#include <string_view>
#include <utility>

namespace relascope::core {

/// A class whose tokenizer is a vocab.json with a merges.txt.
struct PairClass {
    const char* name;
    bool nfc;
    const char* pattern;      ///< pattern of words; null: GPT-2's
    const char *begin, *end;  ///< bos_token and eos_token where no file names them
    const char* other;        ///< another special token, where the vocabulary has it
    bool llama = false;       ///< texts begin with `begin`, and whole words are not merged
};

#define RELASCOPE_WORDS(digits)                                          \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|" digits \
    "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
inline constexpr std::array<PairClass, 4> kPairClasses = {{
    {"GPT2Tokenizer", false, nullptr, "<|endoftext|>", "<|endoftext|>", "<|endoftext|>"},
    {"GPTNeoXTokenizer", true, nullptr, "<|endoftext|>", "<|endoftext|>", "<|padding|>"},
    {"Qwen2Tokenizer", true, RELASCOPE_WORDS("\\p{N}"), nullptr, "<|endoftext|>", "<|endoftext|>"},
    {"Llama 3", false, RELASCOPE_WORDS("\\p{N}{1,3}"), "<|begin_of_text|>", "<|end_of_text|>",
     "<|end_of_text|>", true},
}};
#undef RELASCOPE_WORDS

// The class of the tokenizer by the model type of config.json, for a folder that names no class.
inline constexpr std::array<std::pair<const char*, const char*>, 12> kClassOfModel = {
    {{"gpt2", "GPT2Tokenizer"},
     {"gpt_neo", "GPT2Tokenizer"},
     {"gptj", "GPT2Tokenizer"},
     {"gpt_bigcode", "GPT2Tokenizer"},
     {"opt", "GPT2Tokenizer"},
     {"gpt_neox", "GPTNeoXTokenizer"},
     {"qwen2", "Qwen2Tokenizer"},
     {"qwen2_moe", "Qwen2Tokenizer"},
     {"qwen3", "Qwen2Tokenizer"},
     {"qwen3_moe", "Qwen2Tokenizer"},
     {"llama", "PreTrainedTokenizer"},
     {"mistral", "PreTrainedTokenizer"}}};

// The classes and model types whose vocab.txt is WordPiece's, as BertTokenizer reads it.
inline constexpr std::array<std::string_view, 8> kLineClasses = {
    "BertTokenizer", "DistilBertTokenizer", "ElectraTokenizer", "MobileBertTokenizer",
    "bert",          "distilbert",          "electra",          "mobilebert"};
inline constexpr std::array<std::pair<const char*, const char*>, 5> kBertTokens = {
    {{"unk_token", "[UNK]"},
     {"sep_token", "[SEP]"},
     {"pad_token", "[PAD]"},
     {"cls_token", "[CLS]"},
     {"mask_token", "[MASK]"}}};

// model_type where only `architectures` is there.
inline constexpr std::array<std::pair<const char*, const char*>, 8> kModelOfArchitecture = {
    {{"GPT2LMHeadModel", "gpt2"},
     {"GPTNeoXForCausalLM", "gpt_neox"},
     {"Qwen2ForCausalLM", "qwen2"},
     {"Qwen3ForCausalLM", "qwen3"},
     {"BertForMaskedLM", "bert"},
     {"BertForPreTraining", "bert"},
     {"LlamaForCausalLM", "llama"},
     {"MistralForCausalLM", "mistral"}}};

}  // namespace relascope::core
