// SPDX-License-Identifier: GPL-3.0-or-later
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
#include <algorithm>

#include "app/controllers/examples.h"
#include "datasets/dataset_list.h"
#include "options/import_data.h"
#include "options/shown_data.h"
#include "types/data_kind.h"
#include "widgets/form/options_form.h"
#include "widgets/lists/sidebar.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace relascope::app {
namespace {

constexpr int kChoice = Qt::UserRole, kHead = Qt::UserRole + 1;
constexpr std::size_t kRememberedFiles = 8;
const char* const kFilesKey = "data/files";
/// Lines as in the sidebar, with headings.
class ChooserDelegate : public widgets::LineDelegate {
public:
    using widgets::LineDelegate::LineDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        const bool head = index.data(kHead).toBool();
        if (!head && index.flags() & Qt::ItemIsSelectable)
            return widgets::LineDelegate::paint(painter, option, index);
        const auto& t = widgets::Theme::current();
        painter->save();
        painter->setFont(head ? widgets::headFont() : widgets::smallFont());
        painter->setPen(head ? t.text : t.muted);
        painter->drawText(option.rect.adjusted(12, head ? 6 : 0, -12, 0), Qt::AlignVCenter,
                          index.data().toString());
        painter->restore();
    }
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        return index.data(kHead).toBool() ? QSize(100, 34)
                                          : widgets::LineDelegate::sizeHint(option, index);
    }
};

/// The path of a line of imported data; empty for others.
QString fileOf(const QListWidgetItem* item) {
    const auto choice = item ? item->data(kChoice).value<DataChoice>() : DataChoice();
    return choice.kind == DataChoice::Kind::File ? choice.path : QString();
}

// A line of the settings: the path alone for files of the first form (for compatibility), otherwise
// with form and task.
QString settingOf(const DataChoice& choice) {
    const std::string id = core::importIdOf(choice.options);
    if (id == dataImports().front().form->id) return choice.path;
    return QStringList{QString::fromStdString(id), QString::fromStdString(choice.options.task),
                       choice.path}
        .join(u'\t');
}
DataChoice choiceOfSetting(const QString& setting) {
    const QStringList parts = setting.split(u'\t');
    const QString path = parts.last();
    DataChoice choice;
    choice.kind = DataChoice::Kind::File;
    choice.path = path;
    choice.name = QFileInfo(path).fileName();
    choice.options = core::importOptions(
        parts.size() == 3 ? parts[0].toStdString() : dataImports().front().form->id,
        parts.size() == 3 ? parts[1].toStdString() : "", path.toStdString());
    return choice;
}

}  // namespace

DataChooser::DataChooser(QWidget* parent)
    : QWidget(parent),
      m_list(new QListWidget(this)),
      m_form(new widgets::OptionsForm(this)),
      m_import(new QPushButton(widgets::icon("import"), QString::fromUtf8("Import\u2026"), this)) {
    setAccessibleName(QStringLiteral("Datasets"));
    m_import->setProperty("compact", true);
    m_import->setToolTip(QStringLiteral(
        "Read images, questions or texts from files; files can also be dropped onto the page"));
    auto* head = new widgets::PanelHead(QStringLiteral("Dataset"), this);
    head->addControl(m_import);
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setItemDelegate(new ChooserDelegate(m_list));
    m_list->setAccessibleName(QStringLiteral("Available datasets"));
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_list->setContextMenuPolicy(Qt::CustomContextMenu);
    m_list->installEventFilter(this);
    auto* column = widgets::columnOf(this);
    column->addWidget(head);
    column->addWidget(m_list, 1);
    column->addWidget(widgets::horizontalLine(this));
    column->addWidget(m_form, 1);

    // The form is below the list here, so it cannot be collapsed to the side.
    for (QToolButton* button : m_form->findChildren<QToolButton*>())
        if (button->accessibleName() == QLatin1String("Collapse the options")) button->hide();
    for (const QString& setting : QSettings().value(QLatin1String(kFilesKey)).toStringList()) {
        try {
            m_files.push_back(choiceOfSetting(setting));
        } catch (const OptionError&) {  // a format of a later version
        }
    }
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
    connect(m_form, &widgets::OptionsForm::valueChanged, this,
            [this](const QString& key, const FieldValue& value) {
                if (m_current.kind != DataChoice::Kind::Generated) return;
                const std::string name = key.section(u'.', 1).toStdString();
                auto& options = optionsOf(m_current.options.kind, m_current.options.task);
                if (name == "pass") m_epoch = std::get<std::int64_t>(value);
                for (const auto& field : DataOptions::fieldTable())
                    if (field.spec.name == name) field.set(options, value);
                showForm();
                if (!options.problems().empty()) return;
                m_current.options = options;
                m_current.epoch = m_epoch;
                Q_EMIT chosen(m_current);
            });
}

DataOptions& DataChooser::optionsOf(const std::string& kind, const std::string& task) {
    const std::string key = dataKind(kind).tasksAlike ? kind : kind + '/' + task;
    const auto found = m_options.try_emplace(key, core::usualData(kind, task)).first;
    found->second.task = task;
    return found->second;
}

QListWidgetItem* DataChooser::addHead(const QString& title) {
    auto* item = new QListWidgetItem(title, m_list);
    item->setFlags(Qt::NoItemFlags);
    item->setData(kHead, true);
    return item;
}

QListWidgetItem* DataChooser::addLine(const DataChoice& choice, const QString& note) {
    auto* item = new QListWidgetItem(choice.name, m_list);
    item->setData(kChoice, QVariant::fromValue(choice));
    item->setData(widgets::LineDelegate::Note, note);
    if (choice.kind != DataChoice::Kind::Generated)
        item->setToolTip(widgets::plainTip(choice.path));
    return item;
}

void DataChooser::fill() {
    const QSignalBlocker quiet(m_list);
    m_list->clear();
    QString family;
    for (const auto& entry : datasets::listDatasets()) {
        const auto& kind = dataKind(entry.kind);
        if (const QString here = QString::fromStdString(kind.family); here != family) {
            family = here;
            addHead(family);
        }
        DataChoice choice;
        choice.options.kind = entry.kind;
        choice.options.task = entry.name;
        choice.name = QString::fromStdString(entry.title);
        addLine(choice, kind.generated ? QStringLiteral("generated") : QStringLiteral("files"))
            ->setToolTip(QString::fromStdString(entry.help));
    }
    if (!m_run.isEmpty()) {
        addHead(QStringLiteral("Run"));
        addLine({DataChoice::Kind::Run, {}, 0, m_run, m_runName}, QStringLiteral("its splits"));
    }
    addHead(QStringLiteral("Imported"));
    for (const DataChoice& file : m_files) {
        const auto* form = importFormOf(file.options);
        addLine(file, form ? QString::fromStdString(form->note) : QString());
    }
    if (m_files.empty()) {
        auto* none = new QListWidgetItem(QStringLiteral("Drop a file or folder here"), m_list);
        none->setFlags(Qt::NoItemFlags);
    }
    mark();
}

void DataChooser::mark() {
    const QSignalBlocker quiet(m_list);
    m_list->setCurrentItem(nullptr);
    for (int i = 0; i < m_list->count(); ++i) {
        QListWidgetItem* item = m_list->item(i);
        if (!(item->flags() & Qt::ItemIsSelectable) || m_current.name.isEmpty()) continue;
        const auto here = item->data(kChoice).value<DataChoice>();
        const bool same = here.kind == DataChoice::Kind::Generated
                              ? here.options.kind == m_current.options.kind &&
                                    here.options.task == m_current.options.task
                              : here.path == m_current.path;
        if (here.kind == m_current.kind && same) m_list->setCurrentItem(item);
    }
}

DataChoice DataChooser::choiceOf(const QListWidgetItem* item) {
    auto choice = item->data(kChoice).value<DataChoice>();
    if (choice.kind == DataChoice::Kind::Generated) {
        choice.options = optionsOf(choice.options.kind, choice.options.task);
        choice.epoch = m_epoch;
    }
    return choice;
}

void DataChooser::setCurrent(const DataChoice& choice) {
    m_current = choice;
    if (choice.kind == DataChoice::Kind::Generated && !choice.name.isEmpty()) {
        optionsOf(choice.options.kind, choice.options.task) = choice.options;
        m_epoch = choice.epoch;
    }
    mark();
    showForm();
}

void DataChooser::showForm() {
    const bool generated = m_current.kind == DataChoice::Kind::Generated;
    m_form->setVisible(generated);
    if (!generated) return;
    const DataOptions& options = optionsOf(m_current.options.kind, m_current.options.task);
    const DataOptions usual = core::usualData(options.kind, options.task);
    const QString several = exampleWord(options, true);
    std::vector<FieldState> states;
    for (const std::string& name : core::dataFields(options)) {
        const auto field =
            std::find_if(DataOptions::fieldTable().begin(), DataOptions::fieldTable().end(),
                         [&](const auto& f) { return f.spec.name == name; });
        FieldState state{"data." + name, field->spec, field->get(options), field->get(usual), true};
        if (name == "family")
            state.spec.label = "Family",
            state.spec.help =
                "Shape family used for training and validation; every family has a test split.";
        if (name == "train_size") {
            state.spec.label =
                several.left(1).toUpper().toStdString() + several.mid(1).toStdString();
            state.spec.help =
                several.toStdString() +
                " in the training split; with streaming, per epoch. 0 means all available.";
            state.spec.help[0] = state.spec.label[0];
        }
        // Nothing trains on this page: every field takes effect at once.
        state.spec.live = true;
        state.spec.advanced = false;
        states.push_back(std::move(state));
    }
    if (options.streaming || options.augment != "none") {
        FieldSpec epoch{"pass",
                        "Epoch",
                        "Epoch of training whose examples are shown; each epoch has new images.",
                        FieldKind::Integer,
                        0,
                        1e9};
        epoch.live = true;
        states.push_back(
            {"data.pass", epoch, FieldValue(m_epoch), FieldValue(std::int64_t{0}), true});
    }
    m_form->setStates(states);
    std::vector<FieldProblem> problems;
    for (const auto& problem : options.problems())
        problems.push_back({"data." + problem.field, problem.message});
    m_form->setProblems(problems);
}

void DataChooser::setRun(const QString& path, const QString& name) {
    if (path == m_run && name == m_runName) return;
    // The run that is shown stays in the list until another choice is made.
    if (path.isEmpty() && m_current.kind == DataChoice::Kind::Run) return;
    m_run = path;
    m_runName = name;
    fill();
}

QStringList DataChooser::files() const {
    QStringList paths;
    for (const DataChoice& file : m_files) paths << file.path;
    return paths;
}

void DataChooser::remember(const DataChoice& choice) {
    std::erase_if(m_files, [&](const DataChoice& file) { return file.path == choice.path; });
    m_files.insert(m_files.begin(), choice);
    if (m_files.size() > kRememberedFiles) m_files.resize(kRememberedFiles);
    keepFiles();
}

void DataChooser::forget(const QString& path) {
    if (std::erase_if(m_files, [&](const DataChoice& file) { return file.path == path; }) == 0)
        return;
    keepFiles();
}

void DataChooser::keepFiles() {
    QStringList settings;
    for (const DataChoice& file : m_files) settings << settingOf(file);
    QSettings().setValue(QLatin1String(kFilesKey), settings);
    fill();
}

void DataChooser::itemMenu(const QPoint& at) {
    const QString path = fileOf(m_list->itemAt(at));
    if (path.isEmpty()) return;
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    connect(menu->addAction(QStringLiteral("Remove from this list")), &QAction::triggered, this,
            [this, path] { forget(path); });
    menu->popup(m_list->viewport()->mapToGlobal(at));
}

bool DataChooser::eventFilter(QObject* watched, QEvent* event) {
    if (watched == m_list && event->type() == QEvent::KeyPress &&
        static_cast<QKeyEvent*>(event)->key() == Qt::Key_Delete) {
        forget(fileOf(m_list->currentItem()));
        return true;
    }
    return QWidget::eventFilter(watched, event);
}

}  // namespace relascope::app
