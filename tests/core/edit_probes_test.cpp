// SPDX-License-Identifier: GPL-3.0-or-later
// Probes with edits that begin at the first edited block, against probes of the whole model.
#include "interventions/edit_probes.h"

#include <torch/utils.h>

#include <gtest/gtest.h>

#include "interventions/edited_run.h"
#include "interventions/map_edits.h"
#include "model/model.h"
#include "probe/probe.h"
#include "support/rooms.h"
#include "support/zoo.h"
#include "types/error.h"

namespace relascope {
namespace {

class EveryModelProbed : public testing::TestWithParam<std::pair<std::string, ModelOptions>> {};

ProbeResult wholeProbe(ModelImpl& model, const ModelOptions& options, const ProbeSample& sample,
                       const EditList& list) {
    const torch::NoGradGuard noGrad;
    Editor editor(list);
    takeValues(editor, model, inputOf(sample, options));
    const HookScope scope(&editor);
    return probeModel(model, options, sample, 3, {});
}

void expectSameProbe(const ProbeResult& a, const ProbeResult& b, const std::string& what) {
    SCOPED_TRACE(what);
    ASSERT_EQ(a.maps.size(), b.maps.size());
    ASSERT_EQ(a.probabilities.size(), b.probabilities.size());
    for (std::size_t k = 0; k < a.probabilities.size(); ++k)
        EXPECT_NEAR(a.probabilities[k], b.probabilities[k], 1e-6);
    for (std::size_t k = 0; k < a.maps.size(); ++k) {
        const auto &x = a.maps[k], &y = b.maps[k];
        ASSERT_EQ(x.kind, y.kind);
        ASSERT_EQ(x.layer, y.layer);
        ASSERT_EQ(x.index, y.index);
        const auto v = x.all(), w = y.all();
        ASSERT_EQ(v.size(), w.size());
        for (std::size_t i = 0; i < v.size(); ++i) {
            const bool closed = !std::isfinite(v[i]) && !std::isfinite(w[i]);
            ASSERT_NEAR(closed ? 0.0F : v[i], closed ? 0.0F : w[i], 1e-5)
                << mapKindName(x.kind) << " " << x.layer;
        }
    }
}

TEST_P(EveryModelProbed, BeginningAtTheFirstEditedBlockChangesNothing) {
    const auto& options = GetParam().second;
    torch::manual_seed(5);
    auto model = makeModel(options);
    model->eval();
    const auto sample = randomSample(options, 7), other = randomSample(options, 8);
    EditProbes probes(*model, options);
    const auto points = core::pointsOf(*model, inputOf(sample, options));
    const auto plain = probes.plain({}, sample, 3, {}, {});
    expectSameProbe(plain, wholeProbe(*model, options, sample, {}), "without edits");
    for (const auto& map : plain.maps) {
        EditList list;
        try {
            const auto& layer = plain.layers.at(static_cast<std::size_t>(map.layer)).name;
            const auto target =
                core::targetOf({map.kind, layer, map.index, map.rows, map.columns}, points);
            list.edits = {core::partEdit(target, EditOp::Scale, 0.5)};
        } catch (const OptionError&) {
            continue;  // without a hook point
        }
        const auto what = std::string(mapKindName(map.kind)) + std::to_string(map.layer);
        expectSameProbe(probes.edited({list, {}}, sample, 3, {}, {}, false),
                        wholeProbe(*model, options, sample, list), what);
        // Of another sample nothing is kept.
        expectSameProbe(probes.edited({list, {}}, other, 3, {}, {}, false),
                        wholeProbe(*model, options, other, list), what + " of another sample");
    }
}

INSTANTIATE_TEST_SUITE_P(Zoo, EveryModelProbed, testing::ValuesIn(smallModels()),
                         [](const auto& info) {
                             std::string name = info.param.first;
                             for (auto& c : name)
                                 if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
                             return name + "_" + std::to_string(info.index);
                         });

}  // namespace
}  // namespace relascope
