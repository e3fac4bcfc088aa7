// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include <QCheckBox>
#include <QComboBox>
#include <QCompleter>
#include <QFileInfo>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QSpinBox>
#include <QVBoxLayout>

#include "app/controllers/job_queue.h"
#include "app/pages/new_study_dialog.h"
#include "app/pages/study_page.h"
#include "options/estimates.h"
#include "options/field_text.h"
#include "options/presets.h"
#include "study/study.h"
#include "types/run_options.h"
#include "widgets/form/field_form.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace relascope::app {

OptionRow::OptionRow(QCompleter* keys, bool several, QWidget* parent)
    : QWidget(parent),
      m_key(new QLineEdit(this)),
      m_values(new QLineEdit(this)),
      m_note(new widgets::FieldNote(this)) {
    auto* column = widgets::columnOf(this, {}, 2);
    auto* line = new QHBoxLayout;
    line->setSpacing(8);
    m_key->setCompleter(keys);
    m_key->setPlaceholderText(QStringLiteral("model.n_layers"));
    m_key->setFont(widgets::monoFont(12));
    m_key->setAccessibleName(several ? QStringLiteral("Option to sweep")
                                     : QStringLiteral("Option to set"));
    m_values->setPlaceholderText(several ? QStringLiteral("1, 2, 4") : QStringLiteral("2"));
    m_values->setFont(widgets::numberFont(12));
    m_values->setAccessibleName(several ? QStringLiteral("Values of the option")
                                        : QStringLiteral("Value of the option"));
    auto* remove = widgets::iconButton("close", QStringLiteral("Remove this option"), this);
    line->addWidget(m_key, 3);
    line->addWidget(m_values, 2);
    line->addWidget(remove);
    column->addLayout(line);
    column->addWidget(m_note);
    for (auto* field : {m_key, m_values})
        connect(field, &QLineEdit::textChanged, this, &OptionRow::edited);
    connect(remove, &QToolButton::clicked, this, &OptionRow::removed);
}

QString OptionRow::keyText() const {
    return m_key->text().trimmed();
}
void OptionRow::setProblem(const QString& sentence) {
    m_note->setProblem(sentence);
    for (auto* field : {m_key, m_values}) {
        field->setProperty("error", !sentence.isEmpty());
        field->update();
    }
}
QString OptionRow::problem() const {
    return m_note->isProblem() ? m_note->text() : QString();
}

OptionRows::OptionRows(const QString& button, bool several, QWidget* parent)
    : QWidget(parent), m_several(several), m_column(new QVBoxLayout) {
    QStringList keys;
    for (const auto& key : RunOptions::keys()) keys << QString::fromStdString(key);
    m_keys = new QCompleter(keys, this);
    m_keys->setFilterMode(Qt::MatchContains);
    m_keys->setCaseSensitivity(Qt::CaseInsensitive);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    for (auto* layout : {column, m_column}) layout->setSpacing(6);
    column->addLayout(m_column);
    auto* more = new QPushButton(widgets::icon("plus"), button, this);
    more->setProperty("compact", true);
    more->setAutoDefault(false);
    connect(more, &QPushButton::clicked, this, &OptionRows::add);
    column->addWidget(more, 0, Qt::AlignLeft);
}

OptionRow* OptionRows::add() {
    auto* row = new OptionRow(m_keys, m_several, this);
    m_rows.push_back(row);
    m_column->addWidget(row);
    connect(row, &OptionRow::edited, this, &OptionRows::edited);
    connect(row, &OptionRow::removed, this, [this, row] {
        std::erase(m_rows, row);
        row->hide();
        row->deleteLater();
        Q_EMIT removed();
    });
    row->key()->setFocus();
    Q_EMIT edited();
    return row;
}

OptionRow* OptionRows::find(const QString& key) const {
    const auto found = std::find_if(m_rows.begin(), m_rows.end(),
                                    [&](const auto* row) { return row->keyText() == key; });
    return found == m_rows.end() ? nullptr : *found;
}

/// The result of validating a plan.
struct NewStudyDialog::Verdict {
    StudyPlan plan;
    QString path;
    QString field, sentence;  ///< field and sentence of the first problem
    std::size_t runs = 0;
    double steps = 0.0;
    bool taken = false;  ///< there is a file or folder of that name
    QString freeName;    ///< the first one like the preset's that is not
};

namespace {

/// Counts runs and steps, or reports the error; slow for many runs.
void validatePlan(const StudyPlan& plan, QString* field, QString* sentence, std::size_t* runs,
                  double* steps) {
    try {
        const auto cells = core::studyCells(plan);
        *runs = cells.size();
        for (const auto& cell : cells)
            if (cell.seed == plan.seeds.front())
                *steps += static_cast<double>(core::totalSteps(core::cellOptions(plan, cell))) *
                          static_cast<double>(plan.seeds.size());
    } catch (const OptionError& error) {
        *field = QString::fromStdString(error.field());
        *sentence = QString::fromStdString(error.message());
    } catch (const std::exception& error) {
        *sentence = QString::fromStdString(userMessage(error));
    }
    if (!sentence->isEmpty()) (*sentence)[0] = sentence->at(0).toUpper();
}

QString freeName(const QString& folder, const QString& base) {
    for (int n = 1;; ++n) {
        const QString name = n == 1 ? base : QStringLiteral("%1-%2").arg(base).arg(n);
        if (!QFileInfo::exists(folder + u'/' + name)) return name;
    }
}

QString times(qsizetype count, const char* one, const char* many) {
    return QStringLiteral("%1 %2").arg(count).arg(QLatin1String(count == 1 ? one : many));
}

}  // namespace

NewStudyDialog::NewStudyDialog(const std::vector<std::pair<QString, QString>>& folders,
                               const QString& preset, int jobs, QWidget* parent)
    : QDialog(parent),
      m_preset(new QComboBox(this)),
      m_machine(new QComboBox(this)),
      m_models(new QListWidget(this)),
      m_sizes(new QLineEdit(this)),
      m_name(new QLineEdit(this)),
      m_seeds(new QSpinBox(this)),
      m_jobs(new QSpinBox(this)),
      m_sameData(new QCheckBox(QStringLiteral("Same data for all seeds"), this)),
      m_sweep(new OptionRows(QStringLiteral("Sweep an option"), true, this)),
      m_settings(new OptionRows(QStringLiteral("Set an option for all runs"), false, this)),
      m_note(new widgets::FieldNote(this)),
      m_summary(new QLabel(this)),
      m_create(new QPushButton(QStringLiteral("Create"), this)),
      m_start(new QPushButton(QStringLiteral("Create and start"), this)),
      m_queue(std::make_unique<JobQueue>()) {
    setWindowTitle(QStringLiteral("New study"));
    m_seeds->setRange(1, 1000);
    m_seeds->setValue(3);
    m_jobs->setRange(1, 256);
    m_jobs->setValue(jobs);
    for (const auto& [host, path] : folders)
        m_machine->addItem(host.isEmpty() ? QStringLiteral("this computer") : host, path);
    layOut();
    fillPresets(preset);

    m_soon.setSingleShot(true);
    m_soon.setInterval(120);
    connect(&m_soon, &QTimer::timeout, this, &NewStudyDialog::check);
    connect(m_preset, &QComboBox::currentIndexChanged, this, &NewStudyDialog::presetChosen);
    connect(m_machine, &QComboBox::currentIndexChanged, this, &NewStudyDialog::changed);
    connect(m_models, &QListWidget::itemChanged, this, &NewStudyDialog::changed);
    connect(m_sizes, &QLineEdit::textChanged, this, &NewStudyDialog::changed);
    connect(m_seeds, &QSpinBox::valueChanged, this, &NewStudyDialog::changed);
    connect(m_sameData, &QCheckBox::toggled, this, &NewStudyDialog::changed);
    connect(m_name, &QLineEdit::textChanged, this, &NewStudyDialog::changed);
    connect(m_name, &QLineEdit::textEdited, this, [this] { m_named = true; });
    for (auto* rows : {m_sweep, m_settings}) {
        connect(rows, &OptionRows::edited, this, &NewStudyDialog::changed);
        connect(rows, &OptionRows::removed, this, [this] {
            changed();
            // The dialog shrinks after the row was removed.
            QMetaObject::invokeMethod(
                this, [this] { resize(width(), minimumHeight()); }, Qt::QueuedConnection);
            widgets::growToFit(this);
        });
    }
    connect(m_create, &QPushButton::clicked, this, &QDialog::accept);
    connect(m_start, &QPushButton::clicked, this, [this] {
        m_startsAtOnce = true;
        accept();
    });
    presetChosen();
}

NewStudyDialog::~NewStudyDialog() = default;

void NewStudyDialog::showEvent(QShowEvent* event) {
    QDialog::showEvent(event);
    widgets::growToFit(this);  // Qt opens dialogs at two thirds of a screen at most
}

void NewStudyDialog::layOut() {
    auto* body = new widgets::DialogBody(this);
    auto* form = new widgets::FieldForm(body->inside());
    m_models->setFixedHeight(124);
    m_models->setAlternatingRowColors(false);
    for (auto* box : {m_seeds, m_jobs}) box->setFixedWidth(90);
    m_sameData->setAccessibleName(m_sameData->text());
    form->add(QStringLiteral("Experiment"), m_preset);
    m_modelsNote = form->add(QStringLiteral("Models"), m_models,
                             QStringLiteral("Each model is trained with every size and seed"));
    m_sizesNote =
        form->add(QStringLiteral("Training sizes"), m_sizes,
                  QStringLiteral("250, 500, 1000 or 250..2500 step 250; empty: as in the preset"));
    form->add(QStringLiteral("Seeds"), m_seeds,
              QStringLiteral("Number of repetitions with different random seeds: 0, 1, 2 and so "
                             "on"));
    form->add(QString(), m_sameData,
              QStringLiteral("If off, the seed of a run also determines its data"));
    form->add(QStringLiteral("Sweep"), m_sweep);
    form->add(QStringLiteral("Set"), m_settings);
    form->add(QStringLiteral("Machine"), m_machine,
              QStringLiteral("Where its runs are trained and its files are; paths in options are "
                             "those of that machine"));
    form->setShown(m_machine, m_machine->count() > 1);
    m_nameNote = form->add(QStringLiteral("Name"), m_name,
                           QStringLiteral("Name of its folder in %1").arg(folder()));
    form->add(QStringLiteral("Processes"), m_jobs,
              QStringLiteral("Number of runs trained in parallel"));

    m_summary->setFont(widgets::smallFont());
    m_summary->setWordWrap(true);
    auto* column = widgets::columnOf(this, {20, 16, 20, 16}, 14);
    body->inside()->setLayout(form);
    form->setContentsMargins(0, 0, 0, 0);
    column->addWidget(body, 1);
    column->addWidget(widgets::horizontalLine(this));
    column->addWidget(m_summary);
    column->addWidget(m_note);
    column->addLayout(widgets::dialogButtons(this, {m_create, m_start}));
    setMinimumWidth(540);
}

void NewStudyDialog::fillPresets(const QString& preset) {
    QString family;
    for (const auto& p : core::presets()) {
        const QString name = QString::fromStdString(p.name);
        const QString group = QString::fromStdString(p.family);
        if (std::exchange(family, group) != group && m_preset->count() > 0)
            m_preset->insertSeparator(m_preset->count());
        m_preset->addItem(QStringLiteral("%1: %2").arg(group, QString::fromStdString(p.title)),
                          name);
        m_preset->setItemData(m_preset->count() - 1, QString::fromStdString(p.help),
                              Qt::ToolTipRole);
    }
    m_preset->setCurrentIndex(std::max(0, m_preset->findData(preset)));
}

void NewStudyDialog::presetChosen() {
    const std::string preset = m_preset->currentData().toString().toStdString();
    const QSignalBlocker quiet(m_models);
    m_models->clear();
    for (const auto& info : core::presets()) {
        if (info.name != preset) continue;
        for (const auto& model : info.variants) {
            auto* item = new QListWidgetItem(QString::fromStdString(model), m_models);
            item->setFlags(Qt::ItemIsUserCheckable | Qt::ItemIsEnabled | Qt::ItemIsSelectable);
            item->setCheckState(m_models->count() <= 2 ? Qt::Checked : Qt::Unchecked);
            try {
                const auto options = core::presetOptions(preset, model);
                item->setToolTip(
                    QStringLiteral("%1\n%2, %3 parameters")
                        .arg(QString::fromStdString(info.helpOf(model)),
                             QString::fromStdString(core::modelText(options.model)),
                             widgets::groupedNumber(core::parameterCount(options.model))));
                if (m_models->count() == 1)
                    m_sizes->setPlaceholderText(
                        QStringLiteral("%1, as in the preset").arg(options.data.train_size));
            } catch (const Error&) {
                // Errors are shown below after validation.
            }
        }
    }
    if (!m_named) m_name->setText(m_preset->currentData().toString());
    changed();
}

StudyPlan NewStudyDialog::plan() const {
    StudyPlan plan;
    plan.preset = m_preset->currentData().toString().toStdString();
    for (int i = 0; i < m_models->count(); ++i)
        if (m_models->item(i)->checkState() == Qt::Checked)
            plan.models.push_back(m_models->item(i)->text().toStdString());
    plan.sizes = parseSizes(m_sizes->text(), nullptr);
    plan.seeds.clear();
    for (int seed = 0; seed < m_seeds->value(); ++seed) plan.seeds.push_back(seed);
    for (const auto* row : m_sweep->rows()) {
        if (row->keyText().isEmpty() && row->values()->text().trimmed().isEmpty()) continue;
        StudyAxis axis;
        axis.key = row->keyText().toStdString();
        for (const auto& value : parseValues(row->values()->text()))
            axis.values.push_back(value.toStdString());
        plan.vary.push_back(std::move(axis));
    }
    for (const auto* row : m_settings->rows())
        if (!row->keyText().isEmpty() || !row->values()->text().trimmed().isEmpty())
            plan.settings.emplace_back(row->keyText().toStdString(),
                                       row->values()->text().trimmed().toStdString());
    plan.sameData = m_sameData->isChecked();
    return plan;
}

QString NewStudyDialog::folder() const {
    return m_machine->currentData().toString();
}

QString NewStudyDialog::path() const {
    return folder() + u'/' + m_name->text().trimmed();
}
int NewStudyDialog::jobs() const {
    return m_jobs->value();
}

void NewStudyDialog::changed() {
    m_verdict.reset();
    judge();
    m_soon.start();
}

void NewStudyDialog::check() {
    const quint64 request = ++m_request;
    const auto work = [plan = plan(), path = path(), folder = folder()](std::stop_token) {
        auto verdict = std::make_shared<Verdict>();
        verdict->plan = plan;
        verdict->path = path;
        verdict->taken = QFileInfo::exists(path);
        verdict->freeName = freeName(folder, QString::fromStdString(plan.preset));
        validatePlan(plan, &verdict->field, &verdict->sentence, &verdict->runs, &verdict->steps);
        return std::shared_ptr<const Verdict>(std::move(verdict));
    };
    m_queue->clear();
    m_queue->post(this, work, [this, request](std::shared_ptr<const Verdict> verdict) {
        if (request != m_request || verdict->path != path() || !(verdict->plan == plan())) return;
        const bool proposed = !m_named && m_name->text() == m_preset->currentData().toString();
        if (verdict->taken && proposed) return m_name->setText(verdict->freeName);
        m_verdict = std::move(verdict);
        judge();
    });
}

/// Shows every message at its field, and enables or disables the buttons.
void NewStudyDialog::judge() {
    for (auto* note : {m_modelsNote, m_sizesNote, m_nameNote, m_note}) note->setProblem({});
    for (const auto* rows : {m_sweep, m_settings})
        for (auto* row : rows->rows()) row->setProblem({});
    QString sizes;
    parseSizes(m_sizes->text(), &sizes);
    m_sizesNote->setProblem(sizes);
    const QString name = m_name->text().trimmed();
    QString refused = nameProblem(name);
    if (refused.isEmpty() && m_verdict && m_verdict->taken)
        refused = QStringLiteral("%1 already exists; choose another name")
                      .arg(m_machine->currentIndex() > 0
                               ? name + QStringLiteral(" on ") + m_machine->currentText()
                               : path());
    m_nameNote->setProblem(refused);
    for (const auto& [field, note] : {std::pair{m_sizes, m_sizesNote}, {m_name, m_nameNote}}) {
        field->setProperty("error", note->isProblem());
        field->update();
    }
    if (m_verdict && !m_verdict->sentence.isEmpty())
        showProblem(m_verdict->field, m_verdict->sentence);
    const StudyPlan now = plan();
    QStringList factors{times(static_cast<qsizetype>(now.models.size()), "model", "models")};
    if (!now.sizes.empty())
        factors << times(static_cast<qsizetype>(now.sizes.size()), "size", "sizes");
    for (const auto& axis : now.vary)
        factors << QStringLiteral("%1 of %2")
                       .arg(axis.values.size())
                       .arg(QString::fromStdString(axis.key.substr(axis.key.rfind('.') + 1)));
    factors << times(static_cast<qsizetype>(now.seeds.size()), "seed", "seeds");
    QString text = factors.join(QStringLiteral(" \u00D7 "));
    if (m_verdict && m_verdict->runs > 0)
        text += QStringLiteral(" = %1 runs, %2 steps in total")
                    .arg(widgets::groupedNumber(static_cast<qlonglong>(m_verdict->runs)),
                         widgets::shortCount(static_cast<qlonglong>(m_verdict->steps)));
    m_summary->setText(text);
    const bool on = ready();
    const QStringList wrong = problems();
    for (auto* button : {m_create, m_start}) {
        button->setEnabled(on);
        button->setToolTip(on                ? QString()
                           : wrong.isEmpty() ? QStringLiteral("Checking the plan")
                                             : wrong.first());
    }
    widgets::growToFit(this);
}

void NewStudyDialog::showProblem(const QString& field, const QString& sentence) {
    if (field == QLatin1String("--models") || field == QLatin1String("preset"))
        return m_modelsNote->setProblem(sentence);
    for (const auto* rows : {m_sweep, m_settings})
        if (auto* row = field.isEmpty() ? nullptr : rows->find(field))
            return row->setProblem(sentence);
    if (field == QLatin1String("--vary"))
        for (auto* row : m_sweep->rows())
            if (parseValues(row->values()->text()).isEmpty())
                return row->setProblem(QStringLiteral("Enter the values, separated by commas"));
    if (field == QLatin1String("data.train_size")) return m_sizesNote->setProblem(sentence);
    // An option that is not listed here is invalid because of another one.
    m_note->setProblem(field.isEmpty() || field.startsWith(QLatin1String("--")) ||
                               field == QLatin1String("study")
                           ? sentence
                           : field + QStringLiteral(": ") + sentence);
}

bool NewStudyDialog::ready() const {
    return m_verdict && m_verdict->sentence.isEmpty() && problems().isEmpty();
}

QString NewStudyDialog::summary() const {
    return m_summary->text();
}

QStringList NewStudyDialog::problems() const {
    QStringList all;
    for (const auto* note : {m_modelsNote, m_sizesNote, m_nameNote, m_note})
        if (note->isProblem()) all << note->text();
    for (const auto* rows : {m_sweep, m_settings})
        for (const auto* row : rows->rows())
            if (!row->problem().isEmpty()) all << row->problem();
    return all;
}

}  // namespace relascope::app
