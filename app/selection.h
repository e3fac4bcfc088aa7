// SPDX-License-Identifier: GPL-3.0-or-later
// The selection shared by the pages: the chosen runs, the inspected run, step and sample.
#pragma once

#include <array>
#include <optional>
#include <utility>

#include <QObject>
#include <QString>
#include <QStringList>

#include "widgets/inspector/inspector_view.h"

namespace relascope::app {

// The pages of the window.

/// The pages, in the order of their tabs.
enum class PageId { Workbench, Compare, Study, Data, Checkpoint, Atlas, Duel, Measure };

inline constexpr std::array kPages{PageId::Workbench, PageId::Compare,    PageId::Study,
                                   PageId::Data,      PageId::Checkpoint, PageId::Atlas,
                                   PageId::Duel,      PageId::Measure};

inline QString pageTitle(PageId id) {
    static const char* const titles[] = {"Workbench",  "Compare", "Study", "Data",
                                         "Checkpoint", "Atlas",   "Duel",  "Measure"};
    return QString::fromLatin1(titles[static_cast<int>(id)]);
}
/// The page with this title, ignoring upper and lower case; nullopt if there is none.
inline std::optional<PageId> pageNamed(const QString& title) {
    for (const PageId id : kPages)
        if (pageTitle(id).compare(title, Qt::CaseInsensitive) == 0) return id;
    return std::nullopt;
}

/// One object per window. Setters emit a signal only if the value changed, also to the object that
/// called them.
class Selection : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;

    /// Run folders overlaid in the curves, in the order of the sidebar.
    const QStringList& runs() const { return m_runs; }
    /// The inspected run: one of `runs`, or empty.
    const QString& current() const { return m_current; }
    /// The step of the time cursor; nullopt follows the newest weights.
    std::optional<qint64> step() const { return m_step; }
    const widgets::InspectorView& view() const { return m_view; }
    const QString& split() const { return m_split; }
    qint64 sample() const { return m_sample; }
    const QString& preset() const { return m_preset; }

public Q_SLOTS:
    void setRuns(const QStringList& paths) { set(m_runs, paths, &Selection::runsChanged); }
    void setCurrent(const QString& path) { set(m_current, path, &Selection::currentChanged); }
    void setStep(std::optional<qint64> step) { set(m_step, step, &Selection::stepChanged); }
    void setView(const relascope::widgets::InspectorView& view) {
        set(m_view, view, &Selection::viewChanged);
    }
    void setPreset(const QString& preset) { set(m_preset, preset, &Selection::presetChanged); }
    void setSample(const QString& split, qint64 index) {
        if (split == m_split && index == m_sample) return;
        m_split = split;
        m_sample = index;
        Q_EMIT sampleChanged();
    }

Q_SIGNALS:
    void runsChanged();
    void currentChanged();
    void stepChanged();
    void viewChanged();
    void sampleChanged();
    void presetChanged();

private:
    template <class Value, class Signal>
    void set(Value& member, const Value& value, Signal signal) {
        if (member == value) return;
        member = value;
        Q_EMIT(this->*signal)();
    }

    QStringList m_runs;
    QString m_current, m_split = QStringLiteral("validation"), m_preset;
    std::optional<qint64> m_step;
    widgets::InspectorView m_view;
    qint64 m_sample = 0;
};

}  // namespace relascope::app
