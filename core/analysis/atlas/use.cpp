// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/atlas/use.h"

#include <limits>

#include "analysis/pairs/claims.h"

namespace relascope::core {
namespace {

constexpr double kNoUse = std::numeric_limits<double>::quiet_NaN();

void nameUses(RelationAtlas& atlas, const AblationTable& measured,
              const std::vector<PairMap>& maps) {
    auto table = measured;
    table.untrained = atlas.untrainedScores;
    const auto claims = useClaims(table);
    atlas.guard =
        claims.better ? std::string() : noBetterText(table.metric, table.base, table.untrained);
    for (std::size_t m = 0; m < maps.size(); ++m)
        for (std::size_t k = 0; k < table.rows.size(); ++k) {
            const auto& row = table.rows[k];
            if (row.edit != maps[m].edit && row.part != maps[m].name) continue;
            const auto& claim = claims.rows[k];
            auto& relation = atlas.relations[m];
            relation.use = useWord(claim);
            if (claim.together)
                relation.use =
                    std::string(claim.use == PartUse::NotUsed ? "needed only" : "needed") +
                    " together with the other" +
                    std::string(maps[m].head ? " attention of " : "s of ") + maps[m].layer;
            break;
        }
}

}  // namespace

void takeUses(RelationAtlas& atlas, const AblationTable& table, const std::vector<PairMap>& maps) {
    const auto rowOf = [&](const Edit& edit, const std::string& name) -> const AblationRow* {
        for (const auto& row : table.rows)
            if (row.edit == edit || row.part == name) return &row;
        return nullptr;
    };
    for (std::size_t m = 0; m < maps.size(); ++m) {
        const auto& map = maps[m];
        Edit whole;
        whole.point = map.group.empty() ? map.point : map.group;
        const auto *alone = rowOf(map.edit, map.name), *group = rowOf(whole, {});
        if (!alone && !group) continue;
        for (const auto& way : (alone ? alone : group)->ways) {
            RelationAtlas::Use use;
            use.how = editOpName(way.how);
            use.change = use.low = use.high = kNoUse;
            if (alone)
                use.change = way.change.change, use.low = way.change.low,
                use.high = way.change.high;
            use.groupChange = use.groupLow = use.groupHigh = kNoUse;
            if (group)
                for (const auto& other : group->ways)
                    if (other.how == way.how) {
                        use.groupChange = other.change.change;
                        use.groupLow = other.change.low, use.groupHigh = other.change.high;
                    }
            atlas.relations[m].uses.push_back(std::move(use));
        }
    }
    atlas.metric = table.metric;
    atlas.base = table.base;
    atlas.usedExamples = table.examples;
    nameUses(atlas, table, maps);
}

void resumeFrom(RelationAtlas& atlas, const RelationAtlas& known) {
    if (known.basis != atlas.basis || known.examples != atlas.examples ||
        known.relations.size() != atlas.relations.size() ||
        known.attributes.size() != atlas.attributes.size())
        return;
    for (std::size_t m = 0; m < atlas.relations.size(); ++m) {
        const auto& from = known.relations[m];
        auto& to = atlas.relations[m];
        if (from.name != to.name || from.values.mean != to.values.mean) return;
    }
    for (std::size_t m = 0; m < atlas.relations.size(); ++m) {
        auto& to = atlas.relations[m];
        const auto& from = known.relations[m];
        to.fits = from.fits, to.asGood = from.asGood, to.beatMembers = from.beatMembers;
        to.untrainedFarthest = from.untrainedFarthest, to.uses = from.uses, to.use = from.use;
    }
    atlas.permutations = known.permutations;
    atlas.untrainedModels = known.untrainedModels;
    atlas.untrainedFits = known.untrainedFits;
    atlas.untrainedScores = known.untrainedScores;
    atlas.initial = known.initial;
    atlas.metric = known.metric, atlas.base = known.base, atlas.guard = known.guard;
    atlas.usedExamples = known.usedExamples;
    atlas.steps = known.steps;
}

}  // namespace relascope::core
