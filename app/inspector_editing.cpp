// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/inspector_editing.h"

#include <QInputDialog>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <cmath>

#include "app/controllers/step.h"
#include "types/error.h"
#include "widgets/inspector/map_pane.h"
#include "widgets/inspector/relation_inspector.h"
#include "widgets/inspector/view_text.h"
#include "widgets/maps/map_view.h"
#include "widgets/theme/folding_layout.h"
#include "widgets/theme/theme.h"

namespace relascope::app {
namespace {

using widgets::Shown;

bool isAttention(MapKind kind) {
    return kind == MapKind::RelationalAttention || kind == MapKind::SensoryAttention;
}

}  // namespace

InspectorEditing::InspectorEditing(widgets::RelationInspector& inspector, InspectorEdits& edits,
                                   QObject* parent)
    : QObject(parent), m_inspector(inspector), m_edits(edits) {
    askNumber = [this](const QString& title, const QString& label,
                       double value) -> std::optional<double> {
        bool accepted = false;
        const double number =
            QInputDialog::getDouble(&m_inspector, title, label, value, -1e6, 1e6, 4, &accepted);
        return accepted ? std::optional(number) : std::nullopt;
    };
    showMenu = [](QMenu& menu, const QPoint& at) { menu.exec(at); };
    using widgets::RelationInspector;
    connect(&inspector, &RelationInspector::mapMenuRequested, this,
            [this](const QPoint& at) { popUp(at, [this](QMenu& menu) { fillMapMenu(menu); }); });
    connect(&inspector, &RelationInspector::cellMenuRequested, this,
            [this](int i, int j, const QPoint& at) {
                popUp(at, [this, i, j](QMenu& menu) { fillCellMenu(menu, i, j); });
            });
    connect(&inspector, &RelationInspector::objectMenuRequested, this,
            [this](int object, const QPoint& at) {
                popUp(at, [this, object](QMenu& menu) { fillObjectMenu(menu, object); });
            });
    connect(&inspector, &RelationInspector::cellDragged, this, &InspectorEditing::dragCell);
    connect(&inspector, &RelationInspector::cellDropped, this,
            [this](bool kept) { m_edits.endDrag(kept); });
    addButtons();
}

core::MapPlace InspectorEditing::chosenMap() const {
    const auto& choice = m_inspector.choice();
    const auto& view = m_inspector.view();
    core::MapPlace place;
    place.kind = widgets::storedKind(view.kind);
    place.index = view.index;
    const auto& result = choice.inspected().result;
    if (result && view.layer < static_cast<int>(result->layers.size()))
        place.layer = result->layers[static_cast<std::size_t>(view.layer)].name;
    if (const auto* map = choice.maps().find(place.kind, view.layer, view.index))
        place.rows = map->rows, place.columns = map->columns, place.fitted = map->fitted;
    return place;
}

double InspectorEditing::cellValue(int i, int j) const {
    const auto& view = m_inspector.view();
    const auto& result = m_inspector.choice().inspected().result;
    const auto* map =
        result ? result->find(widgets::storedKind(view.kind), view.layer, view.index) : nullptr;
    if (!map || i < 0 || j < 0 || i >= map->rows || j >= map->columns) return 0.0;
    const auto value = static_cast<double>(map->at(i, j));
    return std::isfinite(value) ? value : 0.0;
}

std::pair<int, int> InspectorEditing::chosenCell() const {
    const auto& view = m_inspector.view();
    return m_inspector.choice().maps().isTransposed(view) ? std::pair(view.target, view.source)
                                                          : std::pair(view.source, view.target);
}

void InspectorEditing::changeCell(double by) {
    const auto [i, j] = chosenCell();
    m_edits.setCell(chosenMap(), i, j, cellValue(i, j) + by);
}

QString InspectorEditing::sameDisabledReason() const {
    if (const QString why = m_edits.disabledReason(); !why.isEmpty()) return why;
    const auto map = chosenMap();
    const auto [i, j] = chosenCell();
    if (!map.fitted.empty())
        return QStringLiteral(
            "A fitted relation is no part of what the model computes: take it out");
    if (map.kind != MapKind::Relation)
        return QStringLiteral("Choose a relation first: attention is no value of a pair");
    if (map.rows != map.columns)
        return QStringLiteral("i and j are of two kinds: i has no relation with itself");
    if (i == j) return QStringLiteral("Choose two objects: Shift with a click chooses j");
    return {};
}

void InspectorEditing::makeSame() {
    if (!sameDisabledReason().isEmpty()) return;
    const auto [i, j] = chosenCell();
    m_edits.setCell(chosenMap(), i, j, cellValue(i, i));
}

void InspectorEditing::addButtons() {
    auto* footer = m_inspector.footer();
    const auto button = [&](const QString& text, const char* icon, auto action) {
        auto* made = new widgets::FoldingButton(text, icon, footer);
        made->setProperty("compact", true);
        footer->addControl(made);
        connect(made, &QPushButton::clicked, this, action);
        return made;
    };
    m_same = button(QStringLiteral("Make them the same"), "copy", [this] { makeSame(); });
    m_out = button(QStringLiteral("Take this relation out"), "scissors", [this] { knockOut(); });
    m_why = button(QStringLiteral("Why? (W)"), "help", [this] { Q_EMIT whyWanted(); });
    m_measure = button(QStringLiteral("Measure"), "gauge", [this] {
        Q_EMIT measureWanted(m_measure->mapToGlobal(QPoint(0, m_measure->height())));
    });
    m_measure->setToolTip(
        QStringLiteral("What the parts of this model do, what its maps compare, what it knows"));
    m_undo =
        button(QStringLiteral("Undo"), "restart", [this] { takeStep(m_edits.history(), false); });
    m_answer = new QLabel(footer);
    m_answer->setFont(widgets::smallFont());
    m_answer->setTextFormat(Qt::RichText);
    m_answer->setAccessibleName(QStringLiteral("What the edits change"));
    footer->addAnswer(m_answer);
    using widgets::RelationInspector;
    connect(&m_inspector, &RelationInspector::displayed, this, &InspectorEditing::showButtons);
    connect(&m_edits, &InspectorEdits::changed, this, &InspectorEditing::showButtons);
    connect(&m_edits, &InspectorEdits::relationShown, &m_inspector, &RelationInspector::showFitted);
    connect(&m_edits, &InspectorEdits::stateChanged, this, &InspectorEditing::showButtons);
    connect(&m_edits.history(), &QUndoStack::indexChanged, this, &InspectorEditing::showButtons);
    showButtons();
}

void InspectorEditing::showButtons() {
    const auto& choice = m_inspector.choice();
    const auto& inspected = choice.inspected();
    const auto enable = [](QPushButton* button, const QString& why, const QString& help) {
        button->setEnabled(why.isEmpty());
        button->setToolTip(why.isEmpty() ? help : why);
    };
    enable(m_same, sameDisabledReason(),
           QStringLiteral("Gives r of i and j the value that i has with itself, as if j were i"));
    const auto& view = m_inspector.view();
    const bool relation = widgets::storedKind(view.kind) == MapKind::Relation;
    const widgets::MapId map{widgets::storedKind(view.kind), view.layer, view.index};
    const bool out = choice.takenOut(map);
    m_out->setText(out        ? QStringLiteral("Bring it back (X)")
                   : relation ? QStringLiteral("Take this relation out (X)")
                              : QStringLiteral("Take this head out (X)"));
    m_out->setVisible(map.kind != MapKind::Symbols);
    m_why->setVisible(map.kind != MapKind::Symbols);
    m_why->setToolTip(
        QStringLiteral("Which parts of the streams of i and j the value of this cell comes from"));
    enable(m_out, m_edits.disabledReason(),
           relation ? QStringLiteral("Sets the relation to 0 for all pairs and heads")
                    : QStringLiteral("Sets what the head adds to 0"));
    const auto& history = m_edits.history();
    const int step = nextStep(history, false);
    m_undo->setEnabled(step >= 0);
    m_undo->setToolTip(history.text(step) + QStringLiteral(" (Ctrl+Z)"));
    const QString answer =
        inspected.edited() && inspected.before && inspected.result
            ? widgets::answerText(*inspected.result, inspected.before.get(), true, false)
            : QString();
    m_answer->setText(answer);
    m_answer->setVisible(!answer.isEmpty());
}

void InspectorEditing::dragCell(int i, int j, int up) {
    if (m_inspector.choice().maps().isTransposed(m_inspector.view())) std::swap(i, j);
    if (!m_edits.dragging()) {
        m_edits.beginDrag();
        m_dragMap = chosenMap();
        m_dragFrom = cellValue(i, j);
        // A drag of 200 px goes from one end of the colours to the other.
        const auto limits = m_inspector.choice().maps().limits(m_inspector.view());
        m_dragStep = std::max(kDragStep, static_cast<double>(limits.high - limits.low) / 200.0);
        return;
    }
    // To hundredths: the value is read in words, in the list and in the notes of a run.
    const double value = std::round((m_dragFrom + up * m_dragStep) * 100.0) / 100.0;
    m_edits.dragCell(m_dragMap, i, j, value);
}

void InspectorEditing::popUp(const QPoint& at, const std::function<void(QMenu&)>& fill) {
    QMenu menu(&m_inspector);
    menu.setToolTipsVisible(true);
    fill(menu);
    if (const QString why = m_edits.disabledReason(); !why.isEmpty()) {
        for (auto* action : menu.actions()) {
            action->setEnabled(false);
            action->setToolTip(why);
        }
    }
    if (!menu.isEmpty()) showMenu(menu, at);
}

void InspectorEditing::fillMapMenu(QMenu& menu) {
    const auto map = chosenMap();
    const auto& view = m_inspector.view();
    menu.addSection(QString::fromStdString(map.layer) + QStringLiteral(", ") +
                    widgets::mapTitle(m_inspector.choice().maps(), view));
    auto* out = menu.addMenu(QStringLiteral("Knock out"));
    const auto knock = [&](const QString& text, EditOp how, const QString& help) {
        auto* action = out->addAction(text, this, [this, map, how] { m_edits.knockOut(map, how); });
        action->setToolTip(help);
        return action;
    };
    out->setToolTipsVisible(true);
    knock(QStringLiteral("Zero\tX"), EditOp::Zero, QStringLiteral("Its values become 0"));
    knock(QStringLiteral("Mean"), EditOp::Mean,
          QStringLiteral("Its values become their mean over 1,024 training examples"));
    knock(QStringLiteral("Another example"), EditOp::Resample,
          QStringLiteral("Its values become those of the next example of the split"));
    menu.addAction(QStringLiteral("Only this one\tShift+X"), this,
                   [this, map] { m_edits.onlyThis(map); });
    menu.addAction(QStringLiteral("Scale..."), this, [this, map] {
        if (const auto factor = askNumber(QStringLiteral("Scale"), QStringLiteral("Factor"), 0.5))
            m_edits.scale(map, *factor);
    });
    menu.addAction(QStringLiteral("Invert"), this, [this, map] { m_edits.scale(map, -1.0); });
    auto* uniform = menu.addAction(QStringLiteral("Make uniform"), this,
                                   [this, map] { m_edits.makeUniform(map); });
    uniform->setEnabled(isAttention(view.kind));
    if (!uniform->isEnabled()) uniform->setToolTip(QStringLiteral("For attention weights only"));
}

void InspectorEditing::fillCellMenu(QMenu& menu, int i, int j) {
    if (m_inspector.choice().maps().isTransposed(m_inspector.view())) std::swap(i, j);
    const auto map = chosenMap();
    const auto& maps = m_inspector.choice().maps();
    menu.addSection(QStringLiteral("%1 \u2190 %2")
                        .arg(widgets::rowName(maps, m_inspector.view(), i),
                             widgets::columnName(maps, m_inspector.view(), j)));
    if (map.kind != MapKind::Symbols) {
        auto* cut = menu.addMenu(QStringLiteral("Cut the edge i \u2190 j"));
        const auto edge = [&](const QString& text, InspectorEdits::Edge which) {
            cut->addAction(text, this,
                           [this, map, i, j, which] { m_edits.cutEdge(map, i, j, which); });
        };
        if (isAttention(map.kind))
            edge(QStringLiteral("This head"), InspectorEdits::Edge::ThisHead);
        edge(QStringLiteral("All heads of its kind"), InspectorEdits::Edge::AllHeads);
        edge(QStringLiteral("All heads of the layer"), InspectorEdits::Edge::Layer);
        const QString what = map.kind == MapKind::Relation
                                 ? QStringLiteral("Set r\u1D62\u2C7C")
                                 : QStringLiteral("Set \u03B1\u1D62\u2C7C");
        const QString where = QStringLiteral("%1 \u2190 %2")
                                  .arg(widgets::rowName(maps, m_inspector.view(), i),
                                       widgets::columnName(maps, m_inspector.view(), j));
        menu.addAction(what + QStringLiteral("..."), this, [this, map, i, j, what, where] {
            const auto value = askNumber(what, where, cellValue(i, j));
            if (value) m_edits.setCell(map, i, j, *value);
        });
        if (map.kind == MapKind::Relation && m_edits.symmetricModel()) {
            auto* both =
                menu.addAction(QStringLiteral("Set r\u1D62\u2C7C and r\u2C7C\u1D62 together"));
            both->setCheckable(true);
            both->setChecked(m_edits.setsBoth());
            both->setToolTip(QStringLiteral("The relations of this model are symmetric"));
            connect(both, &QAction::toggled, this, [this](bool on) { m_edits.setBoth(on); });
        }
    }
    menu.addSeparator();
    fillMapMenu(menu);
}

void InspectorEditing::fillObjectMenu(QMenu& menu, int object) {
    const auto map = chosenMap();
    const auto& view = m_inspector.view();
    const QString name = widgets::columnName(m_inspector.choice().maps(), view, object);
    menu.addSection(name);
    if (view.source != object && map.kind != MapKind::Symbols) {
        auto* cut = menu.addMenu(QStringLiteral("Cut the edge i \u2190 this one"));
        const int i = view.source;
        if (isAttention(map.kind))
            cut->addAction(QStringLiteral("This head"), this, [this, map, i, object] {
                m_edits.cutEdge(map, i, object, InspectorEdits::Edge::ThisHead);
            });
        cut->addAction(QStringLiteral("All heads of the layer"), this, [this, map, i, object] {
            m_edits.cutEdge(map, i, object, InspectorEdits::Edge::Layer);
        });
    }
    menu.addAction(QStringLiteral("Take its symbol out"), this,
                   [this, map, object] { m_edits.zeroSymbols(map, object); });
    auto* swap = menu.addAction(QStringLiteral("Swap symbols with..."), this, [this, map, object] {
        const auto other =
            askNumber(QStringLiteral("Swap symbols"), QStringLiteral("Exchange with object"),
                      m_inspector.view().source);
        if (other) m_edits.swapSymbols(map, object, static_cast<int>(std::lround(*other)));
    });
    swap->setToolTip(QStringLiteral("Each gets the symbol of the other"));
    auto* patch = menu.addAction(
        m_edits.secondName().isEmpty()
            ? QStringLiteral("Patch this position from B...")
            : QStringLiteral("Patch this position from %1").arg(m_edits.secondName()),
        this, [this, map, object] {
            if (m_edits.secondName().isEmpty()) return Q_EMIT secondWanted();
            m_edits.patchPosition(map, object);
        });
    patch->setToolTip(
        QStringLiteral("The stream that enters the layer there becomes that of the second input"));
}

}  // namespace relascope::app
