// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of a score of a relation that was fitted to a stream of the model.
#include <torch/utils.h>

#include <algorithm>
#include <filesystem>

#include "analysis/parts/score_parts.h"
#include "interventions/projection.h"
#include "types/error.h"

namespace relascope::core {

ScoreParts::ScoreParts(const ModelStreams& streams, const RelationFile& relation, std::string name)
    : m_streams(streams), m_fittedBias(relation.bias), m_name(std::move(name)) {
    const auto refuse = [&](const std::string& why) {
        throw OptionError("relation", "'" + m_name + "' is of " + relation.point + ", " + why);
    };
    if (relation.form == "distance")
        refuse("and a distance is also made of pairs of parts of one object; fit another form");
    std::optional<StreamPlace> place;
    for (std::size_t s = 0; s < streams.stacks().size(); ++s) {
        const auto& blocks = streams.stacks()[s].blocks;
        for (std::size_t b = 0; b < blocks.size(); ++b) {
            const StreamPlace here{static_cast<int>(s), b, 0};
            if (relation.point == blocks[b].hook + ".hook_resid_pre") place = here;
            // Where an embedding is mixed in before each block, the stream behind one is none of
            // the next.
            const bool last = b + 1 == blocks.size();
            if (relation.point == blocks[b].hook + ".hook_resid_post" &&
                (last || streams.mixing().empty()))
                place = StreamPlace{here.stack, b + 1, 0};
        }
    }
    if (!place) refuse("which is no stream of parts of this model");
    m_map.stack = place->stack;
    m_map.layer = std::max(0, static_cast<int>(place->layer) - 1);
    m_firstPlace = relation.firstTokens;
    const auto fitted = streamRelationOf(relation);
    if (const auto width = streams.options().number("d_model");
        relation.width != static_cast<std::int64_t>(width))
        refuse("with " + std::to_string(relation.width) + " numbers; the model's has " +
               std::to_string(static_cast<std::int64_t>(width)));
    for (auto [side, weight] : {std::pair{&m_i, fitted.a}, {&m_j, fitted.b}}) {
        side->places = {*place};
        side->weight = weight;
        side->centre = -torch::matmul(fitted.mean, weight.t());
    }
}

torch::Tensor ScoreParts::centre(ScoreSide of, const torch::Tensor& objects) const {
    const auto& side = this->of(of);
    if (!side.centre.defined()) return {};
    if (!objects.defined()) return side.centre.mean(0, true).unsqueeze(0);
    const auto places = side.centre.size(0);
    const auto at = objects - m_firstPlace;
    const auto first = at.min().item<std::int64_t>(), last = at.max().item<std::int64_t>();
    if (first < 0 || (places > 1 && last >= places))
        throw OptionError("relation",
                          "'" + m_name + "' has a mean of each of " + std::to_string(places) +
                              " objects, from " + std::to_string(m_firstPlace) +
                              " on, and has no mean of object " +
                              std::to_string((first < 0 ? first : last) + m_firstPlace) +
                              "; ask about those, or fit one to this model");
    return (places == 1 ? side.centre.expand({at.size(0), -1}) : side.centre.index_select(0, at))
        .unsqueeze(0);
}

ScoreParts scorePartsOf(const ModelStreams& streams, const std::string& relation,
                        const std::function<ScoreMap()>& map) {
    if (relation.empty()) return ScoreParts(streams, map());
    const auto file = relationFileOf(relation);
    const auto read = [&] {
        try {
            return readRelation(file);
        } catch (const FileError& error) {
            throw OptionError("relation", error.what());
        }
    };
    return ScoreParts(streams, read(), std::filesystem::path(file).stem().string());
}

}  // namespace relascope::core
