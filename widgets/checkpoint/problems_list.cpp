// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/checkpoint/problems_list.h"

#include <QEvent>
#include <QListWidget>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QVBoxLayout>
#include <algorithm>

#include "widgets/export/export.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int lineHeight = 26;
constexpr int mostLines = 5;  ///< more of them scroll
constexpr int kKind = Qt::UserRole, kSubject = Qt::UserRole + 1;

/// Icon, kind and message; problems that prevent loading are in the error colour.
class ProblemDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override {
        return {100, lineHeight};
    }
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        const Theme& t = Theme::current();
        const auto kind = static_cast<ProblemKind>(index.data(kKind).toInt());
        const bool warning = kind == ProblemKind::NotFinite;
        painter->save();
        if (option.state & QStyle::State_Selected) painter->fillRect(option.rect, t.selection);
        QRect r = option.rect.adjusted(16, 0, -16, 0);
        const QColor ink = warning ? t.warning : t.error;
        icon(warning ? "warning" : "error", ink)
            .paint(painter, QRect(r.left(), r.center().y() - 7, 14, 14));
        r.adjust(22, 0, 0, 0);
        painter->setFont(smallFont());
        painter->setPen(ink);
        painter->drawText(r, Qt::AlignLeft | Qt::AlignVCenter,
                          QString::fromLatin1(problemKindName(kind)));
        r.adjust(88, 0, 0, 0);
        painter->setPen(t.text);
        paint::elidedText(*painter, r, Qt::AlignLeft | Qt::AlignVCenter, index.data().toString());
        painter->restore();
    }
};

}  // namespace

ProblemsList::ProblemsList(QWidget* parent)
    : QWidget(parent),
      m_head(new PanelHead(QStringLiteral("Problems"), this)),
      m_list(new QListWidget(this)) {
    setAccessibleName(QStringLiteral("Problems of the checkpoint"));
    auto* more = iconButton("more", QStringLiteral("Problems: copy, save"), this);
    m_head->addControl(more);
    m_menu = new ViewMenu(
        more, this, [] { return QStringLiteral("problems"); }, [this] { return csv(); });
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setUniformItemSizes(true);
    m_list->setItemDelegate(new ProblemDelegate(m_list));
    m_list->setAccessibleName(QStringLiteral("Problems"));
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* column = columnOf(this);
    column->addWidget(m_head);
    column->addWidget(m_list);
    column->addWidget(horizontalLine(this));
    connect(m_list, &QListWidget::currentItemChanged, this, [this](QListWidgetItem* item) {
        if (item) Q_EMIT subjectChosen(item->data(kSubject).toString());
    });
    hide();
}

void ProblemsList::setProblems(const std::vector<CheckpointProblem>& problems) {
    if (problems == m_problems) return;
    m_problems = problems;
    m_list->clear();
    for (const CheckpointProblem& problem : problems) {
        const QString subject = QString::fromStdString(problem.subject);
        const QString message = QString::fromStdString(problem.message);
        auto* item = new QListWidgetItem(
            message.contains(subject) ? message : subject + QStringLiteral(": ") + message, m_list);
        item->setData(kKind, static_cast<int>(problem.kind));
        item->setData(kSubject, subject);
        item->setToolTip(plainTip(item->text()));
    }
    const auto lines = static_cast<int>(problems.size());
    const auto stops = std::count_if(problems.begin(), problems.end(), [](const auto& p) {
        return p.kind != ProblemKind::NotFinite;
    });
    m_head->setSubText(stops > 0 ? QStringLiteral("%1; the weights cannot be loaded").arg(lines)
                                 : QString::number(lines));
    m_list->setFixedHeight(std::min(lines, mostLines) * lineHeight + 4);
    setVisible(lines > 0);
}

QString ProblemsList::csv() const {
    QString text = QStringLiteral("kind,subject,message\n");
    for (const CheckpointProblem& problem : m_problems)
        text += QStringLiteral("%1,%2,%3\n")
                    .arg(QString::fromLatin1(problemKindName(problem.kind)),
                         csvField(QString::fromStdString(problem.subject)),
                         csvField(QString::fromStdString(problem.message)));
    return text;
}

void ProblemsList::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_list) m_list->viewport()->update();
}

}  // namespace relascope::widgets
