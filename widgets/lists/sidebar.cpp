// SPDX-License-Identifier: GPL-3.0-or-later
#include <cmath>
#include <map>

#include <QAction>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPainter>
#include <QToolButton>
#include <QTreeWidget>
#include <QVBoxLayout>

#include "types/compared_run.h"
#include "widgets/lists/sidebar.h"
#include "widgets/text/run_text.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

void background(QPainter* painter, const QStyleOptionViewItem& option) {
    const Theme& t = Theme::current();
    const QRect whole(0, option.rect.top(),
                      option.widget ? option.widget->width() : option.rect.right() + 1,
                      option.rect.height());
    if (option.state & QStyle::State_Selected)
        painter->fillRect(whole, t.selection);
    else if (option.state & QStyle::State_MouseOver)
        painter->fillRect(whole, t.hover);
    if (option.state & QStyle::State_HasFocus && option.state & QStyle::State_KeyboardFocusChange) {
        painter->setPen(QPen(t.accent, 2));
        painter->drawRect(whole.adjusted(1, 1, -1, -1));
    }
}

QColor stateColor(RunState state) {
    const Theme& t = Theme::current();
    switch (state) {
        case RunState::Running:
            return t.ok;
        case RunState::Paused:
        case RunState::Stopped:
        case RunState::Interrupted:
            return t.warning;
        case RunState::Failed:
            return t.error;
        default:
            return t.muted;
    }
}

}  // namespace

void RunDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                        const QModelIndex& index) const {
    const Theme& t = Theme::current();
    painter->save();
    QStyleOptionViewItem own = option;
    if (const QString heading = index.data(Heading).toString(); !heading.isEmpty()) {
        QFont face = captionFont();
        face.setWeight(QFont::DemiBold);
        painter->setFont(face);
        painter->setPen(t.muted);
        const QRect above(option.rect.left() + 12, option.rect.top() + 4, option.rect.width() - 24,
                          kHeading - 4);
        paint::elidedText(*painter, above, Qt::AlignVCenter, heading);
        own.rect.setTop(own.rect.top() + kHeading);
    }
    background(painter, own);
    if (index.data(Faint).toBool()) painter->setOpacity(0.5);
    const QRect r = own.rect.adjusted(12, 0, -12, 0);
    paint::swatch(*painter, QPointF(r.left(), r.top() + 6),
                  t.seriesColor(index.data(Color).toInt()));
    const QString metric = index.data(Metric).toString();
    painter->setFont(numberFont(12));
    const int metricWidth = painter->fontMetrics().horizontalAdvance(metric);
    painter->setPen(t.text);
    painter->drawText(QRect(r.left(), r.top() + 2, r.width(), 18),
                      Qt::AlignRight | Qt::AlignVCenter, metric);
    QFont face = bodyFont();
    face.setWeight(QFont::Medium);
    painter->setFont(face);
    const QRect name(r.left() + 18, r.top() + 2, r.width() - 18 - metricWidth - 8, 18);
    paint::elidedText(*painter, name, Qt::AlignVCenter, index.data(Qt::DisplayRole).toString(),
                      Qt::ElideMiddle);
    painter->setFont(captionFont());
    painter->setPen(stateColor(static_cast<RunState>(index.data(State).toInt())));
    const QRect line(r.left() + 18, r.top() + 20, r.width() - 18, 14);
    paint::elidedText(*painter, line, Qt::AlignVCenter, index.data(StateLine).toString());
    painter->restore();
}

void LineDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                         const QModelIndex& index) const {
    const Theme& t = Theme::current();
    painter->save();
    background(painter, option);
    const bool tree = option.widget && option.widget->inherits("QTreeView");
    const QRect r = option.rect.adjusted(tree ? 4 : 12, 0, -12, 0);
    const QString note = index.data(Note).toString();
    painter->setFont(captionFont());
    const int noteWidth = note.isEmpty() ? 0 : painter->fontMetrics().horizontalAdvance(note) + 8;
    painter->setPen(t.muted);
    painter->drawText(r, Qt::AlignRight | Qt::AlignVCenter, note);
    QFont face = bodyFont();
    if (option.state & QStyle::State_Selected) face.setWeight(QFont::DemiBold);
    painter->setFont(face);
    painter->setPen(index.data(Faint).toBool() ? t.faint : t.text);
    const QRect room = r.adjusted(0, 0, -noteWidth, 0);
    paint::elidedText(*painter, room, Qt::AlignVCenter, index.data(Qt::DisplayRole).toString());
    painter->restore();
}

namespace {

constexpr int kPreset = Qt::UserRole;

QLabel* partTitle(const QString& text, QWidget* parent) {
    auto* label = new QLabel(text, parent);
    QFont face = smallFont();
    face.setWeight(QFont::DemiBold);
    label->setFont(face);
    return label;
}

void plain(QAbstractItemView* view, const QString& name) {
    view->setFrameShape(QFrame::NoFrame);
    view->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    view->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    view->setMouseTracking(true);
    view->setAccessibleName(name);
    view->setEditTriggers(QAbstractItemView::NoEditTriggers);
}

QString stateText(const RunInfo& info) {
    const QString state = QLatin1String(runStateName(info.state));
    const QString step = groupedNumber(info.step);
    switch (info.state) {
        case RunState::Queued:
            return state;
        case RunState::Done:
            // The weights that are shown are those that early stopping chose.
            if (info.restoresBest && info.kept.step >= 0 && info.kept.step < info.step)
                return QString("stopped early · step %1 kept").arg(groupedNumber(info.kept.step));
            return info.message.empty()
                       ? QString("%1 · %2 steps").arg(state, step)
                       : QString("%1 · %2").arg(state, QString::fromStdString(info.message));
        case RunState::Failed:
            return info.message.empty()
                       ? QString("%1 · step %2").arg(state, step)
                       : QString("%1 · %2").arg(state, QString::fromStdString(info.message));
        default:
            return QString("%1 · step %2").arg(state, step);
    }
}

}  // namespace

QString runStateLine(const RunInfo& info) {
    QString line = stateText(info);
    if (info.labels.hidden) line += QStringLiteral(" · hidden");
    for (const auto& tag : info.labels.tags)
        line += QStringLiteral(" · #") + QString::fromStdString(tag);
    return line;
}

Sidebar::Sidebar(QWidget* parent)
    : QWidget(parent),
      m_search(new QLineEdit(this)),
      m_tree(new QTreeWidget(this)),
      m_runs(new QListWidget(this)),
      m_checkpoints(new QListWidget(this)),
      m_runCount(mutedLabel({}, this)),
      m_runHint(
          mutedLabel(QStringLiteral("No runs yet. Choose an experiment and press Start."), this)),
      m_hidden(new QToolButton(this)),
      m_checkpointPart(new QWidget(this)) {
    setFixedWidth(240);
    setAccessibleName(QStringLiteral("Experiments and runs"));
    auto* column = columnOf(this, {0, 8, 1, 0}, 0);

    m_search->setPlaceholderText(QStringLiteral("Filter"));
    m_search->setAccessibleName(QStringLiteral("Filter experiments, runs and checkpoints"));
    m_search->addAction(icon("search"), QLineEdit::LeadingPosition);
    m_search->setClearButtonEnabled(true);
    m_search->setFixedHeight(28);
    m_search->installEventFilter(this);
    auto* searchRow = new QHBoxLayout;
    searchRow->setContentsMargins(12, 0, 12, 8);
    searchRow->addWidget(m_search);
    column->addLayout(searchRow);

    m_hidden->setAutoRaise(true);
    m_hidden->setCheckable(true);
    m_hidden->setFont(captionFont());
    m_hidden->setFixedHeight(20);
    m_hidden->hide();
    const auto heading = [&](QLabel* title, QWidget* beside, QBoxLayout* into,
                             QWidget* atEnd = nullptr) {
        auto* row = new QHBoxLayout;
        row->setContentsMargins(12, 6, 12, 4);
        row->setSpacing(8);
        row->addWidget(title);
        if (beside) row->addWidget(beside);
        row->addStretch(1);
        if (atEnd) row->addWidget(atEnd);
        into->addLayout(row);
    };
    heading(partTitle(QStringLiteral("Runs"), this), m_runCount, column, m_hidden);
    plain(m_runs, QStringLiteral("Runs"));
    m_runs->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_runs->setItemDelegate(new RunDelegate(m_runs));
    m_runs->setContextMenuPolicy(Qt::CustomContextMenu);
    m_runHint->setWordWrap(true);
    m_runHint->setContentsMargins(12, 4, 12, 12);
    column->addWidget(m_runHint);
    column->addWidget(m_runs, 1);
    column->addWidget(horizontalLine(this));

    heading(partTitle(QStringLiteral("Experiments"), this), nullptr, column);
    plain(m_tree, QStringLiteral("Experiments"));
    m_tree->setHeaderHidden(true);
    m_tree->setIndentation(18);
    m_tree->setUniformRowHeights(true);
    m_tree->setItemDelegate(new LineDelegate(m_tree));
    column->addWidget(m_tree, 1);

    auto* part = columnOf(m_checkpointPart);
    part->addWidget(horizontalLine(m_checkpointPart));
    heading(partTitle(QStringLiteral("Checkpoints"), m_checkpointPart), nullptr, part);
    plain(m_checkpoints, QStringLiteral("Checkpoints"));
    m_checkpoints->setUniformItemSizes(true);
    m_checkpoints->setItemDelegate(new LineDelegate(m_checkpoints));
    part->addWidget(m_checkpoints);
    m_checkpointPart->hide();
    column->addWidget(m_checkpointPart);

    connect(m_search, &QLineEdit::textChanged, this, &Sidebar::applyFilter);
    connect(m_tree, &QTreeWidget::currentItemChanged, this, [this](QTreeWidgetItem* item) {
        const QString preset = item ? item->data(0, kPreset).toString() : QString();
        if (preset.isEmpty() || preset == m_preset) return;
        m_preset = preset;
        Q_EMIT presetChosen(preset);
    });
    connect(m_tree, &QTreeWidget::itemClicked, this, [](QTreeWidgetItem* item) {
        if (item->childCount() > 0) item->setExpanded(!item->isExpanded());
    });
    connect(m_runs, &QListWidget::itemSelectionChanged, this,
            [this] { Q_EMIT runsSelected(selectedRuns()); });
    connect(m_runs, &QListWidget::itemActivated, this, [this](QListWidgetItem* item) {
        Q_EMIT runActivated(item->data(RunDelegate::Path).toString());
    });
    connect(m_hidden, &QToolButton::clicked, this, &Sidebar::showHiddenRequested);
    connect(m_runs, &QListWidget::customContextMenuRequested, this, &Sidebar::runMenu);
    m_runs->installEventFilter(this);
    connect(m_checkpoints, &QListWidget::itemClicked, m_checkpoints, &QListWidget::itemActivated);
    connect(m_checkpoints, &QListWidget::itemActivated, this, [this](QListWidgetItem* item) {
        Q_EMIT checkpointChosen(item->data(kPreset).toString());
    });
    restyle();
}

void Sidebar::setExperiments(const std::vector<ExperimentEntry>& entries) {
    const QSignalBlocker quiet(m_tree);
    m_tree->clear();
    std::map<QString, QTreeWidgetItem*> families;
    for (const ExperimentEntry& entry : entries) {
        QTreeWidgetItem*& family = families[entry.family];
        if (!family) {
            family = new QTreeWidgetItem(m_tree, {entry.family});
            family->setFlags(Qt::ItemIsEnabled);
            family->setExpanded(true);
        }
        auto* item = new QTreeWidgetItem(family, {entry.title});
        item->setData(0, kPreset, entry.preset);
        item->setToolTip(0, entry.help);
    }
    setCurrentPreset(m_preset);
    applyFilter();
}

void Sidebar::setCurrentPreset(const QString& preset) {
    const QSignalBlocker quiet(m_tree);
    m_preset = preset;
    for (QTreeWidgetItemIterator it(m_tree); *it; ++it)
        if (!preset.isEmpty() && (*it)->data(0, kPreset).toString() == preset)
            m_tree->setCurrentItem(*it);
}

void Sidebar::setRuns(const std::vector<RunRow>& rows) {
    const QSignalBlocker quiet(m_runs);
    const QStringList before = selectedRuns();
    // During a training usually only the data change, not the paths.
    bool same = static_cast<int>(rows.size()) == m_runs->count();
    for (int i = 0; same && i < m_runs->count(); ++i)
        same = m_runs->item(i)->data(RunDelegate::Path).toString() ==
               QString::fromStdString(rows[static_cast<std::size_t>(i)].info.path);
    if (!same) {
        const QString current = m_runs->currentItem()
                                    ? m_runs->currentItem()->data(RunDelegate::Path).toString()
                                    : QString();
        m_runs->clear();
        for (const RunRow& row : rows) {
            auto* item = new QListWidgetItem(m_runs);
            const QString path = QString::fromStdString(row.info.path);
            item->setData(RunDelegate::Path, path);
            if (path == current) m_runs->setCurrentItem(item, QItemSelectionModel::NoUpdate);
        }
        for (int i = 0; i < m_runs->count(); ++i)
            m_runs->item(i)->setSelected(
                before.contains(m_runs->item(i)->data(RunDelegate::Path).toString()));
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const RunInfo& info = rows[i].info;
        QListWidgetItem* item = m_runs->item(static_cast<int>(i));
        const auto put = [item](int role, const QVariant& value) {
            if (item->data(role) != value) item->setData(role, value);
        };
        const double own = keptOf(info);
        const QString metric = std::isnan(own)
                                   ? metricText("loss", info.kept.value("loss"))
                                   : metricText(info.metric, own) + unitBehind(info.metric);
        const QString detail = keptText(info);
        const QString line = runStateLine(info);
        put(Qt::DisplayRole, QString::fromStdString(info.name));
        put(RunDelegate::State, static_cast<int>(info.state));
        put(RunDelegate::StateLine, line);
        put(RunDelegate::Metric, metric);
        put(RunDelegate::Color, rows[i].colorIndex);
        put(RunDelegate::Faint, info.labels.hidden);
        put(RunDelegate::Heading, rows[i].heading);
        // The devices are shown only if the run was trained on several of them.
        const QString devices = info.device.find(',') == std::string::npos
                                    ? QString()
                                    : QString("on %1\n").arg(QString::fromStdString(info.device));
        put(Qt::ToolTipRole,
            plainTip(QString("%1\n%2\n%3\n%4%5")
                         .arg(QString::fromStdString(info.name), line, detail, devices,
                              rows[i].host.isEmpty() ? QString::fromStdString(info.path)
                                                     : QStringLiteral("on %1").arg(rows[i].host))));
        put(Qt::AccessibleTextRole,
            QString("%1, %2, %3").arg(QString::fromStdString(info.name), line, detail));
    }
    m_runCount->setText(rows.empty() ? QString() : QString::number(rows.size()));
    m_runHint->setVisible(rows.empty());
    m_runs->setVisible(!rows.empty());
    int high = 2;
    for (int i = 0; i < m_runs->count(); ++i) high += m_runs->sizeHintForRow(i);
    m_runs->setMaximumHeight(high);  // a short list leaves its room to the experiments
    applyFilter();
    m_runs->viewport()->update();
    if (before != selectedRuns()) Q_EMIT runsSelected(selectedRuns());
}

void Sidebar::setCheckpoints(const std::vector<CheckpointEntry>& entries) {
    m_checkpoints->clear();
    for (const CheckpointEntry& entry : entries) {
        auto* item = new QListWidgetItem(entry.title, m_checkpoints);
        item->setData(kPreset, entry.path);
        item->setData(LineDelegate::Note, entry.size);
        item->setData(LineDelegate::Faint, entry.missing || entry.path.isEmpty());
        if (entry.path.isEmpty()) item->setFlags(Qt::NoItemFlags);
        const QString place = entry.place.isEmpty() ? entry.path : entry.place;
        item->setToolTip(
            plainTip(entry.missing ? place + QStringLiteral("\nno longer exists") : place));
    }
    m_checkpointPart->setVisible(!entries.empty());
    m_checkpoints->setFixedHeight(qMin<int>(6, static_cast<int>(entries.size())) * 26 + 6);
    applyFilter();
}

QStringList Sidebar::selectedRuns() const {
    QStringList paths;
    for (int i = 0; i < m_runs->count(); ++i)
        if (m_runs->item(i)->isSelected())
            paths += m_runs->item(i)->data(RunDelegate::Path).toString();
    return paths;
}

void Sidebar::setSelectedRuns(const QStringList& paths) {
    const QSignalBlocker quiet(m_runs);
    for (int i = 0; i < m_runs->count(); ++i) {
        QListWidgetItem* item = m_runs->item(i);
        const bool chosen = paths.contains(item->data(RunDelegate::Path).toString());
        if (chosen && !item->isSelected()) m_runs->scrollToItem(item);
        item->setSelected(chosen);
    }
    m_runs->viewport()->update();
}

void Sidebar::setFilter(const QString& text) {
    m_search->setText(text);
}

void Sidebar::applyFilter() {
    const QString text = m_search->text().trimmed();
    const auto hit = [&](const QString& candidate) {
        return text.isEmpty() || candidate.contains(text, Qt::CaseInsensitive);
    };
    for (int f = 0; f < m_tree->topLevelItemCount(); ++f) {
        QTreeWidgetItem* family = m_tree->topLevelItem(f);
        bool any = false;
        for (int i = 0; i < family->childCount(); ++i) {
            QTreeWidgetItem* item = family->child(i);
            const bool shown = hit(item->text(0)) || hit(item->data(0, kPreset).toString()) ||
                               hit(family->text(0));
            item->setHidden(!shown);
            any |= shown;
        }
        family->setHidden(!any);
        if (!text.isEmpty() && any) family->setExpanded(true);
    }
    int runs = 0;
    for (QListWidget* list : {m_runs, m_checkpoints})
        for (int i = 0; i < list->count(); ++i) {
            QListWidgetItem* item = list->item(i);
            const bool shown =
                hit(item->text()) || hit(item->data(RunDelegate::StateLine).toString());
            item->setHidden(!shown);
            runs += list == m_runs && shown;
        }
    // An empty list says why.
    if (m_runs->count() > 0)
        m_runCount->setText(runs == m_runs->count()
                                ? QString::number(runs)
                                : QStringLiteral("%1 of %2").arg(runs).arg(m_runs->count()));
}

void Sidebar::runMenu(const QPoint& at) {
    const QListWidgetItem* item = m_runs->itemAt(at);
    if (!item) return;
    const QString path = item->data(RunDelegate::Path).toString();
    QStringList paths = selectedRuns();
    if (!paths.contains(path)) paths = {path};
    Q_EMIT runMenuRequested(paths, m_runs->viewport()->mapToGlobal(at));
}

void Sidebar::setHiddenRuns(int count, bool shown) {
    m_hidden->setText(QString("%1 hidden").arg(count));
    m_hidden->setChecked(shown);
    m_hidden->setToolTip(shown ? QStringLiteral("Leave the hidden runs out of the list")
                               : QStringLiteral("Show hidden runs as well"));
    m_hidden->setAccessibleName(QStringLiteral("Show hidden runs"));
    m_hidden->setVisible(count > 0);
    if (m_runs->count() == 0)
        m_runHint->setText(count > 0 ? QStringLiteral("All runs are hidden.")
                                     : QStringLiteral("No runs yet. Choose an experiment and press "
                                                      "Start."));
}

/// Chooses the first experiment that the filter leaves, or else the first run.
bool Sidebar::takeFirstHit() {
    if (m_search->text().trimmed().isEmpty()) return false;
    for (QTreeWidgetItemIterator it(m_tree, QTreeWidgetItemIterator::NotHidden); *it; ++it) {
        const QString preset = (*it)->data(0, kPreset).toString();
        if (preset.isEmpty() || (*it)->parent()->isHidden()) continue;
        m_tree->setCurrentItem(*it);
        return true;
    }
    for (int i = 0; i < m_runs->count(); ++i)
        if (!m_runs->item(i)->isHidden()) {
            m_runs->setCurrentRow(i, QItemSelectionModel::ClearAndSelect);
            return true;
        }
    return true;
}

bool Sidebar::eventFilter(QObject* watched, QEvent* event) {
    // A list without a current row would show nothing of the focus.
    if (event->type() == QEvent::FocusIn)
        if (auto* list = qobject_cast<QListWidget*>(watched); list && !list->currentItem())
            list->setCurrentRow(0, QItemSelectionModel::NoUpdate);
    if (event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (watched == m_search && key == Qt::Key_Escape) {
            m_search->text().isEmpty() ? Q_EMIT left() : m_search->clear();
            return true;
        }
        if (watched == m_search && (key == Qt::Key_Return || key == Qt::Key_Enter)) {
            if (!takeFirstHit()) return false;
            Q_EMIT left();
            return true;
        }
        if (watched == m_search && key == Qt::Key_Down) {
            takeFirstHit();
            m_tree->setFocus(Qt::TabFocusReason);
            return true;
        }
        if (watched == m_runs && key == Qt::Key_Delete && !selectedRuns().isEmpty()) {
            Q_EMIT deleteRequested(selectedRuns());
            return true;
        }
        if (watched == m_runs && key == Qt::Key_F2 && m_runs->currentItem()) {
            Q_EMIT renameRequested(m_runs->currentItem()->data(RunDelegate::Path).toString());
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

void Sidebar::restyle() {
    for (QAbstractItemView* view :
         std::initializer_list<QAbstractItemView*>{m_tree, m_runs, m_checkpoints})
        view->viewport()->update();
    update();
}
void Sidebar::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_checkpointPart) restyle();
}
void Sidebar::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), Theme::current().panel);
    painter.fillRect(QRect(width() - 1, 0, 1, height()), Theme::current().border);
}

}  // namespace relascope::widgets
