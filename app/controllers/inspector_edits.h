// SPDX-License-Identifier: GPL-3.0-or-later
// The edits of one inspector: the list, its undo steps, and the hook points they are made of.
#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/controllers/edited_probe.h"
#include "interventions/map_edits.h"
#include "types/edit.h"
#include "types/model_options.h"

class QUndoStack;

namespace relascope::app {

class JobQueue;

/// Every action is one step of the history; what cannot be done is reported by refused().
class InspectorEdits : public QObject {
    Q_OBJECT
public:
    /// Files are read and written on `disk`.
    InspectorEdits(QUndoStack& history, JobQueue& disk, QObject* parent = nullptr);

    const EditList& list() const { return m_list; }
    bool any() const { return m_list.anyEnabled(); }
    QUndoStack& history() const { return m_history; }
    const Points& points() const { return m_points; }
    void setPoints(const Points& points);
    /// The run that is inspected: each has edits of its own, which return with it, and steps of the
    /// history that are skipped while another one is shown.
    void setOwner(const QString& run);
    /// The model that is inspected; edits of a model with other options are removed.
    void setModel(const std::optional<ModelOptions>& model, const QString& name);
    /// Why nothing can be edited; empty: edits can be made.
    QString disabledReason() const;
    /// Why what is shown has no weights to edit; empty: it has.
    void setBlocked(const QString& why);
    const QString& blocked() const { return m_blocked; }

    // The list
    void addWords(const QString& words);
    void add(std::vector<Edit> edits, const QString& what, const QString& mergeKey = {});
    /// Adds those that the list does not have yet, as an analysis asks for.
    void addNew(std::vector<Edit> edits, const QString& what);
    void setEnabled(int line, bool enabled);
    void move(int from, int to);
    void remove(int line);
    void clear();
    /// Replaces the whole list, as one step of the history.
    void change(EditList next, const QString& what, const QString& mergeKey = {});
    void open(const QString& path);
    /// Saves the list with the values of its means, so that the file is complete on its own.
    void save(const QString& path);

    // A map and its cells
    /// Takes a map out, or returns it if it is out.
    void knockOut(const core::MapPlace& map, EditOp how = EditOp::Zero);
    /// Takes out all other maps of the same kind in the layer; a second call returns them.
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
    /// symmetricModel(): whether the relations of the model are symmetric. setsBoth(): whether
    /// setCell() then sets both cells of a pair.
    bool symmetricModel() const { return m_symmetric; }
    bool setsBoth() const { return m_both; }
    void setBoth(bool both) { m_both = both; }

    /// Changes the value of a cell while the mouse button is down. endDrag() makes the change one
    /// step of the history, or takes it back if it is not `kept`.
    void beginDrag();
    void dragCell(const core::MapPlace& map, int i, int j, double value);
    void endDrag(bool kept);
    bool dragging() const { return m_dragged.has_value(); }

    /// Sets the effect of each edit alone, by line of the list; empty while unknown.
    void setEffects(const QStringList& effects);
    const QStringList& effects() const { return m_effects; }
    /// Sets the means that a probe with `edits` has taken; means of edits that have changed since
    /// then are left out.
    void setMeans(const EditList& edits, TakenMeans means);
    const TakenMeans& means() const { return m_means; }
    /// The list with the values of means().
    EditList listWithValues() const;
    /// Sets the problem that the last probe found with the list as a whole; empty if there is none.
    void setProblem(const QString& sentence);
    const QString& problem() const { return m_problem; }

Q_SIGNALS:
    void changed();  ///< the list
    /// The map of a fitted relation was asked for; it follows with the next probe.
    void relationShown(const std::string& file);
    void stateChanged();  ///< points, effects, problem, the second input
    void refused(const QString& sentence);
    void wordsRefused(const QString& sentence);
    void saved(const QString& path);

private:
    void set(EditList next);
    EditList with(std::vector<Edit> edits) const;
    /// The list with the cell set to `value`; edits of the cell that exist already get the value.
    EditList withCell(const core::MapPlace& map, int i, int j, double value) const;
    /// Calls `action` with the hook points; reports what cannot be done.
    void attempt(const std::function<void(const std::vector<PointInfo>&)>& action);
    void switchFitted(const std::string& relation);
    void showRelations(const std::vector<Edit>& edits);
    void toggle(const std::function<std::optional<Edit>(const core::MapTarget&)>& make,
                const core::MapPlace& map, const QString& what);

    QUndoStack& m_history;
    JobQueue& m_disk;
    EditList m_list;
    Points m_points;
    std::optional<ModelOptions> m_model;
    bool m_symmetric = false, m_both = true;
    std::optional<EditList> m_dragged;  ///< the list before the drag
    QStringList m_effects;
    TakenMeans m_means;
    QString m_problem, m_secondName, m_blocked;
    /// Number of the run and its model; undo steps of others are skipped.
    quint64 m_generation = 0, m_lastGeneration = 0;
    struct Owned {
        EditList list;
        std::optional<ModelOptions> model;
        quint64 generation = 0;
    };
    QString m_owner;
    std::map<QString, Owned> m_owned;  ///< edits of the runs that are not shown
};

}  // namespace relascope::app
