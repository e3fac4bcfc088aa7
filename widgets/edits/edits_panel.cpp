// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/edits/edits_panel.h"

#include <QAbstractItemModel>
#include <QGridLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

EditsPanel::EditsPanel(QWidget* parent) : QWidget(parent) {
    setAccessibleName(QStringLiteral("Edits"));
    paintOnPanelColour(this);
    auto* column = columnOf(this, {12, 10, 12, 10}, 8);

    m_words = new QLineEdit(this);
    m_words->setFont(smallFont());
    m_words->setPlaceholderText(QStringLiteral("layer 2 relation 3 zero"));
    m_words->setAccessibleName(QStringLiteral("New edit in words"));
    m_words->setToolTip(
        QStringLiteral("An edit in words, as after --edit: layers, heads and relations count from "
                       "1, tokens from 0. Enter adds it."));
    column->addWidget(m_words);
    m_wordsNote = new FieldNote(this);
    column->addWidget(m_wordsNote);
    connect(m_words, &QLineEdit::returnPressed, this, [this] {
        const QString words = m_words->text().simplified();
        if (!words.isEmpty()) Q_EMIT wordsEntered(words);
    });
    connect(m_words, &QLineEdit::textEdited, this, [this] { setWordsProblem({}); });

    m_empty = mutedLabel(QStringLiteral("Nothing is edited. Press X on a map, or use the menu of a "
                                        "map, a patch or a token."),
                         this);
    m_empty->setWordWrap(true);
    m_empty->setFont(smallFont());
    column->addWidget(m_empty);
    m_list = new QListWidget(this);
    m_list->setFont(smallFont());
    m_list->setWordWrap(true);
    m_list->setAccessibleName(QStringLiteral("Edits in order"));
    m_list->setToolTip(QStringLiteral("Applied in this order. Drag to move, Delete to remove."));
    m_list->setDragDropMode(QAbstractItemView::InternalMove);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->installEventFilter(this);
    column->addWidget(m_list, 1);
    connect(m_list, &QListWidget::itemChanged, this, [this](QListWidgetItem* item) {
        if (!m_filling)
            Q_EMIT enabledRequested(m_list->row(item), item->checkState() == Qt::Checked);
    });
    // A drop inserts the moved row and then removes the old one.
    connect(m_list->model(), &QAbstractItemModel::rowsMoved, this,
            [this](const QModelIndex&, int from, int, const QModelIndex&, int to) {
                if (!m_filling) Q_EMIT moveRequested(from, to > from ? to - 1 : to);
            });
    m_problem = new FieldNote(this);
    column->addWidget(m_problem);
    m_outcome = new QLabel(this);
    m_outcome->setFont(smallFont());
    m_outcome->setWordWrap(true);
    m_outcome->setTextFormat(Qt::RichText);
    m_outcome->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_outcome->setAccessibleName(QStringLiteral("Result of the evaluation"));
    m_outcome->hide();
    column->addWidget(m_outcome);
    m_training = mutedLabel({}, this);
    m_training->setFont(smallFont());
    m_training->setWordWrap(true);
    m_training->hide();
    column->addWidget(m_training);

    m_evaluate = button(QStringLiteral("Evaluate..."),
                        QStringLiteral("Measure the edits on a split: change with its interval"),
                        &EditsPanel::evaluateRequested);
    // While it runs the same button cancels it.
    m_evaluate->disconnect(this);
    connect(m_evaluate, &QPushButton::clicked, this,
            [this] { m_evaluating < 0.0 ? evaluateRequested() : cancelRequested(); });
    m_ablation = button(QStringLiteral("Ablation table..."),
                        QStringLiteral("Take every part out, one after another"),
                        &EditsPanel::ablationRequested);
    m_patch = button(QStringLiteral("Patch from B..."),
                     QStringLiteral("Maps of what a second input changes, part by part"),
                     &EditsPanel::patchRequested);
    m_train = button(QStringLiteral("In training..."),
                     QStringLiteral("Apply these edits in training from here on"),
                     &EditsPanel::trainRequested);
    m_save = button(QStringLiteral("Save..."),
                    QStringLiteral("Save the list as a file of edits (Ctrl+Shift+E)"),
                    &EditsPanel::saveRequested);
    m_open = button(QStringLiteral("Open..."), QStringLiteral("Open a file of edits"),
                    &EditsPanel::openRequested);
    m_clear = button(QStringLiteral("Clear"), QStringLiteral("Remove all edits"),
                     &EditsPanel::clearRequested);
    auto* grid = new QGridLayout;
    grid->setSpacing(6);
    grid->addWidget(m_evaluate, 0, 0, 1, 3);
    grid->addWidget(m_ablation, 1, 0, 1, 3);
    grid->addWidget(m_patch, 0, 3, 1, 3);
    grid->addWidget(m_train, 1, 3, 1, 3);
    grid->addWidget(m_save, 2, 0, 1, 2);
    grid->addWidget(m_open, 2, 2, 1, 2);
    grid->addWidget(m_clear, 2, 4, 1, 2);
    column->addLayout(grid);
    refresh();
}

QPushButton* EditsPanel::button(const QString& text, const QString& tip,
                                void (EditsPanel::*signal)()) {
    auto* made = new QPushButton(text, this);
    made->setFont(smallFont());
    made->setToolTip(tip);
    made->setProperty("help", tip);
    connect(made, &QPushButton::clicked, this, signal);
    return made;
}

void EditsPanel::setLines(std::vector<EditLine> lines) {
    if (lines == m_lines) return;
    m_lines = std::move(lines);
    m_filling = true;
    const int current = m_list->currentRow();
    // Rows are reused, so that a check box under the pointer stays where it is.
    while (m_list->count() > static_cast<int>(m_lines.size()))
        delete m_list->takeItem(m_list->count() - 1);
    while (m_list->count() < static_cast<int>(m_lines.size())) m_list->addItem(QString());
    for (int k = 0; k < m_list->count(); ++k) {
        const EditLine& line = m_lines[static_cast<std::size_t>(k)];
        QListWidgetItem* item = m_list->item(k);
        item->setFlags(Qt::ItemIsSelectable | Qt::ItemIsEnabled | Qt::ItemIsUserCheckable |
                       Qt::ItemIsDragEnabled);
        item->setText(line.effect.isEmpty() ? line.words : line.words + u'\n' + line.effect);
        item->setToolTip(plainTip(line.tip));
        item->setCheckState(line.enabled ? Qt::Checked : Qt::Unchecked);
        item->setForeground(line.enabled ? QBrush() : QBrush(Theme::current().muted));
    }
    m_list->setCurrentRow(qMin(current, m_list->count() - 1));
    m_filling = false;
    refresh();
}

void EditsPanel::setDisabledReason(const QString& reason) {
    m_disabled = reason;
    refresh();
}
void EditsPanel::setTrainDisabledReason(const QString& reason) {
    m_trainDisabled = reason;
    refresh();
}
void EditsPanel::setEvaluateDisabledReason(const QString& reason) {
    m_evaluateDisabled = reason;
    refresh();
}
void EditsPanel::setWordsProblem(const QString& sentence) {
    m_wordsNote->setProblem(sentence);
}
void EditsPanel::setProblem(const QString& sentence) {
    m_problem->setProblem(sentence);
}
void EditsPanel::setTraining(const QString& words) {
    m_training->setText(words.isEmpty() ? QString()
                                        : QStringLiteral("Training applies: %1").arg(words));
    m_training->setVisible(!words.isEmpty());
}
void EditsPanel::setOutcome(const QString& text) {
    m_outcome->setText(text);
    m_outcome->setVisible(!text.isEmpty());
}
void EditsPanel::setEvaluating(double fraction) {
    m_evaluating = fraction;
    m_evaluate->setText(fraction < 0.0
                            ? QStringLiteral("Evaluate...")
                            : QStringLiteral("Cancel (%1 %)").arg(qRound(100.0 * fraction)));
    refresh();
}
void EditsPanel::focusWords() {
    m_words->setFocus(Qt::ShortcutFocusReason);
}

void EditsPanel::refresh() {
    const bool any = !m_lines.empty();
    m_empty->setVisible(!any);
    m_list->setVisible(any);
    static_cast<QVBoxLayout*>(layout())->setStretchFactor(m_empty, any ? 0 : 1);
    m_empty->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    const auto allow = [](QPushButton* made, const QString& reason) {
        made->setEnabled(reason.isEmpty());
        made->setToolTip(reason.isEmpty() ? made->property("help").toString() : reason);
    };
    const QString nothing = !m_disabled.isEmpty() ? m_disabled
                            : any                 ? QString()
                                  : QStringLiteral("The list is empty: edit something first");
    m_words->setEnabled(m_disabled.isEmpty());
    allow(m_open, m_disabled);
    allow(m_save, nothing);
    allow(m_clear, nothing);
    allow(m_ablation, !m_disabled.isEmpty() ? m_disabled : m_evaluateDisabled);
    allow(m_patch, m_disabled);
    allow(m_evaluate, m_evaluating >= 0.0  ? QString()
                      : !nothing.isEmpty() ? nothing
                                           : m_evaluateDisabled);
    allow(m_train, m_trainDisabled);
}

bool EditsPanel::eventFilter(QObject* watched, QEvent* event) {
    if (watched == m_list && event->type() == QEvent::KeyPress) {
        const auto* key = static_cast<QKeyEvent*>(event);
        const int line = m_list->currentRow();
        if (key->key() == Qt::Key_Delete && line >= 0) {
            Q_EMIT removeRequested(line);
            return true;
        }
        const bool moves = key->modifiers() == Qt::AltModifier && line >= 0;
        if (moves && key->key() == Qt::Key_Up && line > 0) {
            Q_EMIT moveRequested(line, line - 1);
            m_list->setCurrentRow(line - 1);
            return true;
        }
        if (moves && key->key() == Qt::Key_Down && line + 1 < m_list->count()) {
            Q_EMIT moveRequested(line, line + 1);
            m_list->setCurrentRow(line + 1);
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

}  // namespace relascope::widgets
