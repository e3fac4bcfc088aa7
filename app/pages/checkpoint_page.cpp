#include "app/pages/checkpoint_page.h"

#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QMenu>
#include <QMimeData>
#include <QPushButton>
#include <QStackedLayout>
#include <QStackedWidget>
#include <cmath>

#include "app/app_context.h"
#include "app/pages/evaluate_dialog.h"
#include "widgets/checkpoint/check_marks.h"
#include "widgets/checkpoint/config_view.h"
#include "widgets/checkpoint/histogram_view.h"
#include "widgets/checkpoint/outline_view.h"
#include "widgets/checkpoint/problems_list.h"
#include "widgets/checkpoint/tensor_table.h"
#include "widgets/checkpoint/verify_badge.h"
#include "widgets/data/statistics_view.h"
#include "widgets/export/export.h"
#include "widgets/inspector/relation_inspector.h"
#include "widgets/inspector/source_pane.h"
#include "widgets/source/input_chooser.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope {
namespace {

bool isPicture(const QString& path) {
    const QString ending = QFileInfo(path).suffix().toLower();
    return ending == QLatin1String("png") || ending == QLatin1String("jpg") ||
           ending == QLatin1String("jpeg");
}

QString percent(double share) {
    return std::isnan(share) ? QStringLiteral("no examples")
                             : QString::number(100.0 * share, 'f', 1) + QStringLiteral(" %");
}

/// "config.json, model.safetensors · 1.28 GiB"; many shards by their number.
QString filesText(const CheckpointInfo& info) {
    QStringList names;
    if (info.configFrom.find(".json") != std::string::npos)
        names << QString::fromStdString(info.configFrom);
    if (info.files.size() > 2)
        names << QStringLiteral("%1 files").arg(info.files.size());
    else
        for (const auto& file : info.files)
            if (const QString name = QFileInfo(QString::fromStdString(file)).fileName();
                !names.contains(name))
                names << name;
    return QStringLiteral("%1 \u00B7 %2 \u00B7 %3 parameters")
        .arg(names.join(QStringLiteral(", ")), byteSize(info.bytes),
             groupedNumber(info.parameters));
}

}  // namespace

void CheckpointPage::asking() {
    askFile = [this] {
        return QFileDialog::getOpenFileName(
            window(), QStringLiteral("Open a checkpoint"), QFileInfo(m_c.path()).path(),
            QStringLiteral("Checkpoints (*.safetensors *.pt *.pth *.ckpt *.bin config.json "
                           "*.index.json);;All files (*)"));
    };
    askFolder = [this] {
        return QFileDialog::getExistingDirectory(
            window(), QStringLiteral("Open a checkpoint folder"), QFileInfo(m_c.path()).path());
    };
    askPicture = [this] {
        return QFileDialog::getOpenFileName(window(), QStringLiteral("Inspect image"), {},
                                            QStringLiteral("Images (*.png *.jpg *.jpeg)"));
    };
    askConvert = [this](const QString& suggested) {
        QString filter;
        QString path = QFileDialog::getSaveFileName(
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
    askTokenizer = [this] {
        return QFileDialog::getOpenFileName(
            window(), QStringLiteral("Choose the tokenizer of this model"),
            QFileInfo(m_c.path()).path(),
            QStringLiteral("Tokenizers (tokenizer.json vocab.json);;All files (*)"));
    };
    askEvaluation = [this]() -> std::optional<EvaluationWish> {
        EvaluateDialog dialog(
            window(), m_c.isLanguage() ? EvaluateDialog::Data::Text : EvaluateDialog::Data::Images,
            !m_c.run().isEmpty());
        if (dialog.exec() != QDialog::Accepted) return std::nullopt;
        return dialog.wish();
    };
}

void CheckpointPage::openFile() {
    if (const QString path = askFile(); !path.isEmpty()) m_c.open(path);
}
void CheckpointPage::openFolder() {
    if (const QString path = askFolder(); !path.isEmpty()) m_c.open(path);
}

void CheckpointPage::wire() {
    using Strip = CheckpointController::Strip;
    connect(&m_c, &CheckpointController::began, this,
            [this](Strip which, const QString& words, const std::shared_ptr<LongJob>& job) {
                strip(which)->begin(words, job);
            });
    connect(&m_c, &CheckpointController::ended, this, [this](Strip which) { strip(which)->end(); });
    const std::pair<Strip, const char*> cancels[] = {
        {Strip::Task, "Cancelled; nothing was changed"},
        {Strip::Numbers, "Cancelled; select a tensor to read its values"},
        {Strip::Inspector, "Cancelled; press Inspect to load the weights"}};
    for (const auto& [which, words] : cancels)
        connect(strip(which), &JobStrip::cancelled, this, [this, which = which, words = words] {
            m_c.abandon(which);
            if (which == Strip::Task && m_badge->title() == QLatin1String("Verifying"))
                m_badge->setUnknown(true);
            m_messages.info(QString::fromLatin1(words));
        });
    connect(&m_c, &CheckpointController::opened, this, &CheckpointPage::opened);
    connect(&m_c, &CheckpointController::stateChanged, this, &CheckpointPage::refresh);
    connect(&m_c, &CheckpointController::failed, this, &CheckpointPage::fail);
    connect(&m_c, &CheckpointController::warned, &m_messages, &Messages::warning);
    // What works again needs no old error above it.
    const auto forgive = [this] { m_error->setSentence({}); };
    connect(&m_c, &CheckpointController::probed, this, forgive);
    connect(&m_c, &CheckpointController::verified, this, forgive);
    connect(&m_c, &CheckpointController::evaluated, this, forgive);
    connect(&m_c, &CheckpointController::converted, this, forgive);
    connect(&m_c, &CheckpointController::numbersFinished, this, &CheckpointPage::showProblems);
    connect(&m_c, &CheckpointController::statisticsReady, this,
            [this](const TensorStatistics& statistics) {
                m_table->setStatistics(statistics);
                if (QString::fromStdString(statistics.name) == m_table->chosen())
                    m_histogram->setStatistics(statistics);
                if (statistics.notFinite > 0) showProblems();
            });
    connect(&m_c, &CheckpointController::verified, this, [this](const VerifyReport& report) {
        m_badge->setReport(report);
        m_verify->setText(QStringLiteral("Verify again"));
        m_messages.say(report.ok ? MessageLevel::Ok : MessageLevel::Warning,
                       QStringLiteral("%1: %2").arg(m_badge->title(), m_badge->words()));
    });
    connect(&m_c, &CheckpointController::evaluated, this, &CheckpointPage::showEvaluation);
    connect(&m_c, &CheckpointController::converted, this,
            [this](const QString& path) { m_messages.ok(QStringLiteral("Wrote ") + path); });
    connect(m_empty, &EmptyState::activated, this, &CheckpointPage::openFile);
    connect(m_verify, &QPushButton::clicked, this, [this] {
        m_badge->setRunning();
        m_c.verify();
    });
    connect(m_evaluate, &QPushButton::clicked, this, [this] {
        if (const auto wish = askEvaluation()) m_c.evaluate(*wish);
    });
    connect(m_inspect, &QPushButton::clicked, &m_c, &CheckpointController::load);
    connect(m_table, &TensorTable::tensorChosen, this, &CheckpointPage::chooseTensor);
    connect(m_problems, &ProblemsList::subjectChosen, m_table, &TensorTable::choose);
    connect(m_outline, &OutlineView::prefixChosen, m_table, &TensorTable::setFilter);
    connect(m_tabs, &SegmentedControl::changed, m_views, &QStackedWidget::setCurrentIndex);
}

void CheckpointPage::wireInspector() {
    const auto wish = [this](InputWish::Kind kind) {
        InputWish w;
        w.kind = kind;
        return w;
    };
    connect(m_inspector, &RelationInspector::emptyStateActivated, &m_c,
            &CheckpointController::load);
    connect(m_inspector, &RelationInspector::referenceRequested, this, [this, wish](int index) {
        InputWish w = wish(InputWish::Kind::Reference);
        w.reference = index;
        m_c.probe(w);
    });
    connect(m_inspector, &RelationInspector::randomInputRequested, this,
            [this, wish](quint64 seed) {
                InputWish w = wish(InputWish::Kind::Random);
                w.seed = seed;
                m_c.probe(w);
            });
    connect(m_inspector, &RelationInspector::tokensEntered, this,
            [this, wish](const std::vector<qint64>& source, const std::vector<qint64>& target) {
                InputWish w = wish(InputWish::Kind::Tokens);
                w.source = source;
                w.target = target;
                m_c.probe(w);
            });
    connect(m_inspector, &RelationInspector::imageRequested, this, [this] {
        if (const QString path = askPicture(); !path.isEmpty()) openDropped(path);
    });
    connect(m_inspector, &RelationInspector::imageDropped, this, &CheckpointPage::openDropped);
    connect(m_inspector, &RelationInspector::exported, this,
            [this](const QString& path) { m_messages.ok(QStringLiteral("Wrote ") + path); });
    connect(m_inspector, &RelationInspector::exportFailed, this, &CheckpointPage::fail);
    connect(&m_c, &CheckpointController::probed, this, &CheckpointPage::showProbe);
    connect(&m_c, &CheckpointController::loadedChanged, this, [this] {
        if (m_c.loadedPath().isEmpty()) {
            m_inspector->setResult(nullptr);
            m_inspector->setSubText({});
        } else {
            m_inspector->setInputs(m_c.offer());
            m_inspector->setSubText(QFileInfo(m_c.loadedPath()).fileName());
            m_messages.ok(QStringLiteral("Loaded the weights of %1").arg(title()));
        }
        loadedText();
        refresh();
    });
}

void CheckpointPage::opened() {
    const CheckpointInfo& info = *m_c.info();
    m_error->setSentence({});
    m_stack->setCurrentIndex(1);
    m_title->setText(QString::fromStdString(info.name));
    setProperty(kFigureSubject, QString::fromStdString(info.name));
    m_inspector->setFigureRun(QString::fromStdString(info.name));
    m_title->setToolTip(plainTip(QString::fromStdString(info.path)));
    m_files->setText(filesText(info));
    m_badge->setUnknown(info.hasReference);
    m_verify->setText(QStringLiteral("Verify"));
    m_table->setTensors(info.tensors);
    m_histogram->clear();
    m_config->setConfig(QString::fromStdString(info.config));
    m_outline->setOutline(info.outline);
    m_evaluation->setRows({});
    m_evaluation->setClasses({});
    m_tabs->setItemEnabled(EvaluationTab, false, QStringLiteral("Press Evaluate first"));
    m_tabs->setItemEnabled(Outline, info.model.has_value(),
                           QStringLiteral("No configuration was found, so the model is unknown"));
    m_tabs->setCurrent(Configuration);
    m_views->setCurrentIndex(Configuration);
    showProblems();
    refresh();
    m_messages.info(QStringLiteral("Opened %1: %2, %3 tensors")
                        .arg(title(), QString::fromStdString(info.form),
                             groupedNumber(static_cast<qlonglong>(info.tensors.size()))));
}

void CheckpointPage::refresh() {
    const auto set = [](QPushButton* button, const QString& obstacle, const QString& help) {
        button->setEnabled(obstacle.isEmpty());
        button->setToolTip(obstacle.isEmpty() ? help : obstacle);
    };
    const QString load = m_c.loadObstacle();
    set(m_verify, m_c.verifyObstacle(),
        QStringLiteral("Recompute every stored output and compare"));
    set(m_evaluate, m_c.evaluateObstacle(),
        QStringLiteral("Compute loss and accuracy on a data set"));
    set(m_inspect,
        m_c.loaded() ? QStringLiteral("The weights are loaded; the inspector is on the right")
                     : load,
        QStringLiteral("Load the weights and inspect them"));
    m_inspect->setProperty("primary", m_c.info() && load.isEmpty() && !m_c.loaded());
    m_inspect->update();
    m_verify->setVisible(m_c.info() && m_c.info()->hasReference);
    m_evaluate->setVisible(m_c.info() && (!m_c.info()->model || m_c.isLanguage() ||
                                          m_c.info()->model->input() == InputKind::Images));
    refreshGenerate();
    if (load.isEmpty())
        m_inspector->setEmptyState(QStringLiteral("Load the weights to inspect the model."),
                                   QStringLiteral("Inspect"));
    else
        m_inspector->setEmptyState(load + u'.', {});
    const auto actions = m_menu->actions();
    for (QAction* action : actions)
        if (action->text().startsWith(QLatin1String("Choose tokenizer")))
            action->setEnabled(m_c.isLanguage() && m_c.loaded());
        else if (action->text().startsWith(QLatin1String("Convert")) ||
                 action->text().startsWith(QLatin1String("Show in")))
            action->setEnabled(m_c.info().has_value() &&
                               (!m_c.busy() || !action->text().startsWith(QLatin1String("Conv"))));
}

void CheckpointPage::showProblems() {
    if (!m_c.info()) return;
    const auto problems = m_c.problems();
    m_problems->setProblems(problems);
    m_table->marks()->setProblems(problems, m_c.numbersRead(), m_c.info()->model.has_value());
}

void CheckpointPage::chooseTensor(const QString& name) {
    m_tabs->setCurrent(Numbers);
    m_views->setCurrentIndex(Numbers);
    if (const TensorStatistics* known = m_table->statistics(name))
        return m_histogram->setStatistics(*known);
    m_histogram->setTensor(name, QStringLiteral("Reading the values."));
    m_c.chooseTensor(name);
}

void CheckpointPage::showProbe(const std::shared_ptr<const ProbeResult>& result,
                               const InputWish& wish) {
    m_lookedFirst = -1;
    m_inspector->setResult(result);
    if (!std::exchange(m_looked, true)) {
        // As in the papers: the sign shows even where one relation dwarfs the others.
        InspectorView view = m_inspector->view();
        view.processing = Processing::Tanh;
        m_inspector->setView(view);
    }
    auto* inputs = m_inspector->sourcePane()->inputs();
    if (wish.kind == InputWish::Kind::Reference) inputs->showReference(wish.reference);
    if (wish.kind == InputWish::Kind::Random) inputs->showRandom(wish.seed);
    inputs->showTokens(result->sample.source.tokens, result->sample.target.tokens);
    showNextTokens();
    refresh();
}

void CheckpointPage::showEvaluation(const Evaluation& evaluation, const QString& name) {
    std::vector<std::pair<QString, QString>> rows = {
        {QStringLiteral("Data"), name},
        {m_c.isLanguage() ? QStringLiteral("Windows") : QStringLiteral("Images"),
         groupedNumber(evaluation.examples)},
        {QStringLiteral("Loss"), QString::number(evaluation.loss, 'f', 4)},
        {m_c.isLanguage() ? QStringLiteral("Next-token accuracy") : QStringLiteral("Accuracy"),
         percent(evaluation.accuracy)}};
    const QString perplexity = perplexityText(std::exp(evaluation.loss));
    if (m_c.isLanguage()) rows.insert(rows.end() - 1, {QStringLiteral("Perplexity"), perplexity});
    for (std::size_t label = 0; label < evaluation.classAccuracy.size(); ++label)
        rows.emplace_back(QStringLiteral("Accuracy, class %1").arg(label),
                          percent(evaluation.classAccuracy[label]));
    m_evaluation->setRows(std::move(rows));
    m_tabs->setItemEnabled(EvaluationTab, true);
    m_tabs->setCurrent(EvaluationTab);
    m_views->setCurrentIndex(EvaluationTab);
    m_messages.ok(QStringLiteral("%1 on %2: loss %3, %4")
                      .arg(title(), name, QString::number(evaluation.loss, 'f', 3),
                           m_c.isLanguage()
                               ? QStringLiteral("perplexity ") + perplexity
                               : QStringLiteral("accuracy ") + percent(evaluation.accuracy)));
}

void CheckpointPage::convert() {
    const QFileInfo file(m_c.path());
    const bool archive = m_c.info() && m_c.info()->form == "PyTorch archive";
    const QString suggested = file.path() + u'/' + file.completeBaseName() +
                              (archive ? QStringLiteral(".safetensors") : QStringLiteral(".pt"));
    if (const QString out = askConvert(suggested); !out.isEmpty()) m_c.convert(out);
}

void CheckpointPage::fail(const QString& sentence) {
    if (m_badge->title() == QLatin1String("Verifying")) m_badge->setUnknown(true);
    m_error->setSentence(sentence);
    m_messages.error(sentence);
}

QString CheckpointPage::title() const {
    return m_title->text();
}
QString CheckpointPage::files() const {
    return m_files->text();
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
    if (m_c.loadedPath().isEmpty() || m_c.offer().kind != InputOffer::Kind::Images)
        return fail(
            QFileInfo(path).fileName() +
            QStringLiteral(
                ": an image can be inspected once the weights of an image model are loaded"));
    InputWish wish;
    wish.kind = InputWish::Kind::Picture;
    wish.picture = path;
    m_c.probe(wish);
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

void CheckpointPage::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_c.info()) refresh();
}

}  // namespace relascope
