#include "app/pages/data_chooser.h"

#include <QFileInfo>
#include <QKeyEvent>
#include <QListWidget>
#include <QMenu>
#include <QPainter>
#include <QPushButton>
#include <QSettings>
#include <QToolButton>
#include <QVBoxLayout>

#include "datasets/registry.h"
#include "widgets/form/options_form.h"
#include "widgets/lists/run_delegate.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace relascope {
namespace {

constexpr int kKind = Qt::UserRole, kPath = Qt::UserRole + 1, kHead = Qt::UserRole + 2;
constexpr int kRemembered = 8;
const char* const kFilesKey = "data/files";
// Fields of data that are made here; the task is the line chosen in the list.
constexpr const char* kFields[] = {"family", "train_size", "seed", "patterns", "streaming"};

/// Lines as the rail has them, and heads between them.
class ChooserDelegate : public LineDelegate {
public:
    using LineDelegate::LineDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        const bool head = index.data(kHead).toBool();
        if (!head && index.flags() & Qt::ItemIsSelectable)
            return LineDelegate::paint(painter, option, index);
        painter->save();
        if (!head) {
            painter->setFont(smallFont());
            painter->setPen(Theme::current().muted);
            painter->drawText(option.rect.adjusted(12, 0, -12, 0), Qt::AlignVCenter,
                              index.data().toString());
            painter->restore();
            return;
        }
        painter->setFont(headFont());
        painter->setPen(Theme::current().text);
        painter->drawText(option.rect.adjusted(12, 6, -12, 0), Qt::AlignVCenter,
                          index.data().toString());
        painter->restore();
    }
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        return index.data(kHead).toBool() ? QSize(100, 34) : LineDelegate::sizeHint(option, index);
    }
};

QString taskTitle(std::string task) {
    QString title = QString::fromStdString(task).replace(u'_', u' ');
    if (task == "xoccurs") return QStringLiteral("XOccurs");
    title[0] = title[0].toUpper();
    return title;
}

}  // namespace

DataChooser::DataChooser(QWidget* parent)
    : QWidget(parent),
      m_list(new QListWidget(this)),
      m_form(new OptionsForm(this)),
      m_import(new QPushButton(icon("import"), QString::fromUtf8("Import .npz\u2026"), this)) {
    setAccessibleName(QStringLiteral("Datasets"));
    m_import->setProperty("compact", true);
    m_import->setToolTip(
        QStringLiteral("Read labelled images from a file; it can be dropped on the page, too"));
    auto* head = new PanelHead(QStringLiteral("Dataset"), this);
    head->addControl(m_import);
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setItemDelegate(new ChooserDelegate(m_list));
    m_list->setAccessibleName(QStringLiteral("Datasets to choose from"));
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_list->setContextMenuPolicy(Qt::CustomContextMenu);
    m_list->installEventFilter(this);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(head);
    column->addWidget(m_list, 1);
    column->addWidget(horizontalLine(this));
    column->addWidget(m_form, 1);

    // The form stands below the list here: folding it sideways would leave a strip in the middle of
    // nothing.
    for (QToolButton* button : m_form->findChildren<QToolButton*>())
        if (button->accessibleName() == QLatin1String("Collapse the options")) button->hide();
    m_files = QSettings().value(QLatin1String(kFilesKey)).toStringList();
    fill();
    showForm();
    connect(m_import, &QPushButton::clicked, this, &DataChooser::importRequested);
    connect(m_list, &QListWidget::currentItemChanged, this, [this](QListWidgetItem* item) {
        if (!item || item->data(kHead).toBool()) return;
        const DataChoice choice = choiceOf(item);
        if (choice == m_current) return;
        m_current = choice;
        showForm();
        Q_EMIT chosen(choice);
    });
    connect(m_list, &QListWidget::customContextMenuRequested, this, &DataChooser::itemMenu);
    connect(m_form, &OptionsForm::valueChanged, this,
            [this](const QString& key, const FieldValue& value) {
                const std::string name = key.section(u'.', 1).toStdString();
                if (name == "pass") m_pass = std::get<std::int64_t>(value);
                for (const auto& field : DataOptions::fieldTable())
                    if (field.spec.name == name) field.set(m_options, value);
                showForm();
                if (!m_options.problems().empty() || m_current.kind != DataChoice::Kind::Generated)
                    return;
                m_current.options = m_options;
                m_current.pass = m_options.streaming ? m_pass : 0;
                Q_EMIT chosen(m_current);
            });
}

QListWidgetItem* DataChooser::addHead(const QString& title) {
    auto* item = new QListWidgetItem(title, m_list);
    item->setFlags(Qt::NoItemFlags);
    item->setData(kHead, true);
    return item;
}

QListWidgetItem* DataChooser::addLine(const DataChoice& choice, const QString& note) {
    auto* item = new QListWidgetItem(choice.name, m_list);
    item->setData(kKind, static_cast<int>(choice.kind));
    item->setData(kPath, choice.kind == DataChoice::Kind::Generated
                             ? QString::fromStdString(choice.options.task)
                             : choice.path);
    item->setData(LineDelegate::Note, note);
    if (choice.kind != DataChoice::Kind::Generated) item->setToolTip(choice.path);
    return item;
}

void DataChooser::fill() {
    const QSignalBlocker quiet(m_list);
    m_list->clear();
    addHead(QStringLiteral("Relational Games"));
    for (const auto& entry : listDatasets()) {
        DataChoice choice;
        choice.options.task = entry.name;
        choice.name = taskTitle(entry.name);
        addLine(choice, QStringLiteral("generated"))
            ->setToolTip(QString::fromStdString(entry.help));
    }
    if (!m_run.isEmpty()) {
        addHead(QStringLiteral("Run"));
        addLine({DataChoice::Kind::Run, {}, 0, m_run, m_runName}, QStringLiteral("its splits"));
    }
    addHead(QStringLiteral("Imported files"));
    for (const QString& path : m_files)
        addLine({DataChoice::Kind::File, {}, 0, path, QFileInfo(path).fileName()},
                QStringLiteral("npz"));
    if (m_files.isEmpty()) {
        auto* none = new QListWidgetItem(QStringLiteral("Drop a .npz file here"), m_list);
        none->setFlags(Qt::NoItemFlags);
    }
    mark();
}

void DataChooser::mark() {
    const QSignalBlocker quiet(m_list);
    m_list->setCurrentItem(nullptr);
    for (int i = 0; i < m_list->count(); ++i) {
        QListWidgetItem* item = m_list->item(i);
        if (!(item->flags() & Qt::ItemIsSelectable)) continue;
        const DataChoice here = choiceOf(item);
        const bool same = here.kind == m_current.kind && here.path == m_current.path &&
                          (here.kind != DataChoice::Kind::Generated ||
                           here.options.task == m_current.options.task);
        if (same && !m_current.name.isEmpty()) m_list->setCurrentItem(item);
    }
}

DataChoice DataChooser::choiceOf(const QListWidgetItem* item) const {
    DataChoice choice;
    choice.kind = static_cast<DataChoice::Kind>(item->data(kKind).toInt());
    choice.name = item->text();
    if (choice.kind != DataChoice::Kind::Generated) {
        choice.path = item->data(kPath).toString();
        return choice;
    }
    choice.options = m_options;
    choice.options.task = item->data(kPath).toString().toStdString();
    choice.pass = m_options.streaming ? m_pass : 0;
    return choice;
}

void DataChooser::setCurrent(const DataChoice& choice) {
    m_current = choice;
    if (choice.kind == DataChoice::Kind::Generated && !choice.name.isEmpty()) {
        m_options = choice.options;
        m_pass = choice.pass;
    }
    mark();
    showForm();
}

void DataChooser::showForm() {
    const bool generated = m_current.kind == DataChoice::Kind::Generated;
    m_form->setVisible(generated);
    if (!generated) return;
    if (!m_current.name.isEmpty()) m_options.task = m_current.options.task;
    const DataOptions usual;
    std::vector<FieldState> states;
    for (const char* name : kFields) {
        for (const auto& field : DataOptions::fieldTable()) {
            if (field.spec.name != name) continue;
            FieldState state{"data." + field.spec.name, field.spec, field.get(m_options),
                             field.get(usual), field.applies(m_options)};
            if (field.spec.name == "family")
                state.spec.label = "Family",
                state.spec.help =
                    "Family of figures in training and validation; every family has a test split.";
            if (field.spec.name == "train_size")
                state.spec.label = "Images",
                state.spec.help = "Images of the training split; with streaming, of one pass.";
            // Nothing trains on this page: every field takes effect at once.
            state.spec.live = true;
            states.push_back(std::move(state));
        }
    }
    FieldSpec pass{"pass",
                   "Pass",
                   "Which pass over the training set is shown; each has fresh images.",
                   FieldKind::Integer,
                   0,
                   1e9};
    pass.live = true;
    states.push_back(
        {"data.pass", pass, FieldValue(m_pass), FieldValue(std::int64_t{0}), m_options.streaming});
    m_form->setStates(states);
    std::vector<FieldProblem> problems;
    for (const auto& problem : m_options.problems())
        problems.push_back({"data." + problem.field, problem.message});
    m_form->setProblems(problems);
}

void DataChooser::setRun(const QString& path, const QString& name) {
    if (path == m_run && name == m_runName) return;
    // The run that is looked at stays on offer until another choice is made.
    if (path.isEmpty() && m_current.kind == DataChoice::Kind::Run) return;
    m_run = path;
    m_runName = name;
    fill();
}

void DataChooser::remember(const QString& path) {
    m_files.removeAll(path);
    m_files.prepend(path);
    while (m_files.size() > kRemembered) m_files.removeLast();
    QSettings().setValue(QLatin1String(kFilesKey), m_files);
    fill();
}

void DataChooser::forget(const QString& path) {
    if (m_files.removeAll(path) == 0) return;
    QSettings().setValue(QLatin1String(kFilesKey), m_files);
    fill();
}

void DataChooser::itemMenu(const QPoint& at) {
    const QListWidgetItem* item = m_list->itemAt(at);
    if (!item || item->data(kHead).toBool() || !(item->flags() & Qt::ItemIsSelectable)) return;
    if (item->data(kKind).toInt() != static_cast<int>(DataChoice::Kind::File)) return;
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    connect(menu->addAction(QStringLiteral("Remove from this list")), &QAction::triggered, this,
            [this, path = item->data(kPath).toString()] { forget(path); });
    menu->popup(m_list->viewport()->mapToGlobal(at));
}

bool DataChooser::eventFilter(QObject* watched, QEvent* event) {
    if (watched == m_list && event->type() == QEvent::KeyPress &&
        static_cast<QKeyEvent*>(event)->key() == Qt::Key_Delete) {
        const QListWidgetItem* item = m_list->currentItem();
        if (item && item->data(kKind).toInt() == static_cast<int>(DataChoice::Kind::File))
            forget(item->data(kPath).toString());
        return true;
    }
    return QWidget::eventFilter(watched, event);
}

}  // namespace relascope
