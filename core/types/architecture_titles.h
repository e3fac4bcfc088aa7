// What the screens call the architectures. Files and the command line keep the published names.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace relascope {

/// "Vision Dual Attention Transformer" for "VisionDualAttnTransformer"; an unknown name as it is.
inline std::string architectureTitle(std::string_view name) {
    constexpr std::pair<std::string_view, std::string_view> titles[] = {
        {"VisionDualAttnTransformer", "Vision Dual Attention Transformer"},
        {"VisionTransformer", "Vision Transformer"},
        {"AbstractorModel", "Abstractor for images"},
        {"CoRelNet", "CoRelNet, linear"},
        {"CoRelNetSoftmax", "CoRelNet"},
        {"PrediNet", "PrediNet"},
        {"DualAttnTransformerLM", "Dual Attention Transformer LM"},
        {"TransformerLM", "Transformer LM"},
        {"Seq2SeqDualAttnTransformer", "Dual Attention Transformer, seq2seq"},
        {"Seq2SeqTransformer", "Transformer, seq2seq"},
        {"Seq2SeqAbstractor", "Abstractor, seq2seq"},
        {"MessagePassingAbstractor", "Message-passing Abstractor"},
        {"ObjectAbstractor", "Abstractor over objects"},
        {"ObjectCoRelNet", "CoRelNet over objects"},
        {"ObjectPrediNet", "PrediNet over objects"},
        {"ObjectTransformer", "Transformer over objects"},
        {"RelationalHead", "Single relational attention head"},
        {"SensoryHead", "Single sensory attention head"},
        {"RcaHead", "Single relational cross-attention head"},
        {"InnerProductRelation", "Inner-product relation"},
        {"RobustRegression", "Robust regression"},
        {"ObjectMLP", "MLP over objects"},
        {"SymbolicMLP", "Symbolic MLP"},
        {"PairRelations", "Relations of pairs"},
        {"FixedRelationAbstractor", "Abstractor with fixed relations"}};
    for (const auto& [key, title] : titles)
        if (key == name) return std::string(title);
    return std::string(name);
}

}  // namespace relascope
