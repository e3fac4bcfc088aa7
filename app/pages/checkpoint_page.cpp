// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/checkpoint_page.h"
#include "app/controllers/hosts_controller.h"
#include "app/controllers/job_queue.h"

#include <QDir>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QMimeData>
#include <QPushButton>
#include <QSplitter>
#include <QStackedLayout>
#include <QStackedWidget>
#include <QVBoxLayout>

#include "app/app_context.h"
#include "app/opener.h"
#include "app/pages/checkpoint_details.h"
#include "app/pages/data_source.h"
#include "app/pages/evaluate_dialog.h"
#include "app/pages/far_file_dialog.h"
#include "app/pages/first_view.h"
#include "app/pages/hub_dialog.h"
#include "app/pages/served_dialog.h"
#include "app/pages/served_steps.h"
#include "checkpoint/adapter.h"
#include "run/run_folder.h"
#include "views/view_file.h"
#include "widgets/checkpoint/histogram_view.h"
#include "widgets/checkpoint/outline_view.h"
#include "widgets/checkpoint/problems_list.h"
#include "widgets/checkpoint/tensor_table.h"
#include "widgets/checkpoint/verify_badge.h"
#include "widgets/export/export.h"
#include "widgets/form/field_form.h"
#include "widgets/inspector/relation_inspector.h"
#include "widgets/inspector/source_pane.h"
#include "widgets/source/input_chooser.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::app {
namespace {

enum Side { Tensors, Generate };

}  // namespace

CheckpointPage::CheckpointPage(CheckpointController& controller, Messages& messages,
                               QWidget* parent)
    : QWidget(parent),
      m_c(controller),
      m_messages(messages),
      m_empty(new widgets::EmptyState(
          QStringLiteral("Open a checkpoint: a folder with config.json, a .safetensors file or a "
                         "PyTorch archive (.pt, .pth, .ckpt). You can also drop it here."),
          QStringLiteral("Open a checkpoint\u2026"), this)),
      m_head(new CheckpointHead(controller, this, this)),
      m_error(new ErrorStrip(this)),
      m_task(new JobStrip(this)),
      m_numbers(new JobStrip(this)),
      m_inspecting(new JobStrip(this)),
      m_table(new widgets::TensorTable(this)),
      m_problems(new widgets::ProblemsList(this)),
      m_details(new CheckpointDetails(this)),
      m_inspector(new widgets::RelationInspector(this)),
      m_text(new CheckpointText(controller, *m_inspector, this)),
      m_sideRow(new QWidget(this)),
      m_side(new widgets::SegmentedControl({QStringLiteral("Tensors"), QStringLiteral("Generate")},
                                           m_sideRow)),
      m_sides(new QStackedWidget(this)) {
    setAccessibleName(QStringLiteral("Checkpoint"));
    setAcceptDrops(true);
    layOut();
    setQuestions();
    describeViews();
    wire();
    wireInspector();
    refresh();
}

void CheckpointPage::layOut() {
    auto* all = new QWidget(this);
    auto* column = widgets::columnOf(all);
    column->addWidget(m_error);
    column->addWidget(m_task);
    auto* content = new QWidget(all);
    m_stack = new QStackedLayout(content);
    column->addWidget(content, 1);
    m_stack->addWidget(m_empty);

    auto* shown = new QWidget(content);
    auto* below = widgets::columnOf(shown);
    below->addWidget(m_head);
    below->addWidget(widgets::horizontalLine(shown));
    auto* split = new QSplitter(Qt::Horizontal, this);
    split->setHandleWidth(1);
    split->setChildrenCollapsible(false);
    m_left = makeLeft();
    split->addWidget(m_left);
    split->addWidget(makeRight());
    split->setStretchFactor(0, 48);
    split->setStretchFactor(1, 52);
    split->setSizes({560, 612});
    below->addWidget(split, 1);
    m_stack->addWidget(shown);
    widgets::columnOf(this)->addWidget(all);
    for (QWidget* part :
         std::initializer_list<QWidget*>{all, m_empty, m_task, m_numbers, m_inspecting})
        widgets::paintOnPanelColour(part);
}

/// The left side shows the tensors or the generated text, chosen by the switch above. The inspector
/// is at the right.
QWidget* CheckpointPage::makeLeft() {
    auto* tensors = new QWidget(this);
    auto* below = new QSplitter(Qt::Vertical, tensors);
    below->setHandleWidth(1);
    below->setChildrenCollapsible(false);
    below->addWidget(m_table);
    below->addWidget(m_details);
    below->setStretchFactor(0, 1);
    below->setSizes({430, 230});
    auto* lines = widgets::columnOf(tensors);
    lines->addWidget(m_problems);
    lines->addWidget(m_numbers);
    lines->addWidget(below, 1);

    auto* panel = new QWidget(this);
    m_side->setAccessibleName(QStringLiteral("Panel next to the inspector"));
    auto* row = new QHBoxLayout(m_sideRow);
    row->setContentsMargins(16, 6, 16, 6);
    row->addWidget(m_side);
    row->addStretch(1);
    m_sides->addWidget(tensors);
    m_sides->addWidget(m_text);
    auto* column = widgets::columnOf(panel);
    column->addWidget(m_sideRow);
    column->addWidget(widgets::horizontalLine(panel));
    column->addWidget(m_sides, 1);
    m_sideRow->hide();
    return panel;
}

QWidget* CheckpointPage::makeRight() {
    auto* panel = new QWidget(this);
    m_inspector->setCompact(true);
    auto* column = widgets::columnOf(panel);
    column->addWidget(m_inspecting);
    column->addWidget(m_inspector, 1);
    column->addWidget(new ServedSteps(m_c, panel));
    return panel;
}

QString CheckpointPage::chooseWeights(QWidget* parent, const QString& title, const QString& start) {
    return widgets::chooseFileOrFolder(
        parent, title, start, QString::fromLatin1(kFiles),
        QStringLiteral("The folder that is listed, with its config.json and weights"));
}

namespace {

/// The text of a run is known to the run alone: weights in one of its folders are those of a step.
std::optional<View> evaluationOf(wire::Asked asked) {
    if (asked.data) return std::nullopt;  // generated, which are no file
    auto& model = asked.subjects[0];
    if (!asked.option("data") && !core::isRunFolder(model.path)) {
        const QString step = QStringLiteral("step-");
        const QString folder = QFileInfo(placeOf(asked)).fileName();
        const auto run = core::runOfWeights(model.path);
        if (run.empty() || !folder.startsWith(step)) return std::nullopt;
        model.path = run;
        model.checkpoint = folder.mid(step.size()).toStdString();
    }
    return viewOf(asked);
}

}  // namespace

std::optional<View> CheckpointPage::describeFiles(const std::string& command,
                                                  const std::string& path) {
    auto view = viewOf(wire::Asked(Question{command, {{path, {}, {}, {}, {}, {}}}, {}}));
    // A file of a snapshot is less than the model that the hub knows.
    const QFileInfo file(QString::fromStdString(path));
    if (view && QFileInfo(file.path()).fileName() == QLatin1String("snapshots"))
        view->subjects[0].hub = core::hubSnapshotOf(path);
    return view;
}

void CheckpointPage::describeViews() {
    const auto info = [this] {
        return m_c.info() ? describeFiles("info", m_c.info()->path) : std::nullopt;
    };
    m_table->menu()->describe = m_problems->menu()->describe = info;
    m_details->menu(CheckpointDetails::Configuration)->describe = info;
    m_details->menu(CheckpointDetails::Outline)->describe = [info] {
        auto view = info();
        if (view) view->options.push_back({"outline", true});
        return view;
    };
    m_details->menu(CheckpointDetails::Evaluated)->describe = [this] {
        return m_c.evaluatedOn() ? evaluationOf(*m_c.evaluatedOn()) : std::nullopt;
    };
    m_details->histogram()->menu()->describe = [this, info] {
        const auto& shown = m_details->histogram()->statistics();
        auto view = shown ? info() : std::nullopt;
        if (view) view->options.push_back({"tensor", shown->name});
        return view;
    };
    m_head->badge()->describe = [this] {
        auto view = m_c.info() ? describeFiles("verify", m_c.info()->folder) : std::nullopt;
        if (view) view->subjects[0].hub.clear();  // the command takes folders alone
        return view;
    };
}

void CheckpointPage::setQuestions() {
    askFile = [this] {
        return chooseWeights(window(), QStringLiteral("Open a checkpoint"),
                             QFileInfo(m_c.path()).path());
    };
    askPicture = [this] {
        return QFileDialog::getOpenFileName(window(), QStringLiteral("Inspect image"), {},
                                            QStringLiteral("Images (*.png *.jpg *.jpeg)"));
    };
    askConvert = [this](const QString& suggested) {
        QString filter;
        QString path = widgets::chooseSaveFile(
            window(), QStringLiteral("Convert the checkpoint"), suggested,
            QStringLiteral(
                "safetensors (*.safetensors);;PyTorch (*.pt);;Folder with config.json (*)"),
            &filter);
        if (path.isEmpty() || !QFileInfo(path).suffix().isEmpty()) return path;
        if (filter.startsWith(QLatin1String("safetensors")))
            path += QStringLiteral(".safetensors");
        else if (filter.startsWith(QLatin1String("PyTorch")))
            path += QStringLiteral(".pt");
        return path;
    };
    askAdapter = [this] {
        return QFileDialog::getExistingDirectory(
            window(), QStringLiteral("Open with the adapter of a folder"),
            QFileInfo(m_c.path()).path());
    };
    askOnHost = [this](const QString& host) {
        const auto far = wire::farPathOf(m_c.path().toStdString());
        return FarFileDialog::choose(host, FarFileDialog::Choice::Either,
                                     far && QString::fromStdString(far->host) == host
                                         ? QFileInfo(QString::fromStdString(far->path)).path()
                                         : QString(),
                                     window());
    };
    askTokenizer = [this] {
        // The tokenizer is read on the machine of the weights.
        if (const auto far = wire::farPathOf(m_c.path().toStdString()))
            return FarFileDialog::choose(
                QString::fromStdString(far->host), FarFileDialog::Choice::Either,
                QFileInfo(QString::fromStdString(far->path)).path(), window());
        return QFileDialog::getOpenFileName(
            window(), QStringLiteral("Choose the tokenizer of this model"),
            QFileInfo(m_c.path()).path(),
            QStringLiteral("Tokenizers (tokenizer.json vocab.json);;All files (*)"));
    };
    askHead = [this] {
        return QFileDialog::getOpenFileName(
            window(), QStringLiteral("Choose texts or a head for the features of this model"),
            QFileInfo(m_c.path()).path(),
            QStringLiteral("Texts and heads (*.txt *.safetensors);;All files (*)"));
    };
    askEvaluation = [this]() -> std::optional<NamedEvaluation> {
        EvaluateDialog dialog(
            window(), m_c.isLanguage() ? EvaluateDialog::Data::Text : EvaluateDialog::Data::Images,
            !m_c.run().isEmpty());
        if (const QString host = HostsController::hostOf(m_c.path()); !host.isEmpty())
            dialog.askFile = [&dialog, host] {
                return FarFileDialog::choose(host, FarFileDialog::Choice::File, {}, &dialog);
            };
        if (dialog.exec() != QDialog::Accepted) return std::nullopt;
        return dialog.question();
    };
}

/// What is wrong with a file is said on this page.
void CheckpointPage::open(const QString& path) {
    Q_EMIT opening();
    m_c.open(path);
}

void CheckpointPage::openFile() {
    if (const QString path = askFile(); !path.isEmpty()) open(path);
}
void CheckpointPage::openOn(const QString& host) {
    if (const QString path = askOnHost(host); !path.isEmpty()) open(path);
}
void CheckpointPage::openFromHub() {
    HubDialog dialog(m_c.hub(), window());
    if (dialog.exec() != QDialog::Accepted) return;
    if (core::isRunFolder(dialog.path().toStdString()))
        Q_EMIT runChosen(dialog.path());  // all revisions of a model
    else
        open(dialog.path());
}
void CheckpointPage::openServed() {
    ServedDialog dialog(window());
    if (dialog.exec() == QDialog::Accepted) open(dialog.path());
}
void CheckpointPage::chooseHead() {
    if (const QString path = askHead(); !path.isEmpty()) m_c.chooseHead(path);
}
void CheckpointPage::chooseTokenizer() {
    if (const QString path = askTokenizer(); !path.isEmpty()) m_c.chooseTokenizer(path);
}

void CheckpointPage::wire() {
    auto& numbers = m_c.numbers();
    m_task->follow(m_c.task());
    m_numbers->follow(numbers.task());
    m_inspecting->follow(m_c.feed().task());
    const auto cancelled = [this](JobStrip* strip, const char* text) {
        connect(strip, &JobStrip::cancelled, this,
                [this, text] { m_messages.info(QString::fromLatin1(text)); });
    };
    cancelled(m_task, "Cancelled; nothing was changed");
    cancelled(m_numbers, "Cancelled; select a tensor to read its values");
    cancelled(m_inspecting, "Cancelled; press Inspect to load the weights");
    connect(m_task, &JobStrip::cancelled, m_head, &CheckpointHead::verifyEnded);
    connect(m_numbers, &JobStrip::cancelled, &numbers, &CheckpointNumbers::abandon);

    connect(&m_c, &CheckpointController::opened, this, &CheckpointPage::opened);
    connect(&m_c, &CheckpointController::stateChanged, this, &CheckpointPage::refresh);
    connect(&m_c, &CheckpointController::loadedChanged, this, &CheckpointPage::loadedChanged);
    connect(&m_c, &CheckpointController::failed, this, &CheckpointPage::fail);
    connect(&m_c, &CheckpointController::warned, &m_messages, &Messages::warning);
    // A success removes the error message.
    const auto forgive = [this] { m_error->setSentence({}); };
    connect(&m_c.feed(), &InspectorFeed::inspected, this, forgive);
    connect(&m_c, &CheckpointController::verified, this, forgive);
    connect(&m_c, &CheckpointController::evaluated, this, forgive);
    connect(&m_c, &CheckpointController::converted, this, forgive);
    connect(&numbers, &CheckpointNumbers::finished, this, &CheckpointPage::showProblems);
    connect(&numbers, &CheckpointNumbers::statisticsReady, this,
            [this](const TensorStatistics& statistics) {
                m_table->setStatistics(statistics);
                if (QString::fromStdString(statistics.name) == m_table->chosen())
                    m_details->histogram()->setStatistics(statistics);
                if (statistics.notFinite > 0) showProblems();
            });
    connect(&m_c, &CheckpointController::verified, this, [this](const VerifyReport& report) {
        const auto* badge = m_head->badge();
        m_messages.say(report.ok ? widgets::MessageLevel::Ok : widgets::MessageLevel::Warning,
                       QStringLiteral("%1: %2").arg(badge->title(), badge->text()));
    });
    connect(&m_c, &CheckpointController::evaluated, this,
            [this](const Evaluation& evaluation, const QString& data) {
                const auto of = m_c.isEncoder()    ? EvaluatedData::HiddenWords
                                : m_c.isLanguage() ? EvaluatedData::Text
                                                   : EvaluatedData::Images;
                m_details->setEvaluation(evaluation, data, of);
                m_messages.ok(
                    QStringLiteral("%1 on %2: %3")
                        .arg(title(), data, CheckpointDetails::evaluationText(evaluation, of)));
            });
    connect(&m_c, &CheckpointController::converted, this,
            [this](const QString& path) { m_messages.ok(QStringLiteral("Wrote ") + path); });
    connect(m_empty, &widgets::EmptyState::activated, this, &CheckpointPage::openFile);
    connect(m_head, &CheckpointHead::fileRequested, this, &CheckpointPage::openFile);
    m_head->hosts = [this] { return hosts(); };
    connect(m_head, &CheckpointHead::hostRequested, this, &CheckpointPage::openOn);
    connect(m_head, &CheckpointHead::hubRequested, this, &CheckpointPage::openFromHub);
    connect(m_head, &CheckpointHead::servedRequested, this, &CheckpointPage::openServed);
    connect(m_head, &CheckpointHead::headRequested, this, &CheckpointPage::chooseHead);
    connect(m_head, &CheckpointHead::tokenizerRequested, this, &CheckpointPage::chooseTokenizer);
    connect(m_head, &CheckpointHead::convertRequested, this, &CheckpointPage::convert);
    connect(m_head, &CheckpointHead::adapterRequested, this, &CheckpointPage::openWithAdapter);
    connect(m_head, &CheckpointHead::noFileManager, &m_messages, &Messages::warning);
    connect(m_head, &CheckpointHead::evaluationRequested, this, [this] {
        if (const auto wanted = askEvaluation()) m_c.evaluate(*wanted);
    });
    connect(m_table, &widgets::TensorTable::tensorChosen, this, &CheckpointPage::chooseTensor);
    connect(m_problems, &widgets::ProblemsList::subjectChosen, m_table,
            &widgets::TensorTable::choose);
    connect(m_details->outline(), &widgets::OutlineView::prefixChosen, m_table,
            &widgets::TensorTable::setFilter);
    connect(m_side, &widgets::SegmentedControl::changed, m_sides, &QStackedWidget::setCurrentIndex);
    connect(m_text->tokenizerButton(), &QPushButton::clicked, this,
            &CheckpointPage::chooseTokenizer);
    connect(m_text, &CheckpointText::exported, this,
            [this](const QString& path) { m_messages.ok(QStringLiteral("Wrote ") + path); });
    connect(m_text, &CheckpointText::failed, this, &CheckpointPage::fail);
}

void CheckpointPage::wireInspector() {
    m_inspector->setBackground(backgroundOn(*new JobQueue(this)));
    connect(m_inspector, &widgets::RelationInspector::emptyStateActivated, &m_c,
            &CheckpointController::load);
    connect(m_inspector->sourcePane()->inputs(), &widgets::InputChooser::chosen, this,
            [this](const std::vector<Option>& input) { m_c.feed().choose(inputAs(input)); });
    connect(m_inspector->sourcePane()->inputs(), &widgets::InputChooser::imageRequested, this,
            [this] {
                if (const QString path = askPicture(); !path.isEmpty()) openDropped(path);
            });
    connect(m_inspector, &widgets::RelationInspector::imageDropped, this,
            &CheckpointPage::openDropped);
    connect(m_inspector, &widgets::RelationInspector::exported, this,
            [this](const QString& path) { m_messages.ok(QStringLiteral("Wrote ") + path); });
    connect(m_inspector, &widgets::RelationInspector::exportFailed, this, &CheckpointPage::fail);
    connect(&m_c.feed(), &InspectorFeed::inspected, this, &CheckpointPage::showProbe);
    connect(m_inspector, &widgets::RelationInspector::viewChanged, this,
            [this](const widgets::InspectorView& view) { m_c.feed().setShownLayer(view.layer); });
}

void CheckpointPage::opened() {
    const CheckpointInfo& info = *m_c.info();
    m_error->setSentence({});
    m_stack->setCurrentIndex(1);
    setProperty(widgets::kFigureSubject, QString::fromStdString(info.name));
    m_inspector->setFigureRun(QString::fromStdString(info.name),
                              !core::runOfWeights(m_c.path().toStdString()).empty());
    m_head->opened();
    m_table->setTensors(info.tensors);
    m_details->setCheckpoint(info);
    showProblems();
    showSide(Tensors);
    refresh();
    m_left->setVisible(!m_c.isServed());  // the tensors of a served model stay where they are
    if (m_c.isServed()) {
        m_messages.info(
            QStringLiteral("Opened %1, %2").arg(title(), QString::fromStdString(info.form)));
        return m_c.load();  // nothing is read that would take time
    }
    m_messages.info(QStringLiteral("Opened %1: %2, %3 tensors")
                        .arg(title(), QString::fromStdString(info.form),
                             widgets::groupedNumber(static_cast<qlonglong>(info.tensors.size()))));
}

void CheckpointPage::showSide(int side) {
    m_side->setCurrent(side);
    m_sides->setCurrentIndex(side);
}

void CheckpointPage::refresh() {
    m_head->refresh();
    m_sideRow->setVisible(m_c.isLanguage());
    if (!m_c.isLanguage()) m_sides->setCurrentIndex(Tensors);
    m_text->refresh();
    const QString load = m_c.loadDisabledReason();
    if (load.isEmpty())
        m_inspector->setEmptyState(QStringLiteral("Load the weights to inspect the model."),
                                   QStringLiteral("Inspect"));
    else
        m_inspector->setEmptyState(load + u'.', {});
}

void CheckpointPage::loadedChanged() {
    const QString path = m_c.feed().path();
    if (path.isEmpty()) {
        m_viewChosen = false;
        m_inspector->setResult(nullptr);
        m_inspector->setSubText({});
    } else {
        m_inspector->sourcePane()->setInputs(m_c.feed().offer());
        m_inspector->setSubText(checkpointTitles({path}).front());
        m_messages.ok(QStringLiteral("Loaded the weights of %1").arg(title()));
    }
    m_text->loaded();
    if (m_c.loaded() && m_c.isLanguage()) showSide(Generate);
    refresh();
}

void CheckpointPage::showProblems() {
    if (!m_c.info()) return;
    const auto problems = m_c.problems();
    m_problems->setProblems(problems);
    m_table->marks()->setProblems(problems, m_c.numbers().complete(),
                                  m_c.info()->model.has_value());
}

void CheckpointPage::chooseTensor(const QString& name) {
    m_details->showTab(CheckpointDetails::Values);
    if (const TensorStatistics* known = m_table->statistics(name))
        return m_details->histogram()->setStatistics(*known);
    m_details->histogram()->setTensor(name, QStringLiteral("Reading the values."));
    m_c.numbers().chooseTensor(name);
}

void CheckpointPage::showProbe(const widgets::Inspected& inspected) {
    const auto& result = inspected.result;
    m_text->leave();
    m_inspector->setInspected(inspected);
    // The first view of objects depends on the maps, which may follow.
    const bool viewable =
        !result->partial || isOneText(result->sample) || result->grid.tokens() > 0;
    if (viewable && !std::exchange(m_viewChosen, true)) m_inspector->setView(firstView(*result));
    auto* inputs = m_inspector->sourcePane()->inputs();
    inputs->showInput(m_c.feed().shown(), result->sample);
    m_text->showNextTokens();
    if (const auto step = m_c.shownCheckpoint(); !step.empty())
        m_inspector->setSubText(QStringLiteral("%1, step %2").arg(title(), step.c_str()));
    else if (m_c.isServed())
        m_inspector->setSubText(title());
    refresh();
}

void CheckpointPage::convert() {
    const QFileInfo file(m_c.path());
    const bool archive = m_c.info() && m_c.info()->form == "PyTorch archive";
    const QString suggested = file.path() + u'/' + file.completeBaseName() +
                              (archive ? QStringLiteral(".safetensors") : QStringLiteral(".pt"));
    if (const QString out = askConvert(suggested); !out.isEmpty()) m_c.convert(out);
}

void CheckpointPage::openWithAdapter() {
    const QString adapter = askAdapter();
    if (adapter.isEmpty()) return;
    try {
        m_c.open(QString::fromStdString(
            core::adaptedFolder(m_c.path().toStdString(), adapter.toStdString())));
    } catch (const Error& error) {
        fail(QString::fromStdString(error.what()));
    }
}

void CheckpointPage::fail(const QString& sentence) {
    m_head->verifyEnded();
    m_error->setSentence(sentence);
    m_messages.note(sentence);
}

QString CheckpointPage::title() const {
    return m_head->title();
}
QString CheckpointPage::errorSentence() const {
    return m_error->sentence();
}

void CheckpointPage::openDropped(const QString& path) {
    static const QStringList texts = {"txt", "text", "md"};
    if (texts.contains(QFileInfo(path).suffix().toLower())) {
        if (!takeText(path))
            fail(QFileInfo(path).fileName() +
                 QStringLiteral(
                     ": a text can be inspected once the weights of a language model are loaded"));
        return;
    }
    if (!isPicture(path)) return m_c.open(path);
    if (m_c.feed().path().isEmpty() || m_c.feed().offer().kind != widgets::InputOffer::Kind::Images)
        return fail(
            QFileInfo(path).fileName() +
            QStringLiteral(
                ": an image can be inspected once the weights of an image model are loaded"));
    m_c.feed().choose(inputAs({{"image", path.toStdString()}}));
}

void CheckpointPage::dragEnterEvent(QDragEnterEvent* event) {
    for (const QUrl& url : event->mimeData()->urls())
        if (url.isLocalFile()) return event->acceptProposedAction();
}
void CheckpointPage::dropEvent(QDropEvent* event) {
    for (const QUrl& url : event->mimeData()->urls()) {
        if (!url.isLocalFile()) continue;
        event->acceptProposedAction();
        return openDropped(url.toLocalFile());
    }
}

bool CheckpointPage::takeText(const QString& path) {
    if (m_c.feed().path().isEmpty() || m_c.feed().offer().kind != widgets::InputOffer::Kind::Text)
        return false;
    m_c.feed().chooseTextFile(path);
    return true;
}

QPushButton* CheckpointPage::openButton() const {
    return m_empty->button();
}

void CheckpointPage::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_c.info()) refresh();
}

}  // namespace relascope::app
