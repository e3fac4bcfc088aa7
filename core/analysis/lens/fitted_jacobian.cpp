// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/lens/fitted_jacobian.h"

#include <algorithm>
#include <filesystem>

#include "analysis/open_model.h"
#include "interventions/editor.h"
#include "model/public/family.h"
#include "probe/probe_memory.h"
#include "types/error.h"

namespace relascope::core {
namespace {

JacobianSize sizeOf(OpenedModel& model, const ProbeSample& sample) {
    JacobianSize size;
    model.withInput(sample, {}, [&](ModelImpl& m, const ModelInput& input) {
        const auto stream = answerStream(m, model.options());
        PointReader reader({stream.points.back()});
        readPass(m, input, reader);
        size = {stream.points.size() - 1, reader.tensors().at(stream.points.back()).size(-1)};
    });
    return size;
}

void requireTextModel(const ModelOptions& options) {
    if (options.find<TokenInput>()) return;
    throw OptionError("fit_jacobian", "fits on texts, and " + modelTitle(options) +
                                          " reads none; give matrices with --jacobian");
}

/// Nothing is kept where it cannot be: a full disk, a folder of another user.
void keep(const JacobianLens& lens, const std::string& path) {
    try {
        writeJacobians(lens, path);
    } catch (const FileError&) {
    }
}

/// The lens that is kept there; nullopt where there is none that can be read.
std::optional<JacobianLens> found(const std::string& path, const JacobianSize& size) {
    std::error_code none;
    if (path.empty() || !std::filesystem::exists(path, none)) return {};
    try {
        return readJacobians(path, size);
    } catch (const FileError&) {
        return {};
    }
}

JacobianLens fitted(OpenedModel& model, const DatasetPtr& texts, std::int64_t count,
                    const std::stop_token& stop, const ProgressCallback& progress) {
    const JacobianFit how;
    std::optional<AnswerStream> stream;
    std::optional<JacobianSums> sums;
    for (std::int64_t text = 0; text < count; ++text) {
        auto sample = texts->sample(text);
        shorten(sample, how.tokens);
        const auto done = [&](double fraction) {
            const auto all = static_cast<double>(count);
            return !progress || progress((static_cast<double>(text) + fraction) / all);
        };
        model.withInput(sample, {}, [&](ModelImpl& m, const ModelInput& input) {
            if (!sums) stream = answerStream(m, model.options()), sums.emplace(m, *stream, how);
            sums->add(input.x, stop, done);
        });
    }
    auto lens = sums->mean();
    lens.weights = model.checksum();
    return lens;
}

}  // namespace

std::string keptJacobian(const std::string& run, std::int64_t step) {
    return run + "/jacobian/step-" + std::to_string(step) + ".safetensors";
}

std::optional<JacobianLens> jacobianOf(AnalysisSubject& subject, const LensChoice& choice,
                                       const std::stop_token& stop,
                                       const ProgressCallback& progress) {
    auto& model = *subject.model;
    const auto wanted = choice.fitJacobian;
    for (const auto& [name, given] :
         {std::pair("fit_text", !choice.fitText.empty()), std::pair("save", !choice.save.empty())})
        if (given && wanted == 0)
            throw OptionError(name, "is for a lens that is fitted; give --fit-jacobian N, too");
    if (wanted == 0 && choice.jacobian.empty()) return {};
    if (wanted > 0 && !choice.jacobian.empty())
        throw OptionError("fit_jacobian",
                          "fits a lens, and --jacobian names one; give one of both");
    const auto size = sizeOf(model, sampleOf(subject));
    if (wanted == 0) return readJacobians(choice.jacobian, size);
    requireTextModel(model.options());
    const auto kept = subject.run.empty() || !choice.fitText.empty()
                          ? std::string()
                          : keptJacobian(subject.run, model.step());
    auto lens = found(kept, size);
    if (lens && lens->weights != model.checksum()) lens.reset();
    const auto known = [&](std::int64_t count) {
        if (!lens || lens->texts != count) return false;
        if (!choice.save.empty()) writeJacobians(*lens, choice.save);
        return true;
    };
    if (known(wanted)) return lens;
    if (subject.run.empty() && choice.fitText.empty())
        throw OptionError("fit_jacobian",
                          "a checkpoint has no text of its own; name one with --fit-text FILE");
    const auto texts = openEvaluationText(
        model, {subject.run, choice.fitText, choice.fitText.empty() ? "train" : "", wanted}, {},
        stop);
    if (texts->size() == 0)
        throw OptionError("fit_text", "the text has no window of " +
                                          std::to_string(model.options().tokens()) +
                                          " tokens; give a longer one");
    const auto count = std::min(wanted, texts->size());
    if (known(count)) return lens;  // of a text with fewer windows than were wanted
    lens = fitted(model, texts, count, stop, progress);
    if (!choice.save.empty()) writeJacobians(*lens, choice.save);
    if (!kept.empty()) keep(*lens, kept);
    return lens;
}

}  // namespace relascope::core
