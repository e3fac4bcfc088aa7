// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>

#include <QDialog>
#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QPainter>
#include <QStringList>
#include <QTableWidget>
#include <QVBoxLayout>

#include "widgets/checkpoint/verify_badge.h"
#include "widgets/export/export.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {
constexpr int iconSide = 14;
constexpr int iconGap = 5;
constexpr int markGap = 14;
}  // namespace

CheckMarks::CheckMarks(QWidget* parent) : QWidget(parent) {
    setAccessibleName(QStringLiteral("Checks"));
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

void CheckMarks::setProblems(const std::vector<CheckpointProblem>& problems, bool numbersRead,
                             bool modelKnown) {
    const auto count = [&](ProblemKind kind) {
        return std::count_if(problems.begin(), problems.end(),
                             [kind](const CheckpointProblem& p) { return p.kind == kind; });
    };
    const auto missing = count(ProblemKind::Missing);
    const auto unexpected = count(ProblemKind::Unexpected);
    const auto broken = count(ProblemKind::NotFinite);
    const auto mark = [&](qsizetype found, const QString& none, const QString& some) {
        return found > 0 ? Mark{QString::number(found) + u' ' + some, State::Bad}
                         : Mark{none, State::Good};
    };
    m_marks.clear();
    if (modelKnown) {
        m_marks.push_back(mark(missing, QStringLiteral("none missing"), QStringLiteral("missing")));
        m_marks.push_back(
            mark(unexpected, QStringLiteral("none unexpected"), QStringLiteral("unexpected")));
    } else {
        m_marks.push_back({QStringLiteral("no model to compare with"), State::Unknown});
    }
    m_marks.push_back(broken > 0 || numbersRead
                          ? mark(broken, QStringLiteral("no NaN"), QStringLiteral("with NaN"))
                          : Mark{QStringLiteral("NaN not checked yet"), State::Unknown});
    setAccessibleDescription(text());
    setToolTip(text());
    updateGeometry();
    update();
}

QString CheckMarks::text() const {
    QStringList all;
    for (const Mark& mark : m_marks) all << mark.text;
    return all.join(QStringLiteral(", "));
}

QSize CheckMarks::sizeHint() const {
    const QFontMetrics metrics(smallFont());
    int width = 0;
    for (const Mark& mark : m_marks)
        width += iconSide + iconGap + metrics.horizontalAdvance(mark.text) + markGap;
    return {width, 20};
}

void CheckMarks::paintEvent(QPaintEvent*) {
    const Theme& t = Theme::current();
    QPainter painter(this);
    painter.setFont(smallFont());
    int x = 0;
    for (const Mark& mark : m_marks) {
        const char* name = mark.state == State::Good  ? "check"
                           : mark.state == State::Bad ? "error"
                                                      : "help";
        const QColor ink = mark.state == State::Good  ? t.ok
                           : mark.state == State::Bad ? t.error
                                                      : t.muted;
        icon(name, ink).paint(&painter, QRect(x, (height() - iconSide) / 2, iconSide, iconSide));
        x += iconSide + iconGap;
        const int wide = painter.fontMetrics().horizontalAdvance(mark.text);
        painter.setPen(ink);
        painter.drawText(QRect(x, 0, wide + 2, height()), Qt::AlignLeft | Qt::AlignVCenter,
                         mark.text);
        x += wide + markGap;
    }
}

namespace {

QString smallNumber(double value) {
    if (value == 0) return QStringLiteral("0");
    return std::isfinite(value)
               ? QString::number(value, 'e', 1).replace(QLatin1String("e-0"), QLatin1String("e-"))
               : QStringLiteral("NaN");
}

/// A chip that opens the list: pressed with the mouse, Space or Enter.
class BadgeChip : public Chip {
public:
    using Chip::Chip;

protected:
    void keyPressEvent(QKeyEvent* event) override {
        if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) return click();
        Chip::keyPressEvent(event);
    }
};

}  // namespace

VerifyBadge::VerifyBadge(QWidget* parent)
    : QWidget(parent), m_chip(new BadgeChip({}, this)), m_text(new ElidedLabel({}, this)) {
    setAccessibleName(QStringLiteral("Comparison with reference outputs"));
    m_chip->setFocusPolicy(Qt::StrongFocus);
    m_text->setFont(smallFont());
    m_text->setForegroundRole(QPalette::PlaceholderText);
    auto* row = rowOf(this, {}, 8);
    row->addWidget(m_chip);
    row->addWidget(m_text, 1);
    connect(m_chip, &QAbstractButton::clicked, this, &VerifyBadge::showLines);
    setUnknown(false);
}

void VerifyBadge::setUnknown(bool hasReference) {
    m_report.reset();
    m_chip->setText(QStringLiteral("Not verified"));
    m_text->setText(hasReference ? QStringLiteral("reference outputs found next to it")
                                 : QStringLiteral("no reference outputs found next to it"));
    restyle();
}

void VerifyBadge::setRunning() {
    m_report.reset();
    m_chip->setText(QStringLiteral("Verifying"));
    m_text->setText(QStringLiteral("recomputing every reference output"));
    restyle();
}

void VerifyBadge::setReport(const VerifyReport& report) {
    m_report = report;
    const auto good = std::count_if(report.lines.begin(), report.lines.end(),
                                    [](const VerifyLine& line) { return line.ok; });
    m_chip->setText(report.ok ? QStringLiteral("Verified") : QStringLiteral("Differs"));
    // The number first, as the end is elided.
    m_text->setText(QStringLiteral("%1 largest difference, %2 of %3 outputs")
                        .arg(smallNumber(report.worst))
                        .arg(good)
                        .arg(report.lines.size()));
    m_text->setToolTip(m_text->text());
    restyle();
}

void VerifyBadge::restyle() {
    const Theme& t = Theme::current();
    const char* name = !m_report ? "help" : m_report->ok ? "check" : "error";
    const QColor ink = !m_report ? t.muted : m_report->ok ? t.ok : t.error;
    m_chip->setIcon(icon(name, ink));
    m_chip->setFill(!m_report ? QColor() : m_report->ok ? t.okFill : t.errorFill);
    m_chip->setTextColor(ink);
    m_chip->setEnabled(true);
    m_chip->setToolTip(m_report ? QStringLiteral("Show all comparisons")
                                : QStringLiteral("Nothing has been compared yet"));
    m_chip->setAccessibleName(m_chip->text());
    m_chip->setAccessibleDescription(m_text->text());
    m_chip->setCursor(m_report ? Qt::PointingHandCursor : Qt::ArrowCursor);
    m_chip->updateGeometry();
    updateGeometry();
}

QString VerifyBadge::title() const {
    return m_chip->text();
}
QString VerifyBadge::text() const {
    return m_text->text();
}
QWidget* VerifyBadge::button() const {
    return m_chip;
}

void VerifyBadge::showLines() {
    if (!m_report) return;
    delete m_lines;
    m_lines = new QDialog(window());
    m_lines->setWindowTitle(QStringLiteral("Comparison with reference outputs"));
    m_lines->resize(640, 460);
    connect(m_lines, &QObject::destroyed, this, [this] { m_lines = nullptr; });
    m_lines->setAttribute(Qt::WA_DeleteOnClose);
    auto* head = new PanelHead(title(), m_lines);
    head->setSubText(text());
    auto* more = iconButton("more", QStringLiteral("Comparison: copy, save"), head);
    head->addControl(more);
    const auto rows = static_cast<int>(m_report->lines.size());
    auto* table = new QTableWidget(rows, 4, m_lines);
    table->setHorizontalHeaderLabels({QStringLiteral("Output"), QStringLiteral("Absolute"),
                                      QStringLiteral("Relative"), QStringLiteral("Result")});
    table->setAccessibleName(QStringLiteral("Comparisons"));
    layOutTable(*table, 26);
    table->setSelectionBehavior(QAbstractItemView::SelectRows);
    const Theme& t = Theme::current();
    for (int row = 0; row < rows; ++row) {
        const VerifyLine& line = m_report->lines[static_cast<std::size_t>(row)];
        const auto put = [&](int column, const QString& text, const QFont& font, QColor ink,
                             Qt::Alignment side) {
            auto* item = new QTableWidgetItem(text);
            item->setFont(font);
            item->setForeground(ink);
            item->setTextAlignment(side | Qt::AlignVCenter);
            table->setItem(row, column, item);
        };
        put(0, QString::fromStdString(line.name), monoFont(12), t.text, Qt::AlignLeft);
        put(1, smallNumber(line.absolute), numberFont(12), t.text, Qt::AlignRight);
        put(2, smallNumber(line.relative), numberFont(12), t.text, Qt::AlignRight);
        put(3,
            line.ok             ? QStringLiteral("agrees")
            : line.note.empty() ? QStringLiteral("differs")
                                : QString::fromStdString(line.note),
            smallFont(), line.ok ? t.ok : t.error, Qt::AlignLeft);
    }
    QHeaderView* header = table->horizontalHeader();
    header->setSectionResizeMode(0, QHeaderView::Stretch);
    for (int c = 1; c < 4; ++c) header->resizeSection(c, c < 3 ? 86 : 150);
    auto* menu = new ViewMenu(
        more, table, [] { return QStringLiteral("verification"); },
        [report = *m_report] { return csv(report); });
    menu->describe = describe;
    auto* column = columnOf(m_lines);
    column->addWidget(head);
    column->addWidget(table, 1);
    m_lines->show();
}

QString VerifyBadge::csv(const VerifyReport& report) {
    QString text = QStringLiteral("output,absolute,relative,ok,note\n");
    for (const VerifyLine& line : report.lines)
        text += QStringLiteral("%1,%2,%3,%4,\"%5\"\n")
                    .arg(QString::fromStdString(line.name), QString::number(line.absolute, 'g', 9),
                         QString::number(line.relative, 'g', 9),
                         line.ok ? QStringLiteral("true") : QStringLiteral("false"),
                         QString::fromStdString(line.note).replace(QLatin1String("\""),
                                                                   QLatin1String("\"\"")));
    return text;
}

void VerifyBadge::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_chip) restyle();
}

}  // namespace relascope::widgets
