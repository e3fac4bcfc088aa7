// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <utility>

#include <QAbstractItemView>
#include <QCheckBox>
#include <QComboBox>
#include <QContextMenuEvent>
#include <QFileDialog>
#include <QFontMetrics>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QMenu>
#include <QPainter>
#include <QPushButton>
#include <QStringList>
#include <QToolButton>
#include <QVBoxLayout>
#include <QWheelEvent>

#include "types/field_text.h"
#include "widgets/form/field_row.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

QString realText(double value) {
    if (value == 0.0) return QStringLiteral("0");
    const double size = std::abs(value);
    const bool scientific = size < 0.01 || size >= 1e6;
    QString text =
        QLocale::c().toString(value, scientific ? 'e' : 'f', QLocale::FloatingPointShortest);
    // Writes 1e-03 as 1e-3.
    const auto e = text.indexOf(u'e');
    if (e > 0) text = text.left(e) + u'e' + QString::number(text.mid(e + 1).toInt());
    return text;
}

}  // namespace

QString fieldText(const FieldValue& value) {
    if (const auto* b = std::get_if<bool>(&value))
        return *b ? QStringLiteral("on") : QStringLiteral("off");
    if (const auto* d = std::get_if<double>(&value)) return realText(*d);
    return QString::fromStdString(core::fieldValueText(value));
}

QString automaticText(const FieldState& state) {
    return state.automatic.empty()
               ? QString()
               : QStringLiteral("automatic (%1)").arg(QString::fromStdString(state.automatic));
}

QString shownText(const FieldValue& value, const FieldState& state) {
    const auto* whole = std::get_if<std::int64_t>(&value);
    const auto* real = std::get_if<double>(&value);
    const bool zero = (whole && *whole == 0) || (real && *real == 0.0);
    return zero && !state.automatic.empty() ? QString() : fieldText(value);
}

QString presetText(const FieldState& state) {
    const QString text = shownText(state.preset, state);
    return text.isEmpty() && !state.automatic.empty() ? automaticText(state) : text;
}

std::optional<FieldValue> parseShown(const QString& text, const FieldState& state,
                                     QString* problem) {
    const bool automatic = text.trimmed().isEmpty() && !state.automatic.empty();
    return parseField(automatic ? QStringLiteral("0") : text, state.spec, problem);
}

std::optional<FieldValue> parseField(const QString& typed, const FieldSpec& spec,
                                     QString* problem) {
    QString text = typed.trimmed();
    if (spec.kind == FieldKind::Boolean) text = text.toLower();
    if (spec.kind == FieldKind::Integer) text.remove(u',').remove(u'_');
    if (spec.kind == FieldKind::Real) text.replace(QChar(0x2212), QLatin1Char('-'));
    if (spec.kind == FieldKind::IntegerList) text.replace(u' ', u',');
    try {
        if (spec.kind == FieldKind::IntegerList && text.isEmpty())
            throw OptionError({}, "must be integers separated by commas");
        return core::parseFieldValue({}, spec, text.toStdString());
    } catch (const OptionError& error) {
        *problem = QString::fromStdString(error.message());
        return std::nullopt;
    }
}

namespace {

/// A spin box for 64-bit whole numbers: QSpinBox ends at 2^31, seeds and sizes do not. It accepts
/// any text, so that the form can report errors.
class WholeBox : public QAbstractSpinBox {
public:
    using QAbstractSpinBox::lineEdit;
    using QAbstractSpinBox::QAbstractSpinBox;
    std::function<void(int)> nudge;
    void stepBy(int steps) override {
        if (nudge) nudge(steps);
    }
    QValidator::State validate(QString&, int&) const override { return QValidator::Acceptable; }

protected:
    StepEnabled stepEnabled() const override { return StepUpEnabled | StepDownEnabled; }
};

}  // namespace

FieldRow::FieldRow(const FieldState& state, QWidget* parent) : QWidget(parent), m_state(state) {
    const QString label = QString::fromStdString(state.spec.label);
    m_label = new ElidedLabel(label, this);
    m_label->setFont(smallFont());
    // Long ones take some of the field's place, longer ones stand above it; those of changed fields
    // are bold.
    constexpr int usualLabel = 110, longestLabel = 148;
    QFont bold = smallFont();
    bold.setWeight(QFont::DemiBold);
    const int wholeLabel = QFontMetrics(bold).horizontalAdvance(label) + 2;
    const int labelWidth = std::clamp(wholeLabel, usualLabel, longestLabel);
    m_label->setFixedWidth(labelWidth);
    m_kind = iconButton(state.spec.live ? "pencil" : "restart",
                        state.spec.live ? QStringLiteral("Can be changed during training")
                                        : QStringLiteral("Cannot be changed during training"),
                        this);
    m_kind->setFocusPolicy(Qt::NoFocus);
    m_kind->setIconSize({14, 14});
    m_kind->setFixedSize(20, 24);
    int widest = 0;  // px of the longest choice
    switch (state.spec.kind) {
        case FieldKind::Boolean:
            m_check = new QCheckBox(this);
            connect(m_check, &QCheckBox::toggled, this, [this](bool on) {
                m_check->setText(on ? QStringLiteral("on") : QStringLiteral("off"));
                if (m_quiet) return;
                take(on);
                Q_EMIT editingEnded();
            });
            break;
        case FieldKind::Choice:
            m_combo = new QComboBox(this);
            widest = fillChoices();
            m_combo->view()->setMinimumWidth(190);  // choices are longer than the field is wide
            m_combo->setMinimumContentsLength(4);
            m_combo->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
            connect(m_combo, &QComboBox::currentIndexChanged, this, [this](int i) {
                if (m_quiet || i < 0) return;
                take(m_combo->itemData(i).toString().toStdString());
                Q_EMIT editingEnded();
            });
            break;
        case FieldKind::Integer: {
            auto* box = new WholeBox(this);
            box->nudge = [this](int steps) { nudge(steps); };
            m_spin = box;
            m_edit = box->lineEdit();
            break;
        }
        default:
            m_edit = new QLineEdit(this);
    }
    if (m_edit)
        connect(m_edit, &QLineEdit::textChanged, this, [this](const QString& text) {
            if (!m_quiet) typed(text);
        });
    if (state.spec.path) {
        m_browse =
            iconButton("folder", QStringLiteral("Choose a file or folder: %1").arg(label), this);
        m_browse->setFixedSize(24, 24);
        connect(m_browse, &QToolButton::clicked, this, [this] { popUpBrowse(m_browse); });
    }
    askPath = [this](bool folder, const QString& from) {
        const QString title = QString::fromStdString(m_state.spec.label);
        return folder ? QFileDialog::getExistingDirectory(window(), title, from)
                      : QFileDialog::getOpenFileName(window(), title, from);
    };
    QWidget* control = editor();
    control->setFont(m_check || m_combo ? smallFont() : numberFont(12));
    control->setAccessibleName(label);
    control->setAccessibleDescription(QString::fromStdString(state.spec.help));
    control->setFocusPolicy(Qt::StrongFocus);
    control->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    control->setFixedHeight(24);
    control->installEventFilter(this);
    if (m_edit && m_edit != control) m_edit->installEventFilter(this);
    m_label->setBuddy(control);
    m_rest.setSingleShot(true);
    m_rest.setInterval(400);
    connect(&m_rest, &QTimer::timeout, this, &FieldRow::commit);

    auto* column = columnOf(this, {16, 3, 10, 3}, 2);
    auto* row = new QHBoxLayout;
    row->setSpacing(4);
    row->addWidget(m_label);
    column->addLayout(row);
    // Choices that would be elided next to the label get a separate line, and so do texts for an
    // automatic value, beside the arrows, and paths.
    if (!state.automatic.empty())
        widest = QFontMetrics(captionFont()).horizontalAdvance(automaticText(state)) +
                 (m_spin ? 8 : -12);
    const int besideLabel = state.spec.path ? 0 : 76 - (labelWidth - usualLabel);
    if (state.spec.path || widest > besideLabel || wholeLabel > longestLabel) {
        m_label->setMinimumWidth(usualLabel);
        m_label->setMaximumWidth(QWIDGETSIZE_MAX);
        row->addStretch(1);
        auto* line = new QHBoxLayout;
        line->setSpacing(4);
        line->addWidget(control, 1);
        if (m_browse) line->addWidget(m_browse);
        column->addLayout(line);
    } else {
        row->addWidget(control, 1);
    }
    row->addSpacing(2);
    row->addWidget(m_kind);
    m_sentence = new FieldNote(this);
    column->addWidget(m_sentence);
    m_mend = new QPushButton(this);
    m_mend->setProperty("compact", true);
    m_mend->setFont(smallFont());
    m_mend->setAutoDefault(false);
    m_mend->hide();
    connect(m_mend, &QPushButton::clicked, this, [this] {
        if (m_asksFile)
            popUpBrowse(m_mend);
        else
            Q_EMIT mendRequested();
    });
    column->addWidget(m_mend, 0, Qt::AlignLeft);
    show(m_state.value);
    restyle();
}

QWidget* FieldRow::editor() const {
    if (m_check) return m_check;
    if (m_combo) return m_combo;
    return m_spin ? m_spin : m_edit;
}

void FieldRow::setState(const FieldState& state) {
    const bool sameChoices = state.spec.choices == m_state.spec.choices;
    const bool same = state.value == m_state.value && sameChoices;
    m_state = state;
    if (m_combo && !sameChoices) fillChoices();
    if (m_edit) m_edit->setPlaceholderText(automaticText(m_state));
    // A text that already means the value ("1e-3", "0.0010") is kept as typed.
    if (!same ||
        (m_edit && m_typed.isEmpty() && !m_pending && !editor()->hasFocus() && !m_edit->hasFocus()))
        show(state.value);
    restyle();
}

int FieldRow::fillChoices() {
    const bool quiet = std::exchange(m_quiet, true);
    m_combo->clear();
    int widest = 0;
    for (std::size_t i = 0; i < m_state.spec.choices.size(); ++i) {
        const QString text = QString::fromStdString(m_state.spec.choices[i]);
        const auto& titles = m_state.spec.choiceTitles;
        const QString title = i < titles.size() ? QString::fromStdString(titles[i])
                                                : QString(text).replace(u'_', u' ');
        m_combo->addItem(title, text);
        m_combo->setItemData(m_combo->count() - 1, title == text ? QVariant() : text,
                             Qt::ToolTipRole);  // as files and the command line call it
        widest = qMax(widest, QFontMetrics(smallFont()).horizontalAdvance(title));
    }
    m_quiet = quiet;
    return widest;
}

void FieldRow::show(const FieldValue& value) {
    m_quiet = true;
    if (m_check) {
        m_check->setChecked(std::get<bool>(value));
        m_check->setText(m_check->isChecked() ? QStringLiteral("on") : QStringLiteral("off"));
    } else if (m_combo) {
        m_combo->setCurrentIndex(
            m_combo->findData(QString::fromStdString(std::get<std::string>(value))));
    } else {
        m_edit->setPlaceholderText(automaticText(m_state));
        QString problem;
        if (parseShown(m_edit->text(), m_state, &problem) != value ||
            (!m_edit->hasFocus() && shownText(value, m_state).isEmpty()))
            m_edit->setText(shownText(value, m_state));
        m_edit->setCursorPosition(m_edit->hasFocus() ? m_edit->cursorPosition() : 0);
        // "automatic (64)" has to fit beside the arrows.
        m_edit->setFont(m_edit->text().isEmpty() ? captionFont() : numberFont(12));
    }
    m_quiet = false;
    m_typed.clear();
    m_pending.reset();
    m_rest.stop();
}

void FieldRow::typed(const QString& text) {
    const bool was = valid();
    m_typed.clear();
    if (const auto value = parseShown(text, m_state, &m_typed); !value)
        m_pending.reset();
    else if (m_running)
        m_pending = *value != m_state.value ? value : std::nullopt;
    else if (*value != m_state.value)
        take(*value);
    restyle();
    if (was != valid()) Q_EMIT validityChanged();
}

void FieldRow::commit() {
    m_rest.stop();
    if (m_pending) {
        take(*std::exchange(m_pending, std::nullopt));
        // Ctrl+Z is the window's from here on: the texts on the way were never in effect.
        const bool quiet = std::exchange(m_quiet, true);
        m_edit->setText(m_edit->text());
        m_quiet = quiet;
    }
    Q_EMIT editingEnded();
}

void FieldRow::takeBack() {
    const bool was = valid();
    m_quiet = true;
    m_edit->setText(shownText(m_state.value, m_state));
    m_edit->selectAll();
    m_quiet = false;
    show(m_state.value);
    restyle();
    if (was != valid()) Q_EMIT validityChanged();
}

/// Enter, Escape and undo of a text field.
bool FieldRow::key(QKeyEvent* event) {
    if (event->type() == QEvent::ShortcutOverride) {
        // If the field has nothing to undo, the window handles the shortcut.
        const bool window = (event->matches(QKeySequence::Undo) && !m_edit->isUndoAvailable()) ||
                            (event->matches(QKeySequence::Redo) && !m_edit->isRedoAvailable());
        if (window) event->ignore();
        return window;
    }
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) {
        if (!m_typed.isEmpty()) return true;  // its sentence says what is wrong
        commit();
        m_edit->selectAll();
        return true;
    }
    const bool differs = m_pending || !m_typed.isEmpty();
    if (event->key() != Qt::Key_Escape || !differs) return false;
    takeBack();
    return true;
}

void FieldRow::take(const FieldValue& value) {
    m_state.value = value;
    restyle();
    Q_EMIT valueChanged(value);
}

void FieldRow::nudge(int steps) {
    const FieldValue now = m_pending.value_or(m_state.value);
    const auto* value = std::get_if<std::int64_t>(&now);
    if (!value) return;
    const double next = static_cast<double>(*value) + steps;
    m_edit->setText(QString::number(
        static_cast<qint64>(qBound(m_state.spec.minimum, next, m_state.spec.maximum))));
    if (m_pending) m_rest.start();
}

void FieldRow::resetToPreset() {
    const bool was = valid();
    show(m_state.preset);
    if (changed()) take(m_state.preset);
    Q_EMIT editingEnded();
    restyle();
    if (was != valid()) Q_EMIT validityChanged();
}

void FieldRow::setRunning(bool running) {
    // A text that was refused, or not applied, ends with the training: the run has the other value.
    if (std::exchange(m_running, running) && !running && (m_pending || !m_typed.isEmpty()))
        takeBack();
    restyle();
}

void FieldRow::setOutsideProblem(const QString& sentence) {
    if (m_outside == sentence) return;
    const bool was = valid();
    m_outside = sentence;
    restyle();
    if (was != valid()) Q_EMIT validityChanged();
}

void FieldRow::setRefusal(const QString& sentence, const QString& action) {
    m_refusal = sentence;
    m_asksFile = action.isEmpty() && m_state.spec.path;
    m_mend->setText(m_asksFile ? QStringLiteral("Choose another file or folder\u2026") : action);
    m_mend->setVisible(!sentence.isEmpty() && !m_mend->text().isEmpty());
    restyle();
}

void FieldRow::setFact(const QString& sentence) {
    m_fact = sentence;
    restyle();
}

void FieldRow::popUpBrowse(QWidget* below) {
    QMenu menu(this);
    connect(menu.addAction(QStringLiteral("File\u2026")), &QAction::triggered, this,
            [this] { browse(false); });
    connect(menu.addAction(QStringLiteral("Folder\u2026")), &QAction::triggered, this,
            [this] { browse(true); });
    menu.exec(below->mapToGlobal(QPoint(0, below->height())));
}

void FieldRow::browse(bool folder) {
    const QString path = askPath(folder, m_edit->text());
    if (path.isEmpty()) return;
    m_edit->setText(path);
    commit();
}

void FieldRow::restyle() {
    const Theme& t = Theme::current();
    QFont face = smallFont();
    if (changed()) face.setWeight(QFont::DemiBold);
    m_label->setFont(face);
    const bool enabled = !m_running || m_state.spec.live;
    QWidget* control = editor();
    control->setEnabled(enabled);
    if (m_browse) m_browse->setEnabled(enabled);
    QString help = QString::fromStdString(m_state.spec.help);
    if (changed()) help += QString(" Changed; the preset has %1.").arg(presetText(m_state));
    control->setToolTip(enabled ? help
                                : QStringLiteral("Stop the run to change this option. ") + help);
    update();
    m_kind->setIcon(
        icon(m_state.spec.live ? "pencil" : "restart", m_state.spec.live ? t.accent : t.faint));
    const bool bad = !problem().isEmpty();
    if (control->property("error").toBool() != bad) {
        control->setProperty("error", bad);
        control->update();
    }
    if (bad)
        m_sentence->setProblem(problem());
    else
        m_sentence->setHint(m_pending ? QString("Enter applies %1; Escape keeps %2")
                                            .arg(fieldText(*m_pending), fieldText(m_state.value))
                                      : m_fact);
}

bool FieldRow::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::FocusIn) Q_EMIT focused();
    if (event->type() == QEvent::FocusOut && m_edit) {
        // A menu or another window does not end the editing.
        const auto reason = static_cast<QFocusEvent*>(event)->reason();
        const bool left = reason != Qt::PopupFocusReason && reason != Qt::MenuBarFocusReason &&
                          reason != Qt::ActiveWindowFocusReason;
        if (left) commit();
        if (m_typed.isEmpty() && !m_pending) {
            m_quiet = true;
            m_edit->setText(shownText(m_state.value, m_state));
            m_quiet = false;
        }
    }
    if (m_edit &&
        (event->type() == QEvent::KeyPress || event->type() == QEvent::ShortcutOverride) &&
        key(static_cast<QKeyEvent*>(event)))
        return true;
    // Scrolling the form must not change the value under the pointer.
    if (event->type() == QEvent::Wheel && !editor()->hasFocus()) {
        event->ignore();
        return true;
    }
    return QWidget::eventFilter(watched, event);
}

void FieldRow::paintEvent(QPaintEvent*) {
    if (!changed()) return;
    QPainter painter(this);
    painter.fillRect(QRect(6, 7, 3, 16), Theme::current().accent);
}

void FieldRow::contextMenuEvent(QContextMenuEvent* event) {
    QMenu menu(this);
    QAction* reset = menu.addAction(QString("Reset to preset (%1)").arg(presetText(m_state)));
    reset->setEnabled((changed() || m_pending || !m_typed.isEmpty()) &&
                      (!m_running || m_state.spec.live));
    connect(reset, &QAction::triggered, this, &FieldRow::resetToPreset);
    menu.exec(event->globalPos());
}

void FieldRow::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_sentence) restyle();
}

}  // namespace relascope::widgets
