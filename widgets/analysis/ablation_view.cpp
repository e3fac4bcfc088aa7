// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <QCollator>
#include <QFont>
#include <QHeaderView>
#include <QHelpEvent>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QTableView>
#include <QTableWidget>
#include <QToolTip>
#include <QVBoxLayout>

#include "answers/ablation_answer.h"
#include "types/metric.h"
#include "widgets/analysis/ablation_view.h"
#include "widgets/curves/curve_items.h"
#include "widgets/export/export.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

struct CumulativePlot::Parts {
    ThemedPlot* plot;
    QCPGraph *line, *base;
    AblationTable table;

    explicit Parts(CumulativePlot* self)
        : plot(new ThemedPlot(QMargins(52, 8, 16, 42), self)),
          line(plot->addGraph()),
          base(plot->addGraph()) {
        plot->setAccessibleName(QStringLiteral("Cumulative curve"));
        plot->xAxis->setLabel(QStringLiteral("Parts removed"));
        plot->xAxis->setTicker(QSharedPointer<CurveTicker>::create(CurveTicker::Format::Count));
    }

    double valueAt(int removed) const {
        return removed == 0 ? table.base
                            : table.cumulative[static_cast<std::size_t>(removed - 1)].second;
    }
    int count() const { return static_cast<int>(table.cumulative.size()); }

    void style() {
        const Theme& t = Theme::current();
        plot->applyTheme();
        line->setPen(QPen(t.series[0], 1.6));
        line->setScatterStyle(
            QCPScatterStyle(QCPScatterStyle::ssDisc, t.series[0], t.series[0], 5));
        base->setPen(QPen(t.muted, 1, Qt::DashLine));
    }

    void fill() {
        const bool percent = MetricText(table.metric).percent;
        plot->yAxis->setTicker(QSharedPointer<CurveTicker>::create(
            percent ? CurveTicker::Format::Percent : CurveTicker::Format::Plain));
        QVector<double> x, y;
        double low = table.base, high = table.base;
        for (int k = 0; k <= count(); ++k) {
            const double value = valueAt(k);
            x << k;
            y << value;
            if (!std::isfinite(value)) continue;
            low = std::min(low, value), high = std::max(high, value);
        }
        line->setData(x, y, true);
        base->setData({0.0, static_cast<double>(count())}, {table.base, table.base}, true);
        const double pad = std::max(0.06 * (high - low), percent ? 0.01 : 1e-6);
        plot->xAxis->setRange(-0.3, count() + 0.3);
        plot->yAxis->setRange(low - pad, high + pad);
        style();
        plot->replot(QCustomPlot::rpQueuedReplot);
    }
};

CumulativePlot::CumulativePlot(QWidget* parent)
    : QWidget(parent), m(std::make_unique<Parts>(this)) {
    columnOf(this)->addWidget(m->plot);
    m->style();
}
CumulativePlot::~CumulativePlot() = default;

QString CumulativePlot::title(const AblationTable& table) {
    return QStringLiteral("Parts removed one after another (%1), the least important first")
        .arg(wayText(table.cumulativeWay));
}

void CumulativePlot::setTable(const AblationTable& table) {
    m->table = table;
    m->fill();
    const MetricText text(table.metric);
    QString description =
        QStringLiteral("%1 with every part %2").arg(text.title).arg(text.value(table.base));
    for (int k = 1; k <= m->count(); ++k)
        description += QStringLiteral("; %1 out: %2").arg(k).arg(text.value(m->valueAt(k)));
    m->plot->setAccessibleDescription(description);
}

QPointF CumulativePlot::pixelOf(int removed) const {
    return m->plot->pixelOf(removed, m->valueAt(std::clamp(removed, 0, m->count())));
}

QString CumulativePlot::hoverText(const QPoint& at) const {
    if (m->table.cumulative.empty()) return {};
    const int k =
        static_cast<int>(std::lround(m->plot->xAxis->pixelToCoord(at.x() - m->plot->pos().x())));
    if (k < 0 || k > m->count()) return {};
    const MetricText text(m->table.metric);
    if (k == 0) return QStringLiteral("Nothing removed: %1").arg(text.value(m->table.base));
    return QStringLiteral("%1 removed, the last is %2: %3")
        .arg(k)
        .arg(QString::fromStdString(m->table.cumulative[static_cast<std::size_t>(k - 1)].first),
             text.value(m->valueAt(k)));
}

void CumulativePlot::paintVector(QPainter& painter, int top, const QSize& size) {
    m->style();
    m->plot->paintFigure(painter, top, size, m->plot->xAxis->label(),
                         MetricText(m->table.metric).title);
}

void CumulativePlot::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() != QEvent::PaletteChange || !m) return;
    m->style();
    m->plot->replot(QCustomPlot::rpQueuedReplot);
}

bool CumulativePlot::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const QString text = hoverText(m ? help->pos() + m->plot->pos() : help->pos());
        if (!text.isEmpty()) QToolTip::showText(help->globalPos(), plainTip(text), this);
        return true;
    }
    return QWidget::eventFilter(watched, event);
}

namespace {

constexpr int kFirstWay = 3;  // columns before those of the ways
constexpr int kColumnsAWay = 2;

double ratio(const AblationRow& row) {
    return row.streamNorm > 0 ? row.partNorm / row.streamNorm
                              : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

void AblationModel::setTable(AblationTable table, std::vector<std::string> uses) {
    std::vector<EditOp> ways;
    for (const auto& row : table.rows)
        for (const auto& way : row.ways)
            if (std::find(ways.begin(), ways.end(), way.how) == ways.end()) ways.push_back(way.how);
    const bool same = ways == m_ways && table.rows.size() == m_table.rows.size();
    std::vector<std::string> before;
    QModelIndexList held;
    if (same) {
        Q_EMIT layoutAboutToBeChanged();  // views make persistent indices of their own
        held = persistentIndexList();
        for (const QModelIndex& index : held) before.push_back(rowAt(index.row())->part);
    } else {
        beginResetModel();
    }
    m_table = std::move(table);
    m_uses = std::move(uses);
    m_uses.resize(m_table.rows.size());
    m_ways = std::move(ways);
    m_range = {};
    for (const auto& row : m_table.rows)
        for (const auto& way : row.ways)
            for (const double value : {way.change.change, way.change.low, way.change.high})
                m_range.include(value);
    order();
    if (!same) return endResetModel();
    QModelIndexList now;
    for (qsizetype i = 0; i < held.size(); ++i)
        now << index(indexOfPart(before[static_cast<std::size_t>(i)]), held[i].column());
    changePersistentIndexList(held, now);
    Q_EMIT layoutChanged();
}

const AblationRow* AblationModel::rowAt(int row) const {
    if (row < 0 || row >= rowCount()) return nullptr;
    return &m_table.rows[static_cast<std::size_t>(m_order[static_cast<std::size_t>(row)])];
}

const std::string& AblationModel::useOf(const AblationRow& row) const {
    return m_uses[static_cast<std::size_t>(&row - m_table.rows.data())];
}

int AblationModel::indexOfPart(const std::string& part) const {
    for (int row = 0; row < rowCount(); ++row)
        if (rowAt(row)->part == part) return row;
    return -1;
}

AblationModel::Column AblationModel::kind(int column) const {
    if (column == 0) return Column::Part;
    if (column == 1) return Column::Group;
    if (column == 2) return Column::Use;
    if (column == columnCount() - 1) return Column::Norm;
    return (column - kFirstWay) % kColumnsAWay == 0 ? Column::Change : Column::Changed;
}

EditOp AblationModel::wayOf(int column) const {
    const auto at = static_cast<std::size_t>(std::max(0, column - kFirstWay) / kColumnsAWay);
    return column >= kFirstWay && at < m_ways.size() ? m_ways[at] : EditOp::Zero;
}

const AblationRow::Way* AblationModel::wayAt(const AblationRow& row, int column) const {
    for (const auto& way : row.ways)
        if (way.how == wayOf(column)) return &way;
    return nullptr;
}

int AblationModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_order.size());
}
int AblationModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : kFirstWay + kColumnsAWay * static_cast<int>(m_ways.size()) + 1;
}

QVariant AblationModel::display(const AblationRow& row, int column) const {
    const QString dash(QChar(0x2014));
    const auto* way = wayAt(row, column);
    switch (kind(column)) {
        case Column::Part:
            return QString::fromStdString(row.part);
        case Column::Group:
            return QString::fromStdString(row.group);
        case Column::Use:
            return useOf(row).empty() ? dash : QString::fromStdString(useOf(row));
        case Column::Change:
            return way ? MetricText(m_table.metric).change(way->change.change) : dash;
        case Column::Changed:
            return way ? probabilityText(way->changedAnswers) : dash;
        case Column::Norm:
            break;
    }
    QString text = QString::number(row.partNorm, 'f', 2);
    if (row.streamNorm > 0)
        text += QStringLiteral(" of %1").arg(QString::number(row.streamNorm, 'f', 2));
    return text;
}

QString AblationModel::tip(const AblationRow& row, int column) const {
    const MetricText text(m_table.metric);
    const auto* way = wayAt(row, column);
    const Column what = kind(column);
    if (what == Column::Part || what == Column::Group)
        return QStringLiteral("%1 at %2")
            .arg(QString::fromStdString(row.part), QString::fromStdString(row.edit.point));
    if (what == Column::Use)
        return useOf(row).empty()
                   ? QStringLiteral("Too few examples for a word")
                   : QString::fromStdString(useOf(row)) +
                         QStringLiteral(
                             ", by its mildest and its harshest replacement, corrected "
                             "over all rows");
    if (what == Column::Norm)
        return row.streamNorm > 0
                   ? QStringLiteral("Mean length of the part %1, of the stream before the layer %2")
                         .arg(row.partNorm, 0, 'g', 4)
                         .arg(row.streamNorm, 0, 'g', 4)
                   : QStringLiteral("Mean length of the part %1").arg(row.partNorm, 0, 'g', 4);
    if (!way) return QStringLiteral("Not measured in this way");
    if (what == Column::Changed)
        return QStringLiteral("%1 of the answers change").arg(probabilityText(way->changedAnswers));
    return QStringLiteral("%1, %2: %3 from %4 to %5, change %6 %7 %8")
        .arg(QString::fromStdString(row.part), wayText(way->how), text.title.toLower(),
             text.value(way->change.base), text.value(way->change.edited),
             text.change(way->change.change), text.interval(way->change.low, way->change.high),
             text.unit)
        .trimmed();
}

QVariant AblationModel::data(const QModelIndex& index, int role) const {
    const auto* row = rowAt(index.row());
    if (!row || !index.isValid()) return {};
    const int column = index.column();
    const auto* way = kind(column) == Column::Change ? wayAt(*row, column) : nullptr;
    switch (role) {
        case Qt::DisplayRole:
            return display(*row, column);
        case Qt::ToolTipRole:
        case Qt::AccessibleDescriptionRole:
            return tip(*row, column);
        case Qt::TextAlignmentRole:
            return static_cast<int>(Qt::AlignVCenter |
                                    (column < kFirstWay ? Qt::AlignLeft : Qt::AlignRight));
        case Qt::FontRole:
            return column < kFirstWay ? smallFont() : numberFont(12);
        case Value:
            return way ? QVariant(way->change.change) : QVariant();
        case Low:
            return way ? QVariant(way->change.low) : QVariant();
        case High:
            return way ? QVariant(way->change.high) : QVariant();
        case Interval:
            return way ? MetricText(m_table.metric).interval(way->change.low, way->change.high)
                       : QString();
        default:
            return {};
    }
}

QVariant AblationModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) return {};
    if (role == Qt::TextAlignmentRole)
        return static_cast<int>(Qt::AlignVCenter |
                                (kind(section) == Column::Changed || kind(section) == Column::Norm
                                     ? Qt::AlignRight
                                     : Qt::AlignLeft));
    const MetricText text(m_table.metric);
    if (role == Qt::DisplayRole) switch (kind(section)) {
            case Column::Part:
                return QStringLiteral("Part");
            case Column::Group:
                return QStringLiteral("Group");
            case Column::Use:
                return QStringLiteral("Use");
            case Column::Change:
                return wayText(wayOf(section)).replace(0, 1, wayText(wayOf(section))[0].toUpper());
            case Column::Changed:
                return QStringLiteral("Changed");
            case Column::Norm:
                return QStringLiteral("Length");
        }
    if (role == Qt::ToolTipRole) switch (kind(section)) {
            case Column::Part:
            case Column::Group:
                return QStringLiteral("Click to sort");
            case Column::Use:
                return QStringLiteral("Whether the model needs the part; click to sort");
            case Column::Change:
                return QStringLiteral(
                           "Change of the %1 with the part replaced by %2, with its "
                           "95 % interval%3")
                    .arg(text.title.toLower(), wayText(wayOf(section)),
                         text.percent ? QStringLiteral(", in points") : QString());
            case Column::Changed:
                return QStringLiteral("Share of the examples whose answer changes (%1)")
                    .arg(wayText(wayOf(section)));
            case Column::Norm:
                return QStringLiteral(
                    "Mean length of the part, and of the stream before its layer");
        }
    return {};
}

void AblationModel::order() {
    m_order.resize(m_table.rows.size());
    std::iota(m_order.begin(), m_order.end(), 0);
    if (m_column < 0 || m_column >= columnCount()) return;
    const Column what = kind(m_column);
    QCollator collator;
    collator.setNumericMode(true);
    const auto text = [&](const AblationRow& row) {
        return QString::fromStdString(what == Column::Part    ? row.part
                                      : what == Column::Group ? row.group
                                                              : useOf(row));
    };
    // What was not measured sorts behind everything else when the largest come first.
    const auto number = [&](const AblationRow& row) {
        const auto* way = wayAt(row, m_column);
        const double value = what == Column::Norm      ? ratio(row)
                             : !way                    ? -1.0
                             : what == Column::Changed ? way->changedAnswers
                                                       : std::abs(way->change.change);
        return std::isnan(value) ? -1.0 : value;
    };
    const auto less = [&](int a, int b) {
        const auto &x = m_table.rows[static_cast<std::size_t>(a)],
                   &y = m_table.rows[static_cast<std::size_t>(b)];
        if (what == Column::Part || what == Column::Group || what == Column::Use)
            return collator.compare(text(x), text(y)) < 0;
        return number(x) < number(y);
    };
    const bool up = m_direction == Qt::AscendingOrder;
    std::stable_sort(m_order.begin(), m_order.end(),
                     [&](int a, int b) { return up ? less(a, b) : less(b, a); });
}

void AblationModel::sort(int column, Qt::SortOrder direction) {
    Q_EMIT layoutAboutToBeChanged();
    const QModelIndexList held = persistentIndexList();
    std::vector<std::string> before;
    for (const QModelIndex& index : held) before.push_back(rowAt(index.row())->part);
    m_column = column;
    m_direction = direction;
    order();
    QModelIndexList now;
    for (qsizetype i = 0; i < held.size(); ++i)
        now << index(indexOfPart(before[static_cast<std::size_t>(i)]), held[i].column());
    changePersistentIndexList(held, now);
    Q_EMIT layoutChanged();
}

void AblationDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                             const QModelIndex& index) const {
    constexpr int number = 52, interval = 100, leastBar = 56, side = 8;
    const Theme& t = Theme::current();
    paint::rowGround(*painter, option);
    painter->save();
    painter->setFont(index.data(Qt::FontRole).value<QFont>());
    const auto* model = qobject_cast<const AblationModel*>(index.model());
    const bool group = model && model->kind(index.column()) == AblationModel::Column::Group;
    painter->setPen(group ? t.muted : t.text);
    QRect room = option.rect.adjusted(side, 0, -side, 0);
    const QVariant value = index.data(AblationModel::Value);
    if (!model || !value.isValid()) {
        paint::elidedText(*painter, room, index.data(Qt::TextAlignmentRole).toInt(),
                          index.data().toString());
    } else {
        painter->drawText(QRect(room.left(), room.top(), number, room.height()),
                          Qt::AlignRight | Qt::AlignVCenter, index.data().toString());
        room.adjust(number + 8, 0, 0, 0);
        // In a narrow column the interval is in the tooltip, and the bar shows it.
        if (room.width() >= interval + leastBar) {
            painter->setFont(numberFont(11));
            painter->setPen(t.muted);
            painter->drawText(QRect(room.left(), room.top(), interval, room.height()),
                              Qt::AlignLeft | Qt::AlignVCenter,
                              index.data(AblationModel::Interval).toString());
            room.adjust(interval + 4, 0, 0, 0);
        }
        const auto& range = model->range();
        drawSignedBar(*painter, room, value.toDouble(), range, 10);
        drawInterval(*painter, room, index.data(AblationModel::Low).toDouble(),
                     index.data(AblationModel::High).toDouble(), range);
    }
    paint::cellFocus(*painter, option);
    painter->restore();
}

namespace {

constexpr int kRow = 24, kFigureWidth = 1360, kFigurePlot = 230, kPairsShown = 12,
              kFigureTitle = 30, kSide = 16, kMostRows = 60;
using Column = AblationModel::Column;

void prepare(QTableView& view) {
    view.setItemDelegate(new AblationDelegate(&view));
    view.setFrameShape(QFrame::NoFrame);
    view.setShowGrid(false);
    view.setEditTriggers(QAbstractItemView::NoEditTriggers);
    view.setSelectionBehavior(QAbstractItemView::SelectRows);
    view.setSelectionMode(QAbstractItemView::SingleSelection);
    view.setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    view.verticalHeader()->hide();
    view.verticalHeader()->setMinimumSectionSize(kRow);
    view.verticalHeader()->setDefaultSectionSize(kRow);
    view.horizontalHeader()->setFont(smallFont());
    view.horizontalHeader()->setHighlightSections(false);
    view.horizontalHeader()->setMinimumSectionSize(40);
}

QWidget* titled(QLabel*& label, QWidget* content, const QString& text, QWidget* parent) {
    auto* box = new QWidget(parent);
    label = mutedLabel(text, box);
    label->setContentsMargins(16, 8, 16, 2);
    auto* column = columnOf(box);
    column->addWidget(label);
    column->addWidget(content, 1);
    return box;
}

}  // namespace

AblationView::AblationView(QWidget* parent)
    : AnswerView(QStringLiteral("Ablation"), QStringLiteral("ablation"), parent),
      m_model(new AblationModel(this)),
      m_view(new QTableView(this)),
      m_knockOut(new QPushButton(QStringLiteral("Knock out in the inspector"), this)),
      m_below(new QWidget(this)),
      m_curve(new CumulativePlot(this)),
      m_pairs(new QTableWidget(this)) {
    m_view->setModel(m_model);
    prepare(*m_view);
    m_view->setAccessibleName(QStringLiteral("Ablation table"));
    m_view->horizontalHeader()->setSectionsClickable(true);
    m_view->horizontalHeader()->setSortIndicator(-1, Qt::DescendingOrder);
    m_view->horizontalHeader()->setSortIndicatorClearable(true);
    m_view->setSortingEnabled(true);

    prepare(*m_pairs);
    m_pairs->setAccessibleName(QStringLiteral("Pairs of parts"));
    m_pairs->setColumnCount(4);
    auto* row = rowOf(m_below);
    QLabel* pairsTitle = nullptr;
    m_curvePart = titled(m_curveTitle, m_curve, {}, m_below);
    m_pairsPart =
        titled(pairsTitle, m_pairs,
               QStringLiteral("Pairs: joint change, and interaction (joint - sum)"), m_below);
    row->addWidget(m_curvePart, 3);
    row->addWidget(m_pairsPart, 2);
    content()->addWidget(m_view, 3);
    content()->addWidget(horizontalLine(this));
    content()->addWidget(m_below, 2);
    m_below->setMinimumHeight(190);

    m_knockOut->setProperty("compact", true);
    head()->addControl(m_knockOut);
    connect(m_view->selectionModel(), &QItemSelectionModel::currentChanged, this,
            &AblationView::updateKnockOut);
    connect(m_view, &QTableView::activated, this, &AblationView::requestEdit);
    connect(m_knockOut, &QPushButton::clicked, this, &AblationView::requestEdit);
    AblationView::clear(QStringLiteral("Not measured."));
}

std::optional<Edit> AblationView::chosenEdit() const {
    const QModelIndex at = m_view->currentIndex();
    const auto* row = isEmpty() ? nullptr : m_model->rowAt(at.row());
    if (!row) return std::nullopt;
    Edit edit = row->edit;
    edit.op = m_model->wayOf(at.column());
    return edit;
}

void AblationView::requestEdit() {
    if (const auto edit = chosenEdit()) Q_EMIT editsRequested({*edit}, {});
}

void AblationView::updateKnockOut() {
    m_knockOut->setVisible(!isEmpty());
    m_knockOut->setEnabled(chosenEdit().has_value());
    m_knockOut->setToolTip(m_knockOut->isEnabled()
                               ? QStringLiteral("Take the chosen part out in the inspector (Enter "
                                                "on its row)")
                               : QStringLiteral("Choose a row of the table first"));
}

const AblationTable& AblationView::table() const {
    return m_model->table();
}

void AblationView::clear(const QString& sentence) {
    AnswerView::clear(sentence);
    updateKnockOut();
}

void AblationView::fill(const Answer& answer) {
    if (answer.tables.empty()) return m_model->setTable({});
    const auto table = core::ablationTableOf(answer);
    const bool fresh = isEmpty() || m_model->table().rows.size() != table.rows.size();
    m_model->setTable(table, core::usesOf(answer));
    const MetricText text(table.metric);
    QString sub =
        QStringLiteral("%1 %2 with every part, %3 examples")
            .arg(text.title.toLower(), text.value(table.base), groupedNumber(table.examples));
    if (table.examples < table.wanted)
        sub = QStringLiteral("%1 of %2").arg(sub.chopped(9), groupedNumber(table.wanted)) +
              QStringLiteral(" examples");
    if (text.percent) sub += QStringLiteral("; changes in points");
    head()->setSubText(sub);
    m_curvePart->setVisible(!table.cumulative.empty());
    m_pairsPart->setVisible(!table.pairs.empty());
    m_below->setVisible(!table.cumulative.empty() || !table.pairs.empty());
    m_curveTitle->setText(CumulativePlot::title(table));
    m_curve->setTable(table);
    fillPairs();
    leaveEmpty();
    updateKnockOut();
    if (fresh) fitColumns(*m_view, width());
}

void AblationView::fillPairs() {
    auto pairs = table().pairs;
    std::stable_sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) {
        return std::abs(a.interaction) > std::abs(b.interaction);
    });
    m_pairs->setHorizontalHeaderLabels({QStringLiteral("First"), QStringLiteral("Second"),
                                        QStringLiteral("Joint"), QStringLiteral("Interaction")});
    m_pairs->setRowCount(static_cast<int>(pairs.size()));
    const MetricText text(table().metric);
    int row = 0;
    for (const auto& pair : pairs) {
        int column = 0;
        for (const QString& cell :
             {QString::fromStdString(pair.first), QString::fromStdString(pair.second),
              text.change(pair.joint), text.change(pair.interaction)}) {
            auto* item = new QTableWidgetItem(cell);
            item->setFont(column < 2 ? smallFont() : numberFont(12));
            item->setTextAlignment(Qt::AlignVCenter |
                                   (column < 2 ? Qt::AlignLeft : Qt::AlignRight));
            item->setToolTip(cell);
            m_pairs->setItem(row, column++, item);
        }
        ++row;
    }
    for (int c = 0; c < 4; ++c)
        m_pairs->horizontalHeaderItem(c)->setTextAlignment(
            Qt::AlignVCenter | (c < 2 ? Qt::AlignLeft : Qt::AlignRight));
    m_pairs->horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
    m_pairs->horizontalHeader()->setSectionResizeMode(1, QHeaderView::Stretch);
    m_pairs->setColumnWidth(2, 76);
    m_pairs->setColumnWidth(3, 92);
}

// Names keep their width; the bars take what is left, from a least width on.
void AblationView::fitColumns(QTableView& view, int width) const {
    if (m_model->columnCount() <= kFirstWay + 1) return;
    int names = 120, changes = 0;
    const QFontMetrics metrics(smallFont());
    for (const auto& row : table().rows)
        names = std::max(names, metrics.horizontalAdvance(QString::fromStdString(row.part)) + 24);
    constexpr int group = 84, use = 96, changed = 76, norm = 112, least = 150;
    int fixed = (names = std::min(names, 300)) + group + use + norm + 16;
    for (int c = 0; c < m_model->columnCount(); ++c) {
        changes += m_model->kind(c) == Column::Change;
        fixed += m_model->kind(c) == Column::Changed ? changed : 0;
    }
    const int each = std::clamp((width - fixed) / std::max(1, changes), least, 460);
    for (int c = 0; c < m_model->columnCount(); ++c) {
        const auto kind = m_model->kind(c);
        view.setColumnWidth(c, kind == Column::Part      ? names
                               : kind == Column::Group   ? group
                               : kind == Column::Use     ? use
                               : kind == Column::Change  ? each
                               : kind == Column::Changed ? changed
                                                         : norm);
    }
}

void AblationView::resizeEvent(QResizeEvent* event) {
    MeasureFrame::resizeEvent(event);
    fitColumns(*m_view, width());
}

std::unique_ptr<QTableView> AblationView::wholeTable() const {
    auto whole = std::make_unique<QTableView>();
    whole->setPalette(Theme::current().palette());
    whole->setModel(m_model);
    prepare(*whole);
    whole->setSelectionMode(QAbstractItemView::NoSelection);
    whole->setFocusPolicy(Qt::NoFocus);
    whole->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    whole->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    fitColumns(*whole, kFigureWidth);
    const int high = whole->horizontalHeader()->sizeHint().height();
    whole->resize(std::max(kFigureWidth, whole->horizontalHeader()->length()),
                  high + kRow * std::min(kMostRows, m_model->rowCount()) + 2);
    return whole;
}

int AblationView::pairsInFigure() const {
    return std::min<int>(kPairsShown, static_cast<int>(table().pairs.size()));
}

QSize AblationView::figureSize() const {
    if (isEmpty()) return {400, 80};
    QSize size = wholeTable()->size() + QSize(kSide, kFigureTitle);
    if (m_model->rowCount() > kMostRows) size.rheight() += kFigureTitle;
    if (!table().cumulative.empty()) size.rheight() += kFigureTitle + kFigurePlot;
    if (pairsInFigure() > 0) size.rheight() += kFigureTitle + (pairsInFigure() + 1) * kRow + 8;
    return size;
}

void AblationView::paintFigure(QPainter& painter) {
    const Theme& t = Theme::current();
    const auto whole = wholeTable();
    const int width = whole->width() + kSide;
    int y = 0;
    const auto line = [&](const QFont& font, const QString& text) {
        painter.setFont(font);
        painter.setPen(t.text);
        painter.drawText(QRect(kSide, y, width - 2 * kSide, kFigureTitle), Qt::AlignVCenter, text);
        y += kFigureTitle;
    };
    line(headFont(), QStringLiteral("Ablation: ") + headText());
    whole->render(&painter, QPoint(kSide / 2, y), QRegion(), QWidget::DrawChildren);
    y += whole->height();
    if (const int more = m_model->rowCount() - kMostRows; more > 0)
        line(smallFont(), QStringLiteral("and %1 more parts").arg(groupedNumber(more)));
    if (!table().cumulative.empty()) {
        line(smallFont(), CumulativePlot::title(table()));
        m_curve->paintVector(painter, y, {std::min(width, 760), kFigurePlot});
        y += kFigurePlot;
    }
    if (pairsInFigure() == 0) return;
    line(smallFont(),
         QStringLiteral("Pairs with the largest interaction (joint change - sum of the two)"));
    const int edges[] = {kSide, 296, 576, 676, 786};
    for (int row = -1; row < pairsInFigure(); ++row, y += kRow) {
        painter.setPen(row < 0 ? t.muted : t.text);
        for (int c = 0; c < 4; ++c) {
            painter.setFont(row < 0 || c < 2 ? smallFont() : numberFont(12));
            painter.drawText(
                QRect(edges[c], y, edges[c + 1] - edges[c] - 8, kRow),
                Qt::AlignVCenter | (c < 2 ? Qt::AlignLeft : Qt::AlignRight),
                row < 0 ? m_pairs->horizontalHeaderItem(c)->text() : m_pairs->item(row, c)->text());
        }
        painter.fillRect(QRect(kSide, y + kRow - 1, edges[4] - 2 * kSide, 1), t.grid);
    }
}

}  // namespace relascope::widgets
