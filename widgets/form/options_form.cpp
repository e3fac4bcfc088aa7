// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/form/options_form.h"

#include <QEvent>
#include <QGridLayout>
#include <QLabel>
#include <QPainter>
#include <QScrollArea>
#include <QStackedLayout>
#include <QToolButton>
#include <QVBoxLayout>

#include "widgets/form/field_row.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

/// The name of a tab, upright on the collapsed strip; a click opens it.
class StripWord : public QAbstractButton {
public:
    StripWord(const QString& word, QWidget* parent) : QAbstractButton(parent) {
        setText(word);
        setToolTip(QStringLiteral("Show %1").arg(word.toLower()));
        setCursor(Qt::PointingHandCursor);
        setFixedSize(24, QFontMetrics(smallFont()).horizontalAdvance(word) + 16);
    }

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        painter.setFont(smallFont());
        painter.setPen(Theme::current().muted);
        painter.translate(width(), 0);
        painter.rotate(90);
        painter.drawText(QRect(4, 0, height(), width()), Qt::AlignVCenter | Qt::AlignLeft, text());
        if (paint::keyboardFocus(this)) {
            painter.resetTransform();
            paint::focusRing(painter, rect());
        }
    }
};

QString groupTitle(const QString& group) {
    if (group == "train") return QStringLiteral("Training");
    return group.left(1).toUpper() + group.mid(1);
}

QToolButton* flatButton(QWidget* parent, bool semiBold) {
    auto* button = new QToolButton(parent);
    button->setAutoRaise(true);
    button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    QFont face = smallFont();
    if (semiBold) face.setWeight(QFont::DemiBold);
    button->setFont(face);
    button->setFixedHeight(26);
    return button;
}

}  // namespace

OptionsForm::OptionsForm(QWidget* parent) : QWidget(parent) {
    setAccessibleName(QStringLiteral("Options"));
    auto* across = rowOf(this, {1, 0, 0, 0}, 0);

    m_strip = new QWidget(this);
    m_upright = columnOf(m_strip, {1, 6, 2, 0}, 8);
    auto* open = iconButton("sidebar", QStringLiteral("Show the options"), m_strip);
    connect(open, &QToolButton::clicked, this, [this] { setCollapsed(false); });
    auto* word = new StripWord(m_tabTitles[0], m_strip);
    connect(word, &QAbstractButton::clicked, this, [this] { Q_EMIT tabRequested(0); });
    m_upright->addWidget(open);
    m_upright->addWidget(word);
    m_upright->addStretch(1);
    m_strip->hide();
    across->addWidget(m_strip);

    m_content = new QWidget(this);
    across->addWidget(m_content, 1);
    auto* whole = columnOf(m_content);
    auto* head = m_head = new PanelHead(m_tabTitles[0], m_content);
    auto* close = iconButton("sidebar", QStringLiteral("Collapse the options"), head);
    connect(close, &QToolButton::clicked, this, [this] { setCollapsed(true); });
    head->addControl(close);
    whole->addWidget(head);
    m_pages = new QStackedLayout;
    whole->addLayout(m_pages, 1);
    auto* options = new QWidget(m_content);
    m_pages->addWidget(options);
    auto* column = m_body = columnOf(options);

    auto* legend = new QHBoxLayout;
    legend->setContentsMargins(16, 6, 16, 6);
    legend->setSpacing(6);
    for (const bool live : {true, false}) {
        auto* sign = iconButton(live ? "pencil" : "restart", {}, m_content);
        m_signs[live ? 0 : 1] = sign;
        sign->setIconSize({14, 14});
        sign->setFixedSize(16, 16);
        sign->setFocusPolicy(Qt::NoFocus);
        sign->setAttribute(Qt::WA_TransparentForMouseEvents);
        legend->addWidget(sign);
        QLabel* label = mutedLabel(
            live ? QStringLiteral("live") : QStringLiteral("needs a restart"), m_content);
        label->setFont(captionFont());
        legend->addWidget(label);
        legend->addSpacing(10);
    }
    legend->addStretch(1);
    column->addLayout(legend);
    m_changedRow = new QWidget(m_content);
    auto* changed = rowOf(m_changedRow, {16, 0, 10, 2}, 8);
    m_changed = new ElidedLabel({}, m_changedRow);
    m_changed->setFont(captionFont());
    m_reset = flatButton(m_changedRow, false);
    m_reset->setText(QStringLiteral("Reset"));
    m_reset->setToolTip(QStringLiteral("All options as in the preset"));
    connect(m_reset, &QToolButton::clicked, this, &OptionsForm::resetRequested);
    changed->addWidget(m_changed, 1);
    changed->addWidget(m_reset);
    m_changedRow->hide();
    column->addWidget(m_changedRow);
    column->addWidget(horizontalLine(m_content));

    auto* scroll = m_scroll = new QScrollArea(m_content);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setFocusPolicy(Qt::NoFocus);
    auto* inside = new QWidget(scroll);
    paintOnPanelColour(inside);
    m_form = columnOf(inside, {0, 4, 0, 8});
    m_form->addStretch(1);
    scroll->setWidget(inside);
    column->addWidget(scroll, 1);

    m_helpBox = new Box(&Theme::alt, true, m_content);
    auto* helpColumn = columnOf(m_helpBox, {16, 8, 16, 8}, 2);
    m_help = new QLabel(QStringLiteral("Select a field to see its description."), m_helpBox);
    m_help->setFont(smallFont());
    m_help->setWordWrap(true);
    m_help->setTextFormat(Qt::RichText);
    m_help->setMinimumHeight(32);
    m_help->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    m_preset = mutedLabel({}, m_helpBox);
    helpColumn->addWidget(m_help);
    helpColumn->addWidget(m_preset);
    column->addWidget(m_helpBox);
    column->addWidget(horizontalLine(m_content));

    m_estimateBox = new QWidget(m_content);
    m_estimates = new QGridLayout(m_estimateBox);
    m_estimates->setContentsMargins(16, 8, 16, 10);
    m_estimates->setVerticalSpacing(4);
    m_estimateBox->hide();
    column->addWidget(m_estimateBox);
    setFixedWidth(280);
    restyle();
}

void OptionsForm::restyle() {
    m_signs[0]->setIcon(icon("pencil", Theme::current().accent));
    m_signs[1]->setIcon(icon("restart", Theme::current().faint));
    update();
}

void OptionsForm::rebuild(const std::vector<FieldState>& states) {
    for (auto& [name, section] : m_sections) delete section.box;
    m_sections.clear();
    m_rows.clear();
    m_order.clear();
    for (const FieldState& state : states) {
        const QString key = QString::fromStdString(state.key);
        const QString group = key.section(u'.', 0, 0);
        Section& section = m_sections[group];
        if (!section.box) {
            section.box = new QWidget(this);
            auto* column = columnOf(section.box, {0, 2, 0, 2}, 0);
            section.head = flatButton(section.box, true);
            section.head->setText(groupTitle(group));
            section.head->setAccessibleName(groupTitle(group) + QStringLiteral(" section"));
            auto* line = new QHBoxLayout;
            line->setContentsMargins(10, 0, 0, 0);
            line->addWidget(section.head);
            line->addStretch(1);
            column->addLayout(line);
            section.body = new QWidget(section.box);
            section.rows = columnOf(section.body);
            section.more = flatButton(section.body, false);
            column->addWidget(section.body);
            column->addSpacing(4);
            column->addWidget(horizontalLine(section.box));
            m_form->insertWidget(m_form->count() - 1, section.box);
            connect(section.head, &QToolButton::clicked, this, [this, group] {
                m_sections[group].open = !m_sections[group].open;
                arrange();
            });
            connect(section.more, &QToolButton::clicked, this, [this, group] {
                m_sections[group].all = !m_sections[group].all;
                arrange();
            });
        }
        auto* row = new FieldRow(state, section.body);
        row->setRunning(m_running);
        section.rows->addWidget(row);
        m_rows[key] = row;
        m_order.push_back(key);
        connect(row, &FieldRow::valueChanged, this,
                [this, key](const FieldValue& value) { Q_EMIT valueChanged(key, value); });
        connect(row, &FieldRow::valueChanged, this, &OptionsForm::emitChanged);
        connect(row, &FieldRow::editingEnded, this, &OptionsForm::editingEnded);
        if (m_askPath)
            row->askPath = [this, row](bool folder, const QString&) {
                return m_askPath(*row, folder);
            };
        connect(row, &FieldRow::validityChanged, this, &OptionsForm::checkValidity);
        connect(row, &FieldRow::mendRequested, this, &OptionsForm::mendRequested);
        connect(row, &FieldRow::focused, this, [this, row] { showHelp(row); });
    }
    // Advanced fields are below the "more" button of their section.
    for (auto& [name, section] : m_sections) {
        auto* line = new QHBoxLayout;
        line->setContentsMargins(10, 2, 0, 2);
        line->addWidget(section.more);
        line->addStretch(1);
        section.rows->addLayout(line);
        for (const QString& key : m_order)
            if (key.section(u'.', 0, 0) == name && m_rows[key]->state().spec.advanced) {
                section.rows->removeWidget(m_rows[key]);
                section.rows->addWidget(m_rows[key]);
            }
    }
}

void OptionsForm::setStates(const std::vector<FieldState>& states) {
    bool same = states.size() == m_order.size();
    for (std::size_t i = 0; same && i < states.size(); ++i) {
        const auto found = m_rows.find(QString::fromStdString(states[i].key));
        same = m_order[i] == QString::fromStdString(states[i].key) &&
               found->second->state().spec.kind == states[i].spec.kind;
    }
    if (!same)
        rebuild(states);
    else
        for (const FieldState& state : states)
            m_rows[QString::fromStdString(state.key)]->setState(state);
    arrange();
    emitChanged();
    checkValidity();
}

QString OptionsForm::changedText() const {
    QStringList names;
    for (const QString& key : m_order)
        if (const FieldRow* row = m_rows.at(key); row->state().applies && row->changed())
            names += QString::fromStdString(row->state().spec.label);
    return names.isEmpty() ? QString()
                           : QStringLiteral("Changed: ") + names.join(QLatin1String(", "));
}

void OptionsForm::emitChanged() {
    const QString text = changedText();
    m_changed->setText(text);
    m_changedRow->setVisible(!text.isEmpty());
    m_reset->setEnabled(!m_running);
}

void OptionsForm::arrange() {
    for (auto& [name, section] : m_sections) {
        int advanced = 0, changed = 0;
        bool any = false;
        for (const QString& key : m_order) {
            if (key.section(u'.', 0, 0) != name) continue;
            FieldRow* row = m_rows[key];
            const FieldState& state = row->state();
            if (state.applies && state.spec.advanced) {
                ++advanced;
                changed += row->changed();
            }
            any |= state.applies;
            // A refused value is never hidden behind "more".
            row->setVisible(state.applies &&
                            (!state.spec.advanced || section.all || !row->problem().isEmpty()));
        }
        section.box->setVisible(any);
        section.body->setVisible(section.open);
        section.head->setIcon(icon(section.open ? "chevron-down" : "chevron-right"));
        section.more->setVisible(advanced > 0);
        section.more->setIcon(icon(section.all ? "chevron-up" : "chevron-down"));
        section.more->setText(section.all ? QStringLiteral("less")
                              : changed > 0
                                  ? QString("%1 more, %2 changed").arg(advanced).arg(changed)
                                  : QString("%1 more").arg(advanced));
    }
}

void OptionsForm::setProblems(const std::vector<FieldProblem>& problems) {
    for (auto& [key, row] : m_rows) {
        QString sentence;
        for (const FieldProblem& p : problems)
            if (sentence.isEmpty() && QString::fromStdString(p.field) == key)
                sentence = QString::fromStdString(p.message);
        row->setOutsideProblem(sentence);
    }
    arrange();
    checkValidity();
}

void OptionsForm::setRefusal(const QString& key, const QString& sentence, const QString& action) {
    for (auto& [name, row] : m_rows)
        name == key ? row->setRefusal(sentence, action) : row->setRefusal({}, {});
    arrange();
}

void OptionsForm::setFact(const QString& key, const QString& sentence) {
    if (FieldRow* field = row(key)) field->setFact(sentence);
}

void OptionsForm::showField(const QString& key) {
    FieldRow* row = this->row(key);
    if (!row) return;
    showTab(0);
    Section& section = m_sections[key.section(u'.', 0, 0)];
    section.open = true;
    section.all |= row->state().spec.advanced;
    arrange();
    // Once the rows have their places.
    QMetaObject::invokeMethod(
        row,
        [this, row] {
            m_scroll->widget()->layout()->activate();
            m_scroll->ensureWidgetVisible(row, 0, 40);
            row->editor()->setFocus(Qt::OtherFocusReason);
        },
        Qt::QueuedConnection);
}

void OptionsForm::setEstimates(const std::vector<std::pair<QString, QString>>& rows) {
    while (QLayoutItem* item = m_estimates->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    int line = 0;
    for (const auto& [name, value] : rows) {
        auto* number = new QLabel(value, m_estimateBox);
        number->setFont(numberFont(12));
        number->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
        number->setAccessibleName(name);
        m_estimates->addWidget(mutedLabel(name, m_estimateBox), line, 0);
        m_estimates->addWidget(number, line++, 1);
    }
    m_estimateBox->setVisible(!rows.empty());
}

void OptionsForm::setRunning(bool running) {
    m_running = running;
    for (auto& [key, row] : m_rows) row->setRunning(running);
    m_reset->setEnabled(!running);
}

void OptionsForm::setCollapsed(bool collapsed) {
    if (m_collapsed == collapsed) return;
    m_collapsed = collapsed;
    m_content->setVisible(!collapsed);
    m_strip->setVisible(collapsed);
    setFixedWidth(collapsed ? 28 : 280);
    Q_EMIT collapsedChanged(collapsed);
}

void OptionsForm::setHeadRow(QWidget* row) {
    m_body->insertWidget(0, row);
}

void OptionsForm::addTab(const QString& title, QWidget* page) {
    m_tabTitles << title;
    const int tab = m_pages->addWidget(page);
    auto* word = new StripWord(title, m_strip);
    connect(word, &QAbstractButton::clicked, this, [this, tab] { Q_EMIT tabRequested(tab); });
    m_upright->insertWidget(m_upright->count() - 1, word);
    if (!m_tabs) {
        m_head->setTitle({});
        m_tabs = new SegmentedControl(m_head);
        m_tabs->setAccessibleName(QStringLiteral("Options or edits"));
        m_head->addLeftControl(m_tabs);
        connect(m_tabs, &SegmentedControl::changed, this, &OptionsForm::showTab);
    }
    m_tabs->setItems(m_tabTitles);
    m_tabs->setCurrent(m_pages->currentIndex());
}

void OptionsForm::showTab(int tab) {
    m_pages->setCurrentIndex(tab);
    if (m_tabs) m_tabs->setCurrent(tab);
    setCollapsed(false);
}

int OptionsForm::tab() const {
    return m_pages->currentIndex();
}

bool OptionsForm::valid() const {
    for (const auto& [key, row] : m_rows)
        if (row->state().applies && !row->valid()) return false;
    return true;
}

FieldRow* OptionsForm::row(const QString& key) const {
    const auto found = m_rows.find(key);
    return found == m_rows.end() ? nullptr : found->second;
}

void OptionsForm::checkValidity() {
    if (m_valid == valid()) return;
    m_valid = !m_valid;
    Q_EMIT validityChanged(m_valid);
}

void OptionsForm::showHelp(const FieldRow* row) {
    const FieldState& state = row->state();
    m_help->setText(QString("<b>%1</b>&nbsp; %2")
                        .arg(QString::fromStdString(state.spec.label).toHtmlEscaped(),
                             QString::fromStdString(state.spec.help).toHtmlEscaped()));
    m_preset->setText(QString("Preset %1.").arg(presetText(state)));
}

void OptionsForm::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), Theme::current().panel);
    painter.fillRect(QRect(0, 0, 1, height()), Theme::current().border);
}

void OptionsForm::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_signs[1]) restyle();
}

}  // namespace relascope::widgets
