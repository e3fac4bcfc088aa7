// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/controllers/inspector_edits.h"

#include <QFileInfo>
#include <algorithm>
#include <utility>

#include "app/controllers/job_queue.h"
#include "app/controllers/step.h"
#include "interventions/edit_json.h"
#include "interventions/edit_values.h"
#include "interventions/edit_words.h"
#include "types/block_options.h"
#include "types/error.h"

namespace relascope::app {
namespace {

const std::string kSecond = "B";

QString wordsOf(const Edit& edit) {
    return QString::fromStdString(core::wordsOf(edit));
}

/// The text of a step that adds edits: "Edit layer 2 relation 3 zero", or "Edit layer 2 relation 3
/// zero and 2 more".
QString stepText(const std::vector<Edit>& edits) {
    const QString first = edits.empty() ? QString() : wordsOf(edits.front());
    return edits.size() > 1 ? QStringLiteral("Edit %1 and %2 more").arg(first).arg(edits.size() - 1)
                            : QStringLiteral("Edit %1").arg(first);
}

}  // namespace

InspectorEdits::InspectorEdits(QUndoStack& history, JobQueue& disk, QObject* parent)
    : QObject(parent), m_history(history), m_disk(disk) {}

void InspectorEdits::setPoints(const Points& points) {
    if (points == m_points) return;
    m_points = points;
    Q_EMIT stateChanged();
}

void InspectorEdits::setOwner(const QString& run) {
    if (run == m_owner) return;
    endDrag(false);
    m_owned[std::exchange(m_owner, run)] = {m_list, m_model, m_generation};
    auto& next = m_owned[run];
    if (next.generation == 0) next.generation = ++m_lastGeneration;
    if (!next.model || !m_model || !(*next.model == *m_model)) m_points.reset();
    m_model = next.model;
    const auto* block = m_model ? m_model->find<BlockOptions>() : nullptr;
    m_symmetric = block && block->symmetric_rels;
    m_generation = next.generation;
    m_secondName.clear();
    set(next.list);
    m_means.clear();
    Q_EMIT stateChanged();
}

void InspectorEdits::setModel(const std::optional<ModelOptions>& model, const QString& name) {
    const bool same = model && m_model && *model == *m_model;
    const bool renamed = std::exchange(m_list.model, name.toStdString()) != name.toStdString();
    if (same) {
        // The edits fit this model, too; what they did was measured on another one.
        if (renamed && !m_effects.isEmpty()) {
            m_effects.clear();
            Q_EMIT stateChanged();
        }
        return;
    }
    m_model = model;
    m_points.reset();
    const auto* block = model ? model->find<BlockOptions>() : nullptr;
    m_symmetric = block && block->symmetric_rels;
    m_generation = ++m_lastGeneration;
    m_dragged.reset();
    m_secondName.clear();
    const bool any = !m_list.edits.empty();
    EditList none;
    none.model = name.toStdString();
    m_list = none;
    m_effects.clear();
    m_means.clear();
    m_problem.clear();
    if (any) Q_EMIT changed();
    Q_EMIT stateChanged();
}

void InspectorEdits::setBlocked(const QString& why) {
    if (std::exchange(m_blocked, why) != why) Q_EMIT stateChanged();
}

QString InspectorEdits::disabledReason() const {
    if (!m_blocked.isEmpty()) return m_blocked;
    if (m_points) return {};
    return m_model ? QStringLiteral("The model is being read")
                   : QStringLiteral("Inspect a model first");
}

void InspectorEdits::set(EditList next) {
    if (next == m_list) return;
    const EditList before = std::exchange(m_list, std::move(next));
    m_effects.clear();
    m_problem.clear();
    setMeans(before, std::exchange(m_means, {}));
    Q_EMIT changed();
    Q_EMIT stateChanged();
}

void InspectorEdits::change(EditList next, const QString& what, const QString& mergeKey) {
    if (next == m_list) return;
    const EditList before = m_list;
    set(next);
    const auto generation = m_generation;
    m_history.push(new Step(
        what, [this, before] { set(before); }, [this, next] { set(next); }, mergeKey,
        [this, generation] { return generation == m_generation; }));
}

EditList InspectorEdits::with(std::vector<Edit> edits) const {
    EditList next = m_list;
    for (auto& edit : edits) next.edits.push_back(std::move(edit));
    return next;
}

void InspectorEdits::add(std::vector<Edit> edits, const QString& what, const QString& mergeKey) {
    if (m_list.edits.size() + edits.size() > core::kMostEdits)
        return Q_EMIT refused(
            QStringLiteral("A list has at most %1 edits; remove some").arg(core::kMostEdits));
    const QString text = what.isEmpty() ? stepText(edits) : what;
    change(with(edits), text, mergeKey);
    showRelations(edits);
}

void InspectorEdits::addNew(std::vector<Edit> edits, const QString& what) {
    const auto asked = edits;
    std::erase_if(edits, [&](const Edit& edit) { return core::indexOf(m_list, edit) >= 0; });
    edits.empty() ? showRelations(asked) : add(std::move(edits), what);
}

void InspectorEdits::showRelations(const std::vector<Edit>& edits) {
    for (const auto& edit : edits)
        if (edit.op == EditOp::Project && !edit.enabled) Q_EMIT relationShown(edit.relation);
}

void InspectorEdits::attempt(const std::function<void(const std::vector<PointInfo>&)>& action) {
    if (const QString why = disabledReason(); !why.isEmpty()) return Q_EMIT refused(why);
    try {
        action(*m_points);
    } catch (const std::exception& error) {
        Q_EMIT refused(QString::fromStdString(userMessage(error)));
    }
}

void InspectorEdits::addWords(const QString& words) {
    if (const QString why = disabledReason(); !why.isEmpty()) return Q_EMIT wordsRefused(why);
    try {
        const Edit edit = core::editFromWords(words.toStdString(), *m_points);
        if (edit.op == EditOp::Patch && !m_list.inputs.contains(edit.input))
            throw OptionError("patch", "there is no input '" + edit.input +
                                           "'; drop a second one on the source with Shift");
        add({edit}, {});
        Q_EMIT wordsRefused({});
    } catch (const OptionError& error) {
        // Shown below the field; --edit is the name of the field on the command line.
        Q_EMIT wordsRefused(QString::fromStdString(error.field() == "--edit" ? error.message()
                                                                             : userMessage(error)));
    }
}

void InspectorEdits::setEnabled(int line, bool enabled) {
    if (line < 0 || line >= static_cast<int>(m_list.edits.size())) return;
    EditList next = m_list;
    auto& edit = next.edits[static_cast<std::size_t>(line)];
    edit.enabled = enabled;
    const QString text = QString(enabled ? "Turn on %1" : "Turn off %1").arg(wordsOf(edit));
    change(std::move(next), text);
}

void InspectorEdits::move(int from, int to) {
    const int size = static_cast<int>(m_list.edits.size());
    if (from < 0 || to < 0 || from >= size || to >= size || from == to) return;
    EditList next = m_list;
    auto& edits = next.edits;
    const Edit moved = edits[static_cast<std::size_t>(from)];
    edits.erase(edits.begin() + from);
    edits.insert(edits.begin() + to, moved);
    change(std::move(next), QStringLiteral("Move %1").arg(wordsOf(moved)));
}

void InspectorEdits::remove(int line) {
    if (line < 0 || line >= static_cast<int>(m_list.edits.size())) return;
    EditList next = m_list;
    const QString text =
        QStringLiteral("Remove %1").arg(wordsOf(next.edits[static_cast<std::size_t>(line)]));
    next.edits.erase(next.edits.begin() + line);
    change(std::move(next), text);
}

void InspectorEdits::clear() {
    EditList next = m_list;
    next.edits.clear();
    change(std::move(next), QStringLiteral("Remove all edits"));
}

void InspectorEdits::open(const QString& path) {
    m_disk.post(
        this, [file = path.toStdString()](std::stop_token) { return core::readEdits(file); },
        [this, path](EditList list) {
            const std::string model = m_list.model;
            if (!list.model.empty() && !model.empty() && list.model != model)
                Q_EMIT refused(QStringLiteral("%1 was made for %2, not for %3")
                                   .arg(QFileInfo(path).fileName(),
                                        QString::fromStdString(list.model),
                                        QString::fromStdString(model)));
            list.model = model;
            change(std::move(list), QStringLiteral("Open %1").arg(QFileInfo(path).fileName()));
        },
        [this](const QString& sentence) { Q_EMIT refused(sentence); });
}

void InspectorEdits::save(const QString& path) {
    EditList list = listWithValues();
    if (list.name.empty()) list.name = wordsOfList(list).toStdString();
    m_disk.post(
        this,
        [list = std::move(list), file = path.toStdString()](std::stop_token) {
            core::writeEdits(list, file);
            return 0;
        },
        [this, path](int) { Q_EMIT saved(path); },
        [this](const QString& sentence) { Q_EMIT refused(sentence); });
}

// A map and its cells
// ---------------------------------------------------------------------------------------------------

void InspectorEdits::toggle(const std::function<std::optional<Edit>(const core::MapTarget&)>& make,
                            const core::MapPlace& map, const QString& what) {
    attempt([&](const std::vector<PointInfo>& points) {
        const auto edit = make(core::targetOf(map, points));
        if (!edit) throw OptionError("edit", "the layer has no other map of this kind");
        if (const int at = core::indexOf(m_list, *edit); at >= 0) return remove(at);
        add({*edit}, what);
    });
}

void InspectorEdits::knockOut(const core::MapPlace& map, EditOp how) {
    if (!map.fitted.empty()) return switchFitted(map.fitted);
    attempt([&](const std::vector<PointInfo>& points) {
        const auto target = core::targetOf(map, points);
        // A map that is taken out comes back, whichever edit took it out.
        EditList next = m_list;
        std::erase_if(next.edits, [&](const Edit& edit) {
            EditList one;
            one.edits = {edit};
            const auto axis = edit.selection.find(target.axis);
            const bool alone = axis == edit.selection.end() ? target.axis.empty()
                                                            : axis->second.places.size() == 1;
            return alone && core::takesOut(one, target);
        });
        const auto edit = core::partEdit(target, how);
        if (next.edits.size() < m_list.edits.size() && core::indexOf(m_list, edit) >= 0)
            return change(std::move(next), QStringLiteral("Return %1").arg(wordsOf(edit)));
        next.edits.push_back(edit);
        change(std::move(next), stepText({edit}));
    });
}

// The edit stays in the list, as it is what shows the map.
void InspectorEdits::switchFitted(const std::string& relation) {
    auto next = m_list;
    const auto is = [&](const Edit& edit) { return edit.relation == relation; };
    const bool out = std::any_of(next.edits.begin(), next.edits.end(),
                                 [&](const Edit& edit) { return is(edit) && edit.enabled; });
    for (auto& edit : next.edits)
        if (is(edit)) edit.enabled = !out;
    change(std::move(next), out ? QStringLiteral("Return the fitted relation")
                                : QStringLiteral("Take the fitted relation out"));
}

void InspectorEdits::onlyThis(const core::MapPlace& map) {
    toggle([](const auto& target) { return core::othersEdit(target, EditOp::Zero); }, map,
           QStringLiteral("Keep only this map"));
}

void InspectorEdits::scale(const core::MapPlace& map, double factor) {
    toggle(
        [factor](const auto& target) -> std::optional<Edit> {
            return core::partEdit(target, EditOp::Scale, factor);
        },
        map, {});
}

void InspectorEdits::makeUniform(const core::MapPlace& map) {
    toggle([](const auto& target) -> std::optional<Edit> { return core::uniformEdit(target); }, map,
           {});
}

void InspectorEdits::cutEdge(const core::MapPlace& map, int i, int j, Edge which) {
    attempt([&](const std::vector<PointInfo>& points) {
        std::vector<Edit> edits;
        if (which != Edge::Layer) {
            edits.push_back(
                core::edgeEdit(core::targetOf(map, points), i, j, which == Edge::AllHeads));
        } else {
            for (const MapKind kind : {MapKind::SensoryAttention, MapKind::RelationalAttention})
                try {
                    auto place = map;
                    place.kind = kind, place.index = 0;
                    edits.push_back(core::edgeEdit(core::targetOf(place, points), i, j, true));
                } catch (const OptionError&) {
                    // The layer has no heads of this kind.
                }
            if (edits.empty()) throw OptionError("edge", "the layer has no attention to cut");
        }
        std::erase_if(edits, [&](const Edit& edit) { return core::indexOf(m_list, edit) >= 0; });
        if (!edits.empty()) add(std::move(edits), {});
    });
}

EditList InspectorEdits::withCell(const core::MapPlace& map, int i, int j, double value) const {
    const auto target = core::targetOf(map, *m_points);
    std::vector<Edit> edits = {core::cellEdit(target, i, j, value)};
    if (m_symmetric && m_both && i != j && map.kind == MapKind::Relation)
        edits.push_back(core::cellEdit(target, j, i, value));
    EditList next = m_list;
    for (auto& edit : edits)
        if (const int at = core::indexOf(next, edit); at >= 0)
            next.edits[static_cast<std::size_t>(at)] = std::move(edit);
        else
            next.edits.push_back(std::move(edit));
    return next;
}

void InspectorEdits::setCell(const core::MapPlace& map, int i, int j, double value) {
    attempt([&](const std::vector<PointInfo>&) {
        change(withCell(map, i, j, value),
               QStringLiteral("Set (%1, %2) to %3").arg(i).arg(j).arg(value),
               QStringLiteral("cell %1 %2 %3 %4 %5")
                   .arg(static_cast<int>(map.kind))
                   .arg(QString::fromStdString(map.layer))
                   .arg(map.index)
                   .arg(i)
                   .arg(j));
    });
}

void InspectorEdits::zeroSymbols(const core::MapPlace& map, int position) {
    attempt([&](const std::vector<PointInfo>& points) {
        add({core::symbolEdit(core::targetOf(map, points), points, position, std::nullopt)}, {});
    });
}

void InspectorEdits::swapSymbols(const core::MapPlace& map, int position, int other) {
    attempt([&](const std::vector<PointInfo>& points) {
        if (position == other)
            throw OptionError("swap", "an object keeps its symbol; choose another one");
        add({core::symbolEdit(core::targetOf(map, points), points, position, other)}, {});
    });
}

void InspectorEdits::patchPosition(const core::MapPlace& map, int position) {
    attempt([&](const std::vector<PointInfo>& points) {
        if (!m_list.inputs.contains(kSecond))
            throw OptionError("patch", "choose a second input: drop it on the source with Shift");
        add({core::streamEdit(core::targetOf(map, points), points, position, kSecond)}, {});
    });
}

void InspectorEdits::setSecond(const EditInput& input, const QString& name) {
    EditList next = m_list;
    next.inputs[kSecond] = input;
    m_secondName = name;
    change(std::move(next), QStringLiteral("Second input %1").arg(name));
    Q_EMIT stateChanged();
}

void InspectorEdits::beginDrag() {
    m_dragged = m_list;
}

void InspectorEdits::dragCell(const core::MapPlace& map, int i, int j, double value) {
    attempt([&](const std::vector<PointInfo>&) { set(withCell(map, i, j, value)); });
}

void InspectorEdits::endDrag(bool kept) {
    if (!m_dragged) return;
    const EditList before = *std::exchange(m_dragged, std::nullopt);
    if (!kept) return set(before);
    EditList after = m_list;
    m_list = before;  // change() notes it as the state to come back to
    change(std::move(after), QStringLiteral("Drag a cell"));
}

void InspectorEdits::setEffects(const QStringList& effects) {
    m_effects = effects;
    Q_EMIT stateChanged();
}

void InspectorEdits::setMeans(const EditList& edits, TakenMeans means) {
    std::erase_if(means, [&](const auto& mean) {
        const auto at = mean.first;
        return at >= edits.edits.size() || at >= m_list.edits.size() ||
               edits.edits[at] != m_list.edits[at];
    });
    if (means == m_means) return;
    m_means = std::move(means);
    Q_EMIT stateChanged();
}

EditList InspectorEdits::listWithValues() const {
    return core::withValues(m_list, m_means);
}

void InspectorEdits::setProblem(const QString& sentence) {
    if (sentence == m_problem) return;
    m_problem = sentence;
    Q_EMIT stateChanged();
}

}  // namespace relascope::app
