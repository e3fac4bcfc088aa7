// Texts that somebody typed, as the inspector looks at them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "text/tokenizer.h"
#include "types/generate_options.h"
#include "types/model_options.h"
#include "types/relation_map.h"

namespace relascope {

inline constexpr const char* kTyped = "typed text";  ///< ProbeSample::origin of one's own text

/// Maps of a text grow with the square of its length. The most tokens that can be looked at: the
/// model's context, or what fits into `bytes` of maps.
std::int64_t longestLook(const ModelOptions& model, double bytes);
/// Maps of the Workbench, made some times a second; and of a model that is opened to look inside.
inline constexpr double kLiveMaps = 128.0 * 1024 * 1024, kOpenedMaps = 1536.0 * 1024 * 1024;

struct TypedText {
    ProbeSample sample;
    std::string note;  ///< that it was shortened, in words; else empty
};
/// The first `longest` tokens of a text. Throws OptionError when there is none.
TypedText typedText(const Tokenizer& tokenizer, const std::string& text, const ModelOptions& model,
                    std::int64_t longest);
/// Tokens that are known already.
ProbeSample tokenSample(const Tokenizer* tokenizer, std::vector<std::int64_t> tokens,
                        const std::string& origin);
/// The first tokens of a sample; an image stays as it is.
void shorten(ProbeSample& sample, std::int64_t longest);

/// The beginning of a text file, as much as a model may read. Throws FileError where it is none.
std::string beginningOfText(const std::string& path);

/// The likeliest next tokens of a probe of a text.
std::vector<TokenChoice> nextTokens(const ProbeResult& result);

}  // namespace relascope
