// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/analysis_window.h"

#include <QApplication>
#include <QCloseEvent>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QStackedWidget>
#include <QTabBar>
#include <QVBoxLayout>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "analysis/analysis.h"
#include "app/controllers/step.h"
#include "app/pages/analysis_tab.h"
#include "interventions/edit_words.h"
#include "widgets/analysis/analysis_frame.h"
#include "widgets/export/export.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::app {

namespace {

/// In saved options: the names of the analyses whose options are shown.
constexpr const char *kUnfolded = "unfolded", *kOfPaths = "of_paths";

}  // namespace

AnalysisWindow::AnalysisWindow(QUndoStack& history, Measurements& measurements)
    : AnalysisWindow(core::analysesOf(core::AnalysisPage::Measure), history, measurements) {}

AnalysisWindow::AnalysisWindow(const std::vector<const core::Analysis*>& analyses,
                               QUndoStack& history, Measurements& measurements)
    : m_measurements(measurements),
      m_undo(history),
      m_head(new widgets::PanelHead({}, this)),
      m_note(widgets::mutedLabel(QStringLiteral("With the edits of the inspector"), this)),
      m_bar(new QTabBar(this)),
      m_pages(new QStackedWidget(this)) {
    m_bar->setDrawBase(false);
    m_bar->setExpanding(false);
    // Where it scrolls it does not return to the first tab when others are hidden.
    m_bar->setUsesScrollButtons(false);
    m_bar->setElideMode(Qt::ElideRight);
    m_bar->setFocusPolicy(Qt::TabFocus);
    m_bar->setAccessibleName(QStringLiteral("Measurements"));
    for (const auto* analysis : analyses) addTab(*analysis);
    m_head->setLineBelow(false);
    m_head->addControl(m_note);
    auto* tabs = new widgets::Box(&widgets::Theme::panel, false, this);
    auto* line = widgets::rowOf(tabs, {8, 0, 8, 0});
    addGroups();
    if (m_groups) {
        line->setContentsMargins(16, 0, 8, 0);
        line->addWidget(m_groups);
        line->addSpacing(12);
    }
    line->addWidget(m_bar, 1);
    auto* column = widgets::columnOf(this);
    column->addWidget(m_head);
    column->addWidget(tabs);
    column->addWidget(widgets::horizontalLine(this));
    column->addWidget(m_pages, 1);
    connect(m_bar, &QTabBar::currentChanged, this, [this](int at) {
        m_pages->setCurrentIndex(at);
        if (m_groups) showGroup(current()->analysis().group);
        activate();
    });
    tabs->setVisible(analyses.size() > 1);
    setAccessibleName(m_groups ? QStringLiteral("Measure")
                               : QString::fromStdString(analyses.front()->title));
    // A position that is chosen in one view is that of the others.
    for (const auto& [from, tab] : m_tabs)
        connect(tab->view(), &widgets::AnalysisFrame::positionRequested, this,
                [this, from = from](std::int64_t position) {
                    for (const auto& [to, other] : m_tabs) {
                        if (to == from || !other->analysis().field("position")) continue;
                        auto values = other->values();
                        values["position"] = position;
                        other->setValues(values);
                    }
                });
    setSubject(std::nullopt);
}

void AnalysisWindow::addTab(const core::Analysis& analysis) {
    auto* tab = makeTab(analysis);
    const QString title = QString::fromStdString(analysis.title);
    const int at = m_bar->addTab(title);
    QString summary = QString::fromStdString(analysis.summary);
    if (!summary.isEmpty()) summary[0] = summary[0].toUpper();
    m_bar->setTabToolTip(at, summary);
    m_pages->addWidget(tab);
}

/// A choice of the group before the tabs of that group, where there are several.
void AnalysisWindow::addGroups() {
    using core::AnalysisGroup;
    const std::vector groups{AnalysisGroup::Parts, AnalysisGroup::Pairs, AnalysisGroup::Text};
    const auto first = [this](AnalysisGroup group) {
        for (int at = 0; at < m_pages->count(); ++at)
            if (static_cast<AnalysisTab*>(m_pages->widget(at))->analysis().group == group)
                return at;
        return -1;
    };
    if (std::any_of(groups.begin(), groups.end(), [&](auto group) { return first(group) < 0; }))
        return;
    m_groups = new widgets::SegmentedControl(this);
    m_groups->setAccessibleName(QStringLiteral("What is measured"));
    QStringList titles;
    for (const auto group : groups) titles << QString::fromStdString(core::groupTitle(group));
    m_groups->setItems(titles);
    for (std::size_t k = 0; k < groups.size(); ++k)
        m_groups->setItemToolTip(static_cast<int>(k),
                                 QString::fromStdString(core::groupSummary(groups[k])));
    // A group shows the tab that was chosen in it last.
    const auto last = std::make_shared<std::map<AnalysisGroup, int>>();
    for (const auto group : groups) (*last)[group] = first(group);
    connect(m_bar, &QTabBar::currentChanged, this, [this, last](int at) {
        (*last)[static_cast<AnalysisTab*>(m_pages->widget(at))->analysis().group] = at;
    });
    connect(m_groups, &widgets::SegmentedControl::changed, this, [this, last](int group) {
        m_bar->setCurrentIndex((*last)[static_cast<AnalysisGroup>(group)]);
    });
    showGroup(groups.front());
}

void AnalysisWindow::showGroup(core::AnalysisGroup group) {
    m_groups->setCurrent(static_cast<int>(group));
    for (int at = 0; at < m_bar->count(); ++at)
        m_bar->setTabVisible(
            at, static_cast<AnalysisTab*>(m_pages->widget(at))->analysis().group == group);
    // QTabBar gives tabs that were hidden their room only when it is laid out anew.
    QResizeEvent again(m_bar->size(), m_bar->size());
    QApplication::sendEvent(m_bar, &again);
}

std::vector<int> AnalysisWindow::shownTabs() const {
    std::vector<int> shown;
    for (int at = 0; at < m_bar->count(); ++at)
        if (m_bar->isTabVisible(at)) shown.push_back(at);
    return shown;
}

AnalysisTab* AnalysisWindow::makeTab(const core::Analysis& analysis) {
    using widgets::AnalysisFrame;
    auto* tab = new AnalysisTab(analysis, m_about, m_quick, m_measurements, this);
    m_tabs[analysis.name] = tab;
    const QString title = QString::fromStdString(analysis.title);
    // Fields would take Ctrl+Z for themselves, and have nothing to undo after a click on an arrow.
    for (QObject* field : tab->findChildren<QLineEdit*>()) field->installEventFilter(this);
    connect(tab->view(), &AnalysisFrame::editsRequested, this, &AnalysisWindow::editsRequested);
    connect(tab->view(), &AnalysisFrame::exampleRequested, this,
            [this, tab](qint64 example, const MapCell& cell) {
                Q_EMIT exampleRequested(tab->split(), example, cell);
            });
    connect(tab->view(), &AnalysisFrame::mapRequested, this, &AnalysisWindow::mapRequested);
    connect(tab->view(), &AnalysisFrame::stepRequested, this, &AnalysisWindow::stepRequested);
    connect(tab->view(), &AnalysisFrame::textsRequested, this, &AnalysisWindow::textsRequested);
    connect(
        tab, &AnalysisTab::valuesChanged, this,
        [this, tab, title](const QString& name, const core::OptionValues& before) {
            const auto to = [this, tab](const core::OptionValues& values) {
                if (const int at = m_pages->indexOf(tab); at >= 0) m_bar->setCurrentIndex(at);
                tab->setValues(values);
            };
            m_undo.push(new Step(
                QStringLiteral("Change an option of %1").arg(title), [to, before] { to(before); },
                [to, after = tab->values()] { to(after); }, title + name));
        });
    return tab;
}

void AnalysisWindow::setSubject(std::optional<Subject> subject, const QString& instead) {
    m_head->setTitle(subject             ? subject->name
                     : instead.isEmpty() ? QStringLiteral("Nothing to measure")
                                         : instead);
    m_head->setSubText(subject ? subject->sampleName : QString());
    setProperty(widgets::kFigureSubject, subject ? subject->name : QString());
    const auto before = std::exchange(m_about, {std::move(subject), instead});
    for (const auto& [name, tab] : m_tabs)
        tab->asking().subjectChanged(before.subject, m_about.subject);
    if (!m_about.subject) m_quick.end();
    m_measurements.rest();
    for (const auto& [name, tab] : m_tabs) tab->subjectChanged(before.subject);
    const EditList edits = m_about.subject ? m_about.subject->edits() : EditList();
    m_note->setVisible(edits.anyEnabled());
    m_note->setToolTip(QString::fromStdString(core::wordsOf(edits)));
    activate();
}

void AnalysisWindow::addControl(QWidget* control) {
    m_head->addControl(control);
}

void AnalysisWindow::setSecond(ProbeSample sample, const QString& name) {
    tab("patch")->inputs().setSecond(std::move(sample), name);
}

void AnalysisWindow::showTab(const std::string& analysis) {
    m_bar->setCurrentIndex(m_pages->indexOf(tab(analysis)));
    show();
    if (!isWindow()) return;
    raise();
    activateWindow();
}

AnalysisTab* AnalysisWindow::current() const {
    return static_cast<AnalysisTab*>(m_pages->currentWidget());
}

// Computes the result of a tab when the tab is first visible.
void AnalysisWindow::activate() {
    if (isVisible()) current()->activate();
}

QByteArray AnalysisWindow::saveOptions() const {
    nlohmann::ordered_json all = nlohmann::ordered_json::object();
    auto unfolded = nlohmann::ordered_json::array();
    for (const auto& [name, tab] : m_tabs) {
        if (tab->isUnfolded()) unfolded.push_back(name);
        // Positions and names of answers belong to what is inspected.
        core::OptionValues kept;
        for (const auto& [option, value] : tab->values())
            if (const auto* field = tab->analysis().field(option); field->inRow && !field->above)
                kept[option] = value;
        if (!kept.empty()) all[name] = core::optionsToJson(tab->analysis(), kept);
        for (const auto& [path, values] : tab->ofPaths())
            all[kOfPaths][name][path] = core::optionsToJson(tab->analysis(), values);
    }
    if (!unfolded.empty()) all[kUnfolded] = unfolded;
    return QByteArray::fromStdString(all.dump());
}

void AnalysisWindow::restoreOptions(const QByteArray& options) {
    const auto all = nlohmann::ordered_json::parse(options.toStdString(), nullptr, false);
    if (!all.is_object()) return;
    if (const auto unfolded = all.find(kUnfolded); unfolded != all.end())
        for (const auto& [name, tab] : m_tabs)
            tab->setUnfolded(std::find(unfolded->begin(), unfolded->end(), name) !=
                             unfolded->end());
    for (const auto& [name, values] : all.items()) try {
            if (const auto at = m_tabs.find(core::currentName(name)); at != m_tabs.end())
                at->second->setValues(core::optionsFromJson(at->second->analysis(), values));
        } catch (const Error&) {
            // Settings of another version: this tab keeps its defaults.
        }
    const auto ofPaths = all.find(kOfPaths);
    if (ofPaths == all.end() || !ofPaths->is_object()) return;
    for (const auto& [name, saved] : ofPaths->items()) try {
            const auto at = m_tabs.find(core::currentName(name));
            if (at == m_tabs.end()) continue;
            std::map<std::string, core::OptionValues> kept;
            for (const auto& [path, values] : saved.items())
                kept[path] = core::optionsFromJson(at->second->analysis(), values);
            at->second->setOfPaths(kept);
        } catch (const Error&) {
            // Settings of another version, too.
        }
}

void AnalysisWindow::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    Q_EMIT shown();
    activate();
}

void AnalysisWindow::hideEvent(QHideEvent* event) {
    QWidget::hideEvent(event);
    Q_EMIT hidden();
}

void AnalysisWindow::closeEvent(QCloseEvent* event) {
    QWidget::closeEvent(event);
    Q_EMIT closed();
}

void AnalysisWindow::paintEvent(QPaintEvent*) {
    QPainter(this).fillRect(rect(), widgets::Theme::current().panel);
}

bool AnalysisWindow::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() != QEvent::KeyPress || !isWindow())
        return QWidget::eventFilter(watched, event);
    auto* key = static_cast<QKeyEvent*>(event);
    if (!key->matches(QKeySequence::Undo) && !key->matches(QKeySequence::Redo)) return false;
    keyPressEvent(key);
    return true;
}

void AnalysisWindow::keyPressEvent(QKeyEvent* event) {
    // A page uses the keys of the main window.
    if (!isWindow()) return QWidget::keyPressEvent(event);
    const bool control = event->modifiers() & Qt::ControlModifier;
    if (event->key() == Qt::Key_Escape) {
        close();
        return;
    }
    const bool redo = event->matches(QKeySequence::Redo);
    if (redo || event->matches(QKeySequence::Undo)) return takeStep(m_undo, redo);
    // The keys act as between the pages of the main window.
    const auto tabs = shownTabs();
    const int at = event->key() - Qt::Key_1;
    if (control && at >= 0 && at < static_cast<int>(tabs.size()))
        return m_bar->setCurrentIndex(tabs[static_cast<std::size_t>(at)]);
    QWidget::keyPressEvent(event);
}

}  // namespace relascope::app
