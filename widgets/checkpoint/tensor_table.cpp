// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/checkpoint/tensor_table.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLineEdit>
#include <QTreeView>
#include <QVBoxLayout>
#include <algorithm>
#include <functional>

#include "answers/answer_text.h"
#include "answers/checkpoint_answer.h"
#include "widgets/checkpoint/tensor_model.h"
#include "widgets/checkpoint/verify_badge.h"
#include "widgets/export/export.h"
#include "widgets/kit/cell_delegate.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int rowHeight = 26;
constexpr int wideHead = 720;  ///< px from which the check marks are in the head

}  // namespace

TensorTable::TensorTable(QWidget* parent)
    : QWidget(parent),
      m_head(new PanelHead(QStringLiteral("Tensors"), this)),
      m_marksRow(new QWidget(this)),
      m_marks(new CheckMarks(this)),
      m_filter(new QLineEdit(this)),
      m_view(new QTreeView(this)),
      m_model(new TensorModel(this)) {
    setAccessibleName(QStringLiteral("Tensors"));
    m_filter->setPlaceholderText(QStringLiteral("Filter names"));
    m_filter->setAccessibleName(QStringLiteral("Filter tensors by name"));
    m_filter->addAction(icon("filter"), QLineEdit::LeadingPosition);
    m_filter->setClearButtonEnabled(true);
    m_filter->setFixedWidth(160);
    auto* more = iconButton("more", QStringLiteral("Tensors: copy, save"), this);
    m_head->addControl(m_filter);
    m_head->addControl(more);
    m_menu = new ViewMenu(
        more, m_view, [] { return QStringLiteral("tensors"); }, [this] { return csv(); });

    m_view->setModel(m_model);
    m_view->setItemDelegate(new CellDelegate(rowHeight, m_view));
    m_view->setFrameShape(QFrame::NoFrame);
    m_view->setUniformRowHeights(true);
    m_view->setAllColumnsShowFocus(true);
    m_view->setIndentation(16);
    m_view->setAccessibleName(QStringLiteral("Tensors"));
    m_view->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_view->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_view->setExpandsOnDoubleClick(true);
    m_view->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_view->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    QHeaderView* header = m_view->header();
    header->setFont(smallFont());
    header->setStretchLastSection(false);
    header->setSectionsMovable(false);
    header->setMinimumSectionSize(44);
    header->setSectionResizeMode(TensorModel::Name, QHeaderView::Stretch);
    const int widths[] = {0, 114, 48, 74, 104};
    for (int c = TensorModel::Shape; c < TensorModel::Columns; ++c) {
        header->setSectionResizeMode(c, QHeaderView::Interactive);
        header->resizeSection(c, widths[c]);
    }
    header->setSortIndicator(-1, Qt::AscendingOrder);
    header->setSortIndicatorClearable(true);  // the third click restores the order of the file
    m_view->setSortingEnabled(true);

    m_marksRow->setBackgroundRole(QPalette::Base);
    m_marksRow->setAutoFillBackground(true);
    auto* row = new QHBoxLayout(m_marksRow);
    row->setContentsMargins(16, 3, 16, 3);
    row->addWidget(m_marks);
    auto* column = columnOf(this);
    column->addWidget(m_head);
    column->addWidget(m_marksRow);
    column->addWidget(m_view, 1);
    m_marksRow->hide();
    m_marks->hide();

    connect(m_filter, &QLineEdit::textChanged, this, [this](const QString& text) {
        m_model->setFilter(text);
        openBranches();
        if (const QModelIndex at = m_model->indexOfTensor(m_chosen); at.isValid())
            m_view->setCurrentIndex(at);
        updateText();
    });
    connect(m_view->selectionModel(), &QItemSelectionModel::currentChanged, this,
            [this](const QModelIndex& now) {
                const QString name = now.data(TensorModel::FullName).toString();
                if (name.isEmpty() || name == m_chosen) return;
                m_chosen = name;
                Q_EMIT tensorChosen(name);
            });
}

void TensorTable::setTensors(std::vector<StoredTensor> tensors) {
    m_filter->clear();
    m_chosen.clear();
    m_model->setTensors(std::move(tensors));
    m_marks->setVisible(!m_model->tensors().empty());
    const QFontMetrics metrics(monoFont(12));
    int widest = 46;
    for (const StoredTensor& tensor : m_model->tensors())
        widest = qMax(widest, metrics.horizontalAdvance(tensorShape(tensor.shape)));
    m_view->header()->resizeSection(TensorModel::Shape, qMin(widest, 150) + 18);
    openBranches();
    updateText();
    resizeEvent(nullptr);
}

void TensorTable::openBranches() {
    if (!m_filter->text().trimmed().isEmpty()) return m_view->expandAll();
    for (const QModelIndex& branch : m_model->firstBranches()) m_view->expand(branch);
}

void TensorTable::updateText() {
    const auto all = static_cast<qlonglong>(m_model->tensors().size());
    QString text = groupedNumber(all);
    if (m_model->shown() < all)
        text = QStringLiteral("%1 of %2").arg(groupedNumber(m_model->shown()), text);
    if (const QString prefix = m_model->commonPrefix(); !prefix.isEmpty())
        text += QStringLiteral(", all under %1.").arg(prefix);
    m_head->setSubText(all == 0 ? QString() : text);
}

QString TensorTable::headText() const {
    return m_head->subText();
}
void TensorTable::setStatistics(const TensorStatistics& statistics) {
    m_model->setStatistics(statistics);
}
const TensorStatistics* TensorTable::statistics(const QString& name) const {
    return m_model->statistics(name);
}
void TensorTable::setFilter(const QString& text) {
    m_filter->setText(text);
}
void TensorTable::choose(const QString& name) {
    const QModelIndex at = m_model->indexOfTensor(name);
    if (!at.isValid()) return;
    m_view->setCurrentIndex(at);
    m_view->scrollTo(at);
}
QString TensorTable::chosen() const {
    return m_chosen;
}

QString TensorTable::csv() const {
    std::vector<StoredTensor> shown;
    const std::function<void(const QModelIndex&)> walk = [&](const QModelIndex& parent) {
        for (int row = 0; row < m_model->rowCount(parent); ++row) {
            const QModelIndex at = m_model->index(row, 0, parent);
            if (const StoredTensor* tensor = m_model->tensorAt(at))
                shown.push_back(*tensor);
            else
                walk(at);
        }
    };
    walk({});
    return QString::fromStdString(
        core::csvOf(core::tensorsTable(shown, [this](const std::string& name) {
            return m_model->statistics(QString::fromStdString(name));
        })));
}

void TensorTable::resizeEvent(QResizeEvent*) {
    // In a narrow table the names stay readable.
    m_view->setColumnHidden(TensorModel::Type, width() < 480);
    m_view->setColumnHidden(TensorModel::Range, width() < 430);
    // In a wide table the marks are next to the title, otherwise below.
    const bool wide = width() >= wideHead;
    const bool inHead = m_marks->parentWidget() == m_head;
    const bool shown = !m_marks->isHidden();
    if (wide && !inHead) m_head->addLeftControl(m_marks);
    if (!wide && inHead) m_marksRow->layout()->addWidget(m_marks);
    m_marks->setVisible(shown);
    m_marksRow->setVisible(!wide && shown);
}

void TensorTable::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_view) m_view->viewport()->update();
}

}  // namespace relascope::widgets
