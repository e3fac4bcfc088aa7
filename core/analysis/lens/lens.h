// SPDX-License-Identifier: GPL-3.0-or-later
// The logit lens (nostalgebraist 2020, models.md section 7): the output layer applied to the
// residual stream before and after every layer, as if the later layers added nothing. Does not
// include torch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/run_analysis.h"
#include "types/answer.h"
#include "types/model_options.h"

namespace relascope {

struct LensOptions {
    std::int64_t top = 5;               ///< how many answers a cell has
    std::vector<std::int64_t> answers;  ///< further answers, with a probability in every cell
    std::int64_t position = kEvery;     ///< only this position; negative: from the end

    static constexpr std::int64_t kEvery = INT64_MIN;
    bool operator==(const LensOptions&) const = default;
};

/// A class or a token.
struct LensAnswer {
    std::int64_t id = -1;
    std::string name;  ///< the class's name or the token's text; otherwise the id
    double logit = 0.0, probability = 0.0;
};

/// The answers that the stream at one position gives after one layer.
struct LensCell {
    std::vector<LensAnswer> top;    ///< most likely first
    std::vector<LensAnswer> asked;  ///< answers of LensOptions::answers, in order
    double probability = 0.0;       ///< probability of the model's own answer at the position
    std::int64_t rank = 0;          ///< rank of the model's own answer, from 1
    double entropy = 0.0;           ///< nats
};

struct LensResult {
    std::vector<std::string> rows;  ///< "embedding", "layer 1", "layer 1 J" (Jacobian lens), ...
    bool whole = false;  ///< one answer for the whole input: a single column without a position
    std::vector<std::int64_t> positions;  ///< position of each column
    std::vector<std::string> inputs;      ///< tokens or elements at the positions, as text
    std::vector<LensAnswer> answers;      ///< the model's own, for each column
    std::vector<LensCell> cells;          ///< rows x columns

    std::size_t columns() const { return answers.size(); }
    const LensCell& cell(std::size_t row, std::size_t column) const {
        return cells.at(row * columns() + column);
    }
};

}  // namespace relascope

namespace relascope::core {

class AnswerNames;
struct JacobianLens;  // jacobian.h
struct ModelImpl;
struct ModelInput;

/// The lens on an input of one example. Names of answers and inputs are left empty. `jacobian`: the
/// streams it has matrices for have a second row, of what they are behind them. Throws OptionError
/// for a model without such a stream, and for a position or an answer that is not there.
LensResult logitLens(ModelImpl& model, const ModelOptions& options, const ModelInput& input,
                     const LensOptions& what = {}, const JacobianLens* jacobian = nullptr);
/// The lens on the subject's input, with its edits in force and all names. Throws as logitLens(),
/// OptionError if the sample does not fit the model.
LensResult lensOf(AnalysisSubject& subject, const LensOptions& what,
                  const JacobianLens* jacobian = nullptr);
/// Enters the name of an answer that there is.
void nameAnswer(LensAnswer& answer, const AnswerNames& names);

/// The options of the analysis, as words.
struct LensChoice {
    std::int64_t top = LensOptions().top, position = LensOptions::kEvery;
    std::vector<std::string> answers;
    std::string jacobian;          ///< a file of matrices
    std::int64_t fitJacobian = 0;  ///< on so many texts
    std::string fitText;           ///< a file; empty: the text of the run
    std::string save;              ///< a file for what was fitted
};

/// The lens as an answer with the tables "cells" (the answers of each cell), "answers" (the model's
/// own) and "layers" (their names); see analysis/lens/table.h.
Answer answerOf(const LensResult& result);
const FieldTable<LensChoice>& lensFields();

}  // namespace relascope::core
