// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>

#include <QComboBox>
#include <QCompleter>
#include <QHelpEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QScrollArea>
#include <QSpinBox>
#include <QToolTip>
#include <QVBoxLayout>

#include "widgets/analysis/attribution_view.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kAttributionRow = 22, kAttributionTop = 4, kAttributionMargin = 16, kNumber = 72,
              kIndent = 22, kMostBar = 640;
constexpr double kShownInside = 0.05;  // of the largest part

}  // namespace

AttributionBars::AttributionBars(QWidget* parent) : QWidget(parent) {
    setAccessibleName(QStringLiteral("Parts of the logit"));
    paintOnPanelColour(this);
}

void AttributionBars::setParts(const Table& parts) {
    const bool none = parts.columns.empty();
    m_names = none ? std::vector<std::string>() : parts.texts("part");
    m_kinds = none ? std::vector<std::string>() : parts.texts("kind");
    m_values = none ? std::vector<double>() : parts.numbers("value");
    m_inside = none ? std::vector<double>() : parts.numbers("inside");
    m_relations = none ? std::vector<double>() : parts.numbers("relation");
    order();
}

// The name of a part inside a head does not repeat the head.
QString AttributionBars::name(std::size_t part) const {
    if (m_inside[part] == 0.0) return shownText(m_names[part]);
    const auto relation = indexOf(m_relations[part]);
    return shownText(m_kinds[part]) +
           (relation > 0 ? QStringLiteral(" %1").arg(relation) : QString());
}
void AttributionBars::setBySize(bool on) {
    m_bySize = on;
    order();
}
void AttributionBars::setAll(bool on) {
    m_all = on;
    order();
}

void AttributionBars::order() {
    double most = 0.0;
    for (const double value : m_values) most = std::max(most, std::abs(value));
    // A head with what is inside it.
    struct Group {
        std::size_t part;
        std::vector<std::size_t> inside;
    };
    std::vector<Group> groups;
    m_leftOut = 0;
    for (std::size_t k = 0; k < m_values.size(); ++k) {
        if (m_inside[k] == 0.0 || groups.empty()) {
            groups.push_back({k, {}});
        } else if (m_all || std::abs(m_values[k]) >= kShownInside * most) {
            groups.back().inside.push_back(k);
        } else {
            ++m_leftOut;
        }
    }
    const auto larger = [&](std::size_t a, std::size_t b) {
        return std::abs(m_values[a]) > std::abs(m_values[b]);
    };
    if (m_bySize) {
        std::stable_sort(groups.begin(), groups.end(),
                         [&](const auto& a, const auto& b) { return larger(a.part, b.part); });
        for (auto& group : groups)
            std::stable_sort(group.inside.begin(), group.inside.end(), larger);
    }
    m_shown.clear();
    QStringList lines;
    for (const auto& group : groups) {
        m_shown.push_back(group.part);
        m_shown.insert(m_shown.end(), group.inside.begin(), group.inside.end());
    }
    for (std::size_t i = 0; i < std::min<std::size_t>(m_shown.size(), 60); ++i)
        lines << shownText(m_names[m_shown[i]]) + u' ' + signedText(m_values[m_shown[i]], 3);
    setAccessibleDescription(lines.join(QStringLiteral(", ")));
    setMinimumHeight(layoutHeight());
    updateGeometry();
    update();
}

int AttributionBars::layoutHeight() const {
    return 2 * kAttributionTop + kAttributionRow * static_cast<int>(m_shown.size());
}

int AttributionBars::rowAt(const QPoint& at) const {
    const int row = (at.y() - kAttributionTop) / kAttributionRow;
    return at.y() >= kAttributionTop && row < static_cast<int>(m_shown.size()) ? row : -1;
}

void AttributionBars::paint(QPainter& painter, int width) const {
    const Theme& t = Theme::current();
    const QFontMetrics metrics(smallFont());
    BarRange range;
    int names = 120;
    for (const std::size_t k : m_shown) {
        range.include(m_values[k]);
        names = std::max(names,
                         metrics.horizontalAdvance(name(k)) + (m_inside[k] != 0.0 ? kIndent : 0));
    }
    names = std::min(names + 2, width / 2);
    const int left = kAttributionMargin + names + kNumber + 16;
    const int bar = std::clamp(width - left - kAttributionMargin, 60, kMostBar);
    int y = kAttributionTop;
    for (const std::size_t k : m_shown) {
        const bool inside = m_inside[k] != 0.0;
        const int indent = inside ? kIndent : 0;
        painter.setFont(smallFont());
        painter.setPen(inside ? t.muted : t.text);
        paint::elidedText(painter,
                          QRect(kAttributionMargin + indent, y, names - indent, kAttributionRow),
                          Qt::AlignVCenter | Qt::AlignLeft, name(k));
        painter.setFont(numberFont(12));
        painter.drawText(QRect(kAttributionMargin + names, y, kNumber, kAttributionRow),
                         Qt::AlignVCenter | Qt::AlignRight, signedText(m_values[k], 3));
        drawSignedBar(painter, QRect(left, y, bar, kAttributionRow), m_values[k], range,
                      inside ? 6 : 12);
        y += kAttributionRow;
    }
}

void AttributionBars::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), Theme::current().panel);
    paint(painter, width());
}

bool AttributionBars::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const int row = rowAt(help->pos());
        if (row < 0) {
            QToolTip::hideText();
        } else {
            const auto part = m_shown[static_cast<std::size_t>(row)];
            QToolTip::showText(
                help->globalPos(),
                QStringLiteral("%1: %2%3")
                    .arg(shownText(m_names[part]), signedText(m_values[part], 6),
                         m_inside[part] != 0.0 ? QStringLiteral(", counted in its head")
                                               : QString()),
                this);
        }
        return true;
    }
    return QWidget::event(event);
}

namespace {

constexpr int kAttributionFigureWidth = 860, kAttributionHead = 34;
const char* const kOwn = "the model's own answer";
const char* const kNothing = "nothing";

// A list with one first entry that means "no choice", into which anything can be typed.
QComboBox* answerList(const char* first, const QString& name, QWidget* parent) {
    auto* box = new QComboBox(parent);
    box->setEditable(true);
    box->setInsertPolicy(QComboBox::NoInsert);
    box->addItem(QString::fromLatin1(first));
    box->setFont(smallFont());
    box->setMinimumWidth(180);
    box->setAccessibleName(name);
    box->completer()->setCaseSensitivity(Qt::CaseSensitive);
    return box;
}

QString chosen(const QComboBox& box) {
    return box.currentText() == box.itemText(0) ? QString() : box.currentText();
}

}  // namespace

AttributionView::AttributionView(QWidget* parent)
    : AnswerView(QStringLiteral("Attribution"), QStringLiteral("attribution"), parent),
      m_answer(answerList(kOwn, QStringLiteral("Answer"), this)),
      m_minus(answerList(kNothing, QStringLiteral("Minus the answer"), this)),
      m_at(new QWidget(this)),
      m_position(new QSpinBox(this)),
      m_order(new SegmentedControl({QStringLiteral("By size"), QStringLiteral("In order")}, this)),
      m_all(new ToggleChip(QStringLiteral("All relations"), this)),
      m_note(new FieldNote(this)),
      m_bars(new AttributionBars(this)) {
    m_order->setAccessibleName(QStringLiteral("Order of the parts"));
    m_all->setToolTip(
        QStringLiteral("Also relations and symbols of less than 5 % of the largest part"));
    auto* choice = new QWidget(this);
    auto* row = rowOf(choice, {16, 6, 16, 6}, 8);
    for (auto [text, box] : {std::pair{"Logit of", m_answer}, std::pair{"minus", m_minus}}) {
        auto* label = mutedLabel(QString::fromLatin1(text), this);
        label->setBuddy(box);
        row->addWidget(label);
        row->addWidget(box);
    }
    auto* at = rowOf(m_at, {}, 8);
    at->addWidget(mutedLabel(QStringLiteral("at position"), m_at));
    at->addWidget(m_position);
    m_position->setFont(smallFont());
    m_position->setAccessibleName(QStringLiteral("Position"));
    m_position->setSpecialValueText(QStringLiteral("last"));
    m_position->setRange(-1, -1);
    m_at->hide();
    row->addWidget(m_at);
    row->addWidget(m_note, 1);
    row->addStretch(0);
    row->addWidget(m_all);
    row->addWidget(m_order);
    // Above the results, so that a refused answer can be chosen anew.
    static_cast<QVBoxLayout*>(layout())->insertWidget(1, choice);
    auto* scroll = new QScrollArea(this);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidget(m_bars);
    scroll->setWidgetResizable(true);
    scroll->setFocusPolicy(Qt::StrongFocus);
    scroll->setAccessibleName(QStringLiteral("Parts of the logit"));
    content()->addWidget(scroll, 1);
    const auto listen = [this](QComboBox* box, const char* option) {
        const auto emitOption = [this, box, option] {
            Q_EMIT optionChosen(QLatin1String(option), chosen(*box).toStdString());
        };
        connect(box, &QComboBox::activated, this, emitOption);
        connect(box->lineEdit(), &QLineEdit::returnPressed, this, emitOption);
    };
    connect(m_position, &QSpinBox::valueChanged, this, [this](int position) {
        Q_EMIT optionChosen(QStringLiteral("position"), static_cast<std::int64_t>(position));
    });
    listen(m_answer, "logit");
    listen(m_minus, "minus");
    connect(m_order, &SegmentedControl::changed, this,
            [this](int order) { m_bars->setBySize(order == 0); });
    connect(m_all, &ToggleChip::toggled, this, [this](bool on) {
        m_bars->setAll(on);
        describe();
    });
    AnswerView::clear(QStringLiteral("Choose a sample in the inspector."));
}

void AttributionView::setOptions(const core::OptionValues& values) {
    const QSignalBlocker quiet(m_position);
    const auto text = [&](const char* name) {
        const auto at = values.find(name);
        return at == values.end() ? QString()
                                  : QString::fromStdString(std::get<std::string>(at->second));
    };
    for (const auto& [box, name] : {std::pair{m_answer, "logit"}, {m_minus, "minus"}}) {
        const QString answer = text(name);
        box->setCurrentText(answer.isEmpty() ? box->itemText(0) : answer);
    }
    const auto at = values.find("position");
    const int position =
        at == values.end() ? -1 : static_cast<int>(std::get<std::int64_t>(at->second));
    m_position->setMaximum(std::max(position, m_position->maximum()));
    m_position->setValue(position);
}

QString AttributionView::problem() const {
    return m_note->text();
}
void AttributionView::refuse(const QString& sentence) {
    if (isEmpty())
        clear(sentence);
    else
        m_note->setProblem(sentence);
}

// What was chosen or typed stays.
void AttributionView::offer(const Answer& answer) {
    const QSignalBlocker quiet(m_position);
    const auto positions = static_cast<int>(indexOf(answer.number("positions")));
    m_position->setMaximum(std::max(0, positions) - 1);
    m_at->setVisible(positions > 0);
    QStringList names;
    for (const auto& name : answer.table("offered").texts("answer")) names << shownText(name);
    for (QComboBox* box : {m_answer, m_minus}) {
        const QString before = box->currentText(), first = box->itemText(0);
        box->clear();
        box->addItem(first);
        box->addItems(names);
        box->setCurrentText(before.isEmpty() ? first : before);
    }
}

QString AttributionView::title() const {
    const auto& r = answer();
    QString text = QStringLiteral("logit of \u201C%1\u201D").arg(answerText(r.text("answer")));
    if (indexOf(r.number("minus_id")) >= 0)
        text += QStringLiteral(" minus that of \u201C%1\u201D").arg(answerText(r.text("minus")));
    if (const auto position = indexOf(r.number("position")); position >= 0) {
        text += QStringLiteral(" at position %1").arg(position);
        if (!r.text("input").empty())
            text += QStringLiteral(" \u201C%1\u201D").arg(answerText(r.text("input")));
    }
    return text + QStringLiteral(": %1, sum of the parts %2")
                      .arg(signedText(r.number("logit"), 3), signedText(r.number("sum"), 3));
}

void AttributionView::describe() {
    QString text = title();
    if (m_bars->leftOut() > 0)
        text += QStringLiteral("; %1 relations below 5 % of the largest part not shown")
                    .arg(groupedNumber(m_bars->leftOut()));
    head()->setSubText(text);
}

void AttributionView::fill(const Answer& answer) {
    m_note->setProblem({});
    if (answer.tables.empty()) return m_bars->setParts({});
    m_bars->setParts(answer.table("parts"));
    offer(answer);
    describe();
}

QSize AttributionView::figureSize() const {
    return isEmpty() ? QSize(400, 80)
                     : QSize(kAttributionFigureWidth, kAttributionHead + m_bars->layoutHeight());
}

void AttributionView::paintFigure(QPainter& painter) {
    painter.setFont(headFont());
    painter.setPen(Theme::current().text);
    const QString text = headText();
    painter.drawText(QRect(16, 0, kAttributionFigureWidth - 32, kAttributionHead), Qt::AlignVCenter,
                     text.isEmpty() ? text : text[0].toUpper() + text.mid(1));
    painter.translate(0, kAttributionHead);
    m_bars->paint(painter, kAttributionFigureWidth);
}

}  // namespace relascope::widgets
