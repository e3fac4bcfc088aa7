// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/finite_outputs.h"

#include <cmath>

#include "model/blocks/recording.h"
#include "model/hooks/hooks.h"
#include "types/error.h"

namespace relascope::core {
namespace {

// Whether a point's values may occur in a sound pass. Scores are -infinity in closed cells.
bool isSound(const HookPoint& point, const torch::Tensor& value) {
    if (!value.is_floating_point()) return true;
    const bool closes = point.closed.defined() || point.name.ends_with("scores");
    const auto bad =
        closes ? value.isnan().logical_or(value.isposinf()) : value.isfinite().logical_not();
    return !bad.any().item<bool>();
}

class FirstNotFinite : public Hooks {
public:
    /// Works after the hooks `before`; their kept streams are not used, so that all blocks run.
    explicit FirstNotFinite(Hooks* before) : m_before(before) {}
    bool takes(std::string_view) const override { return true; }
    torch::Tensor at(const HookPoint& point, const torch::Tensor& value) override {
        const auto next = m_before ? m_before->at(point, value) : value;
        if (m_found.empty() && !isSound(point, next)) m_found = point.name;
        return next;
    }
    void setOrigin(std::int64_t position) override {
        if (m_before) m_before->setOrigin(position);
    }
    const std::string& found() const { return m_found; }

private:
    Hooks* m_before;
    std::string m_found;
};

}  // namespace

std::string whyNotFinite(const torch::Tensor& outputs, ModelImpl& model, const ModelInput& input) {
    // Without tensors of the size of the outputs; a sum that is not finite may have overflowed.
    if (std::isfinite(outputs.sum().item<double>()) || outputs.isfinite().all().item<bool>())
        return {};
    FirstNotFinite watch(activeHooks());
    const HookScope scope(&watch);
    const RecordingScope unrecorded(nullptr);  // the maps of the first pass stay
    model.forward(input);
    return "the answers of the model are not finite; " +
           (watch.found().empty()
                ? std::string("its output layer is the first to give such numbers")
                : "the first such numbers are at " + watch.found()) +
           "; check the edits and the weights";
}

torch::Tensor answersOf(ModelImpl& model, const ModelInput& input) {
    auto outputs = model.forward(input);
    if (const auto why = whyNotFinite(outputs, model, input); !why.empty()) throw Error(why);
    return outputs;
}

}  // namespace relascope::core
