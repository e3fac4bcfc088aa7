// SPDX-License-Identifier: GPL-3.0-or-later
// The edits of one inspector: the list, its undo steps, and the hook points they are made of.
#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/controllers/edited_probe.h"
#include "interventions/map_edits.h"
#include "types/edit.h"
#include "types/model_options.h"

namespace relascope::app {

class JobQueue;
class UndoHistory;

/// Every action is one step of the history; what cannot be done is reported by refused().
class InspectorEdits : public QObject {
    Q_OBJECT
public:
    /// Files are read and written on `disk`.
    InspectorEdits(UndoHistory& history, JobQueue& disk, QObject* parent = nullptr);

    const EditList& list() const { return m_list; }
    bool any() const { return m_list.anyEnabled(); }
    const Points& points() const { return m_points; }
    void setPoints(const Points& points);
    /// The model that is inspected; edits of a model with other options are removed.
    void setModel(const std::optional<ModelOptions>& model, const QString& name);
    /// Why nothing can be edited; empty: edits can be made.
    QString disabledReason() const;

    // The list
    void addWords(const QString& words);
    void add(std::vector<Edit> edits, const QString& what, const QString& mergeKey = {});
    void setEnabled(int line, bool enabled);
    void move(int from, int to);
    void remove(int line);
    void clear();
    /// Replaces the whole list, as one step of the history.
    void change(EditList next, const QString& what, const QString& mergeKey = {});
    void open(const QString& path);
    /// With the values of the means that are taken, so that the file stands alone.
    void save(const QString& path);

    // A map and its cells
    /// Takes a map out, or returns it if it is out.
    void knockOut(const core::MapPlace& map, EditOp how = EditOp::Zero);
    /// Takes all other maps of its kind in the layer out; again: returns them.
    void onlyThis(const core::MapPlace& map);
    void scale(const core::MapPlace& map, double factor);
    void makeUniform(const core::MapPlace& map);
    enum class Edge { ThisHead, AllHeads, Layer };
    void cutEdge(const core::MapPlace& map, int i, int j, Edge which);
    /// Sets the cell (i, j), of symmetric relations also (j, i) unless that is switched off.
    void setCell(const core::MapPlace& map, int i, int j, double value);
    void zeroSymbols(const core::MapPlace& map, int position);
    void swapSymbols(const core::MapPlace& map, int position, int other);
    /// Replaces the stream that enters the map's layer by that of the second input.
    void patchPosition(const core::MapPlace& map, int position);
    /// The second input, "B", that positions are patched from.
    void setSecond(const EditInput& input, const QString& name);
    const QString& secondName() const { return m_secondName; }
    /// Whether both cells of a pair are set; only for models with symmetric relations.
    bool symmetricModel() const { return m_symmetric; }
    bool setsBoth() const { return m_both; }
    void setBoth(bool both) { m_both = both; }

    /// A value that is changed while the mouse button is down: one step of the history at the end,
    /// or none if it is not kept.
    void beginDrag();
    void dragCell(const core::MapPlace& map, int i, int j, double value);
    void endDrag(bool kept);
    bool dragging() const { return m_dragged.has_value(); }

    /// What each edit does alone, by line; empty: not known.
    void setEffects(const QStringList& effects);
    const QStringList& effects() const { return m_effects; }
    /// The means that a probe with `edits` has taken; those of edits that are others by now are
    /// left out.
    void setMeans(const EditList& edits, TakenMeans means);
    const TakenMeans& means() const { return m_means; }
    /// The list with the values of these means.
    EditList listWithValues() const;
    /// A sentence about the list as a whole, from the last probe; empty: it fits.
    void setProblem(const QString& sentence);
    const QString& problem() const { return m_problem; }

Q_SIGNALS:
    void changed();       ///< the list
    void stateChanged();  ///< points, effects, problem, the second input
    void refused(const QString& sentence);
    void wordsRefused(const QString& sentence);
    void saved(const QString& path);

private:
    void set(EditList next);
    EditList with(std::vector<Edit> edits) const;
    /// The cell edits in a list: those that are there already get the value.
    EditList withCell(const core::MapPlace& map, int i, int j, double value) const;
    /// Calls `action` with the hook points; reports what cannot be done.
    void attempt(const std::function<void(const std::vector<PointInfo>&)>& action);
    void toggle(const std::function<std::optional<Edit>(const core::MapTarget&)>& make,
                const core::MapPlace& map, const QString& what);

    UndoHistory& m_history;
    JobQueue& m_disk;
    EditList m_list;
    Points m_points;
    std::optional<ModelOptions> m_model;
    bool m_symmetric = false, m_both = true;
    std::optional<EditList> m_dragged;  ///< the list before the drag
    QStringList m_effects;
    TakenMeans m_means;
    QString m_problem, m_secondName;
    quint64 m_generation = 0;  ///< of the model: steps of earlier ones are obsolete
};

}  // namespace relascope::app
