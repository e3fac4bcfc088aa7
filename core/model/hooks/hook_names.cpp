// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/hooks/hook_names.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <sstream>
#include <vector>

namespace relascope::core {
namespace {

bool isNumber(const std::string& part) {
    return !part.empty() && std::all_of(part.begin(), part.end(),
                                        [](unsigned char c) { return std::isdigit(c) != 0; });
}

}  // namespace

std::string hookName(const std::string& path, bool pairs) {
    static const std::map<std::string, std::string> attention = {
        {"self_attention", "attn"}, {"relational_attention", "rel"},
        {"self_attn", "attn"},      {"cross_attn", "cross_attn"},
        {"rel_attn", "rca"},        {"rca", "rca"},
        {"ff_block", "mlp"}};
    std::vector<std::string> parts;
    std::istringstream text(path);
    for (std::string part; std::getline(text, part, '.');) parts.push_back(part);

    std::string name;
    const auto append = [&name](const std::string& part) {
        name += name.empty() ? part : "." + part;
    };
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto& part = parts[i];
        const bool numbered = i + 1 < parts.size() && isNumber(parts[i + 1]);
        if (part == "blocks" || (part == "encoder_blocks" && !pairs))
            append("blocks");
        else if (part == "encoder_blocks")
            append("encoder");
        else if (part == "decoder_blocks")
            append("decoder");
        else if (part == "abstractors")
            append("abstractor");
        else if (part == "abstractor_layers")
            continue;  // the layers of "abstractor"
        else if (part == "layers") {
            // A bare list of layers belongs to an Abstractor for sets of objects; before other
            // parts it is the whole model, or the layers of an Abstractor named already.
            if (name.empty() && numbered) append("abstractor");
        } else if (const auto found = attention.find(part); found != attention.end())
            append(found->second);
        else if (part != "dual_attn" && part != "query_attn")
            append(part);
    }
    return name;
}

}  // namespace relascope::core
