// SPDX-License-Identifier: GPL-3.0-or-later
// What the edits of an inspector change: of a probe, and of an evaluation.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <QObject>

#include "app/controllers/looker.h"
#include "app/controllers/subject.h"
#include "types/edit.h"
#include "types/edit_results.h"
#include "widgets/inspector/inspector_view.h"
#include "wire/requests.h"

namespace relascope::app {

using Points = std::shared_ptr<const std::vector<PointInfo>>;

/// The enabled edits in words: "layer 2 relation 3 zero; layer 1 symbols zero".
QString wordsOfList(const EditList& list);

/// Combines the results with and without edits, and lists the maps that differ and the maps that
/// are taken out. `before` may be null.
widgets::Inspected inspectedOf(std::shared_ptr<const ProbeResult> result,
                               std::shared_ptr<const ProbeResult> before, const EditList& list,
                               const std::vector<PointInfo>& points);

/// The effect of a single edit on the answer that is likeliest without edits, as text: "occurs
/// 0.936 → 0.012".
QString effectText(const wire::EffectAlone& effect);

/// The result of an evaluation as rich text: "accuracy 92.9 % → 51.2 %, change −41.7 points [−43.9,
/// −39.5] ...".
QString effectHtml(const EditEffect& effect, const QString& split, const QString& words);

}  // namespace relascope::app
