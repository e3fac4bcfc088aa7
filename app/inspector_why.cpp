// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/inspector_why.h"

#include <QStringList>
#include <utility>

#include "analysis/analysis.h"
#include "app/pages/data_source.h"
#include "widgets/inspector/map_pane.h"
#include "widgets/inspector/relation_inspector.h"
#include "widgets/inspector/view_choice.h"
#include "widgets/inspector/view_text.h"
#include "widgets/inspector/why_panel.h"
#include "widgets/maps/map_view.h"

namespace relascope::app {
namespace {

constexpr std::int64_t kPairsOfASign = 40;

/// Whether both views show the same map, of whatever weights.
bool sameMapOf(const widgets::InspectorView& a, const widgets::InspectorView& b) {
    return a.kind == b.kind && a.layer == b.layer && a.index == b.index;
}

bool sameCellOf(const widgets::InspectorView& a, const widgets::InspectorView& b) {
    return sameMapOf(a, b) && a.source == b.source && a.target == b.target &&
           a.reversed == b.reversed;
}

}  // namespace

InspectorWhy::InspectorWhy(widgets::RelationInspector& inspector, Looker& looker, Asks subject,
                           QObject* parent)
    : QObject(parent), m_inspector(inspector), m_looker(looker), m_subject(std::move(subject)) {
    using widgets::RelationInspector;
    using widgets::WhyPanel;
    auto* shown = &panel();
    shown->nameOf = [this](int token) {
        return widgets::rowName(m_inspector.choice().maps(), m_inspector.view(), token);
    };
    connect(&inspector, &RelationInspector::displayed, this, &InspectorWhy::follow);
    connect(&inspector, &RelationInspector::cellCompared, this, &InspectorWhy::holdAgainst);
    connect(shown, &WhyPanel::choiceChanged, this, &InspectorWhy::ask);
    connect(shown, &WhyPanel::closed, this, &InspectorWhy::close);
    connect(shown, &WhyPanel::cellRequested, this, &InspectorWhy::goDown);
    connect(shown, &WhyPanel::backRequested, this, &InspectorWhy::goBack);
    connect(shown, &WhyPanel::tablesRequested, this, &InspectorWhy::tablesRequested);
    auto* strip = new JobStrip(shown);
    strip->follow(m_task);
    shown->addStrip(strip);
}

widgets::WhyPanel& InspectorWhy::panel() const {
    return *m_inspector.why();
}

void InspectorWhy::toggle() {
    m_inspector.whyShown() ? close() : open();
}

void InspectorWhy::open() {
    m_inspector.setWhyShown(true);
    m_at.reset();
    m_asked.reset();
    follow();
}

void InspectorWhy::close() {
    if (!m_inspector.whyShown()) return;
    const auto* focus = panel().focusWidget();
    const bool focused = focus && focus->hasFocus();
    m_inspector.setWhyShown(false);
    m_trail.clear();
    m_task.abandon();
    if (focused) m_inspector.mapPane()->map()->setFocus(Qt::OtherFocusReason);
}

void InspectorWhy::follow() {
    if (!m_inspector.whyShown()) return;
    const auto& view = m_inspector.view();
    if (!m_at || !sameCellOf(*m_at, view)) {
        if (!m_stepping) m_trail.clear();
        panel().setPlace(m_at && sameMapOf(*m_at, view));
        showTrail();
        m_at = view;
    }
    ask();
}

void InspectorWhy::ask() {
    // Some layers of a pass; the whole follows.
    if (m_inspector.result() && m_inspector.result()->partial) return;
    QString problem;
    auto subject = m_subject(problem);
    const auto& inspected = m_inspector.choice().inspected();
    const auto& view = m_inspector.view();
    const auto shown = view.shown;
    if (problem.isEmpty() && (!subject || !subject->asked.cell))
        problem = QStringLiteral("Click a cell of a map.");
    if (problem.isEmpty() && shown != widgets::Shown::After &&
        (shown == widgets::Shown::Difference || inspected.pinned.result))
        problem = QStringLiteral(
            "The parts are those of one pass: press B until the map shows one that is not pinned.");
    if (!problem.isEmpty()) {
        m_asked.reset();
        m_task.abandon();
        return panel().say(problem);
    }
    if (shown == widgets::Shown::Before) subject->edits() = {};
    const widgets::MapId map{widgets::storedKind(view.kind), view.layer, view.index};
    QString note;
    if (shown == widgets::Shown::After && m_inspector.choice().takenOut(map))
        note = QStringLiteral("; this is what it was before it was taken out");
    // A run in training is explained by its newest weights that were kept.
    if (const auto step = stepOf(subject->asked); step && *step != inspected.result->step)
        note += QStringLiteral("; of step %1, the newest whose weights were kept").arg(*step);
    panel().setNote(note);
    const auto& choice = panel().choice();
    const auto& origins = core::analysisNamed("qk-attribution");
    auto asked = questionOf(origins, *subject);
    asked.set("top", kPairsOfASign);
    if (!choice.against.isEmpty()) asked.set("against", choice.against.toStdString());
    if (choice.heads) asked.set("grain", std::string("heads"));
    if (!choice.tokensOf.isEmpty()) asked.set("tokens_of", choice.tokensOf.toStdString());
    // Results of a training come many times a second; what was kept is the same.
    if (m_asked && m_asked->cell == asked.cell && sameQuestion(origins, *m_asked, asked)) return;
    m_asked = asked;
    const auto show = [this](const Answer& answer) {
        panel().showAnswer(answer);
        if (!answer.has("map")) return;
        m_text = QStringLiteral("%1 (%2, %3)")
                     .arg(QString::fromStdString(answer.text("map")))
                     .arg(indexOf(answer.number("i")))
                     .arg(indexOf(answer.number("j")));
        showTrail();
    };
    m_looker.ask(m_task, QString::fromStdString(origins.progressText), std::move(asked), show, show,
                 [this](const QString& sentence) {
                     m_asked.reset();
                     panel().say(sentence);
                 });
}

void InspectorWhy::holdAgainst(int row, int column) {
    const auto& view = m_inspector.view();
    const bool turned = view.reversed && m_inspector.choice().maps().canReverse(view);
    if (turned) std::swap(row, column);
    if (!m_inspector.whyShown()) open();
    panel().setAgainst(QStringLiteral("%1,%2").arg(row).arg(column));
    ask();
}

void InspectorWhy::goDown(const MapLink& link) {
    m_trail.push_back({m_inspector.view(), m_text});
    m_stepping = true;
    m_inspector.showCell(link.kind, link.layer, link.index, link.i, link.j);
    m_stepping = false;
    showTrail();
}

void InspectorWhy::goBack() {
    if (m_trail.empty()) return;
    const auto place = m_trail.back();
    m_trail.pop_back();
    m_stepping = true;
    m_inspector.chooseView(place.view);
    m_stepping = false;
    showTrail();
}

void InspectorWhy::showTrail() {
    QStringList cells;
    for (const auto& place : m_trail) cells << place.text;
    if (!cells.isEmpty()) cells << m_text;
    panel().setTrail(cells.join(QStringLiteral(" > ")));
}

}  // namespace relascope::app
