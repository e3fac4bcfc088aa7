// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>

#include <QDesktopServices>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QRegularExpression>
#include <QScrollArea>
#include <QStackedWidget>
#include <QUrl>
#include <QVBoxLayout>

#include "app/controllers/checkpoint_controller.h"
#include "app/controllers/edited_probe.h"
#include "app/controllers/inspector_feed.h"
#include "app/controllers/typed_text.h"
#include "app/pages/checkpoint_details.h"
#include "model/served/served_options.h"
#include "widgets/checkpoint/config_view.h"
#include "widgets/checkpoint/histogram_view.h"
#include "widgets/checkpoint/outline_view.h"
#include "widgets/checkpoint/verify_badge.h"
#include "widgets/data/statistics_view.h"
#include "widgets/export/export.h"
#include "widgets/generate/generate_panel.h"
#include "widgets/generate/generated_text.h"
#include "widgets/inspector/relation_inspector.h"
#include "widgets/inspector/source_pane.h"
#include "widgets/source/text_input.h"
#include "widgets/source/text_outcome.h"
#include "widgets/text/run_text.h"
#include "widgets/text/text_flow.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"
#include "wire/host.h"

namespace relascope::app {

void showNextTokens(widgets::TextOutcome& outcome, const ProbeResult& result,
                    const ProbeResult* other, bool hidden) {
    const auto& words = result.sample.source.labels;
    const auto choices = nextTokens(result, other);
    if (hidden) {
        const auto masked = std::count_if(words.begin(), words.end(), [](const std::string& word) {
            return word.ends_with("[MASK]") || word.ends_with("<mask>");
        });
        return outcome.setNextTokens(
            masked == 0
                ? QStringLiteral("Last token: the word itself is seen; put [MASK] into the text")
            : masked == 1
                ? QStringLiteral("Hidden word")
                : QStringLiteral("The first of %1 hidden words; Lens shows all").arg(masked),
            choices, nextTokensBefore(choices, other));
    }
    outcome.setNextTokens(words.empty() ? QStringLiteral("Next token")
                                        : QStringLiteral("Next token after \u201C%1\u201D")
                                              .arg(widgets::pieceLabel(words.back())),
                          choices, nextTokensBefore(choices, other));
}
namespace {

constexpr qsizetype kMostNotes = 12;

/// "config.json, model.safetensors · 1.28 GiB"; many shards are counted.
QString filesText(const CheckpointInfo& info) {
    if (info.model && core::isServed(*info.model))
        return QStringLiteral("%1 \u00B7 %2 \u00B7 %3 parameters")
            .arg(QString::fromStdString(info.title), QString::fromStdString(info.form),
                 widgets::groupedNumber(info.parameters));
    QStringList names;
    QString where;
    if (const auto far = wire::farPathOf(info.path))
        where = QString::fromStdString(far->host) + QStringLiteral(" \u00B7 ");
    if (info.configFrom.find(".json") != std::string::npos)
        names << QString::fromStdString(info.configFrom);
    if (info.files.size() > 2)
        names << QStringLiteral("%1 files").arg(info.files.size());
    else
        for (const auto& file : info.files)
            if (const QString name = QFileInfo(QString::fromStdString(file)).fileName();
                !names.contains(name))
                names << name;
    if (info.model && info.title != info.model->architecture())
        where =
            QString::fromStdString(info.title) +
            (info.form.ends_with("adapter") ? QStringLiteral(" with a LoRA adapter") : QString()) +
            QStringLiteral(" \u00B7 ") + where;
    const QString text = QStringLiteral("%1 \u00B7 %2 \u00B7 %3 parameters")
                             .arg(names.join(QStringLiteral(", ")), widgets::byteSize(info.bytes),
                                  widgets::groupedNumber(info.parameters));
    if (info.leftOut.empty()) return where + text;
    return where + text + QStringLiteral(" \u00B7 %1 left out").arg(info.leftOut.size());
}

}  // namespace

CheckpointHead::CheckpointHead(CheckpointController& controller, QWidget* figure, QWidget* parent)
    : QWidget(parent),
      m_c(controller),
      m_title(new QLabel(this)),
      m_files(new widgets::ElidedLabel({}, this)),
      m_badge(new widgets::VerifyBadge(this)),
      m_verify(new QPushButton(widgets::icon("restart"), QStringLiteral("Verify"), this)),
      m_evaluate(new QPushButton(widgets::icon("target"), QStringLiteral("Evaluate"), this)),
      m_inspect(new QPushButton(widgets::icon("eye"), QStringLiteral("Inspect"), this)) {
    setFixedHeight(64);
    m_title->setFont(widgets::titleFont());
    m_title->setTextFormat(Qt::PlainText);
    m_files->setFont(widgets::smallFont());
    m_files->setForegroundRole(QPalette::PlaceholderText);
    auto* more =
        widgets::iconButton("more", QStringLiteral("Checkpoint: open, convert, copy"), this);
    m_menu = (new widgets::ViewMenu(more, figure, [this] { return title(); }))->menu();
    fillMenu();
    auto* names = new QVBoxLayout;
    names->setSpacing(0);
    names->addStretch(1);
    names->addWidget(m_title);
    names->addWidget(m_files);
    names->addStretch(1);
    auto* row = widgets::rowOf(this, {16, 0, 12, 0}, 8);
    row->addLayout(names, 4);
    row->addSpacing(8);
    row->addWidget(m_badge, 3);
    for (QWidget* w : std::initializer_list<QWidget*>{m_verify, m_evaluate, m_inspect, more})
        row->addWidget(w);
    connect(m_verify, &QPushButton::clicked, this, [this] {
        m_badge->setRunning();
        m_c.verify();
    });
    connect(m_evaluate, &QPushButton::clicked, this, &CheckpointHead::evaluationRequested);
    connect(m_inspect, &QPushButton::clicked, &m_c, &CheckpointController::load);
    connect(&m_c, &CheckpointController::verified, this, [this](const VerifyReport& report) {
        m_badge->setReport(report);
        m_verify->setText(QStringLiteral("Verify again"));
    });
}

void CheckpointHead::fillMenu() {
    m_menu->setToolTipsVisible(true);
    m_menu->addSeparator();
    m_menu->addAction(QStringLiteral("Open a file or folder\u2026"), this,
                      &CheckpointHead::fileRequested);
    m_menu->addAction(QStringLiteral("Open from hub\u2026"), this, &CheckpointHead::hubRequested);
    m_menu->addAction(QStringLiteral("Open served model\u2026"), this,
                      &CheckpointHead::servedRequested);
    connect(m_menu, &QMenu::aboutToShow, this, [this] {
        qDeleteAll(m_onHosts);
        m_onHosts.clear();
        for (const QString& host : hosts()) {
            auto* open = new QAction(QStringLiteral("Open on %1\u2026").arg(host), m_menu);
            connect(open, &QAction::triggered, this, [this, host] { Q_EMIT hostRequested(host); });
            m_menu->insertAction(m_tokenizer, open);
            m_onHosts << open;
        }
    });
    m_tokenizer = m_menu->addAction(QStringLiteral("Choose tokenizer\u2026"), this,
                                    &CheckpointHead::tokenizerRequested);
    m_tokenizer->setToolTip(QStringLiteral("A tokenizer.json, a vocab.json or a folder with one"));
    m_givenHead = m_menu->addAction(QStringLiteral("Choose texts or head\u2026"), this,
                                    &CheckpointHead::headRequested);
    m_adapter = m_menu->addAction(QStringLiteral("Open with adapter\u2026"), this,
                                  &CheckpointHead::adapterRequested);
    m_convert =
        m_menu->addAction(QStringLiteral("Convert\u2026"), this, &CheckpointHead::convertRequested);
    m_show = m_menu->addAction(QStringLiteral("Show in the file manager"), this,
                               &CheckpointHead::showFolder);
}

void CheckpointHead::showFolder() {
    const QString folder = QString::fromStdString(m_c.info()->folder);
    if (!QDesktopServices::openUrl(QUrl::fromLocalFile(folder)))
        Q_EMIT noFileManager(
            QStringLiteral("No file manager could be opened; the checkpoint is in ") + folder);
}

void CheckpointHead::opened() {
    const CheckpointInfo& info = *m_c.info();
    m_title->setText(QString::fromStdString(info.name));
    const auto far = wire::farPathOf(info.path);
    m_title->setToolTip(
        widgets::plainTip(QString::fromStdString(far ? far->host + ": " + far->path : info.path)));
    m_files->setText(filesText(info));
    QStringList unused, notes;
    const bool served = info.model && core::isServed(*info.model);
    for (const auto& key : info.unusedKeys)
        (served ? notes : unused) << QString::fromStdString(key);
    if (!unused.isEmpty())
        notes << QStringLiteral("Not used by this program: ") + unused.join(QStringLiteral(", "));
    for (const auto& tensor : info.leftOut)
        notes << QStringLiteral("Left out: %1, which %2")
                     .arg(QString::fromStdString(tensor.name), QString::fromStdString(tensor.note));
    if (notes.size() > kMostNotes) notes = notes.mid(0, kMostNotes) << QStringLiteral("...");
    m_files->setToolTip(notes.isEmpty() ? QString()
                                        : widgets::plainTip(notes.join(QStringLiteral("\n"))));
    m_badge->setUnknown(info.hasReference);
    m_badge->setVisible(!m_c.isServed());
    m_verify->setText(QStringLiteral("Verify"));
}

void CheckpointHead::refresh() {
    const auto set = [](QPushButton* button, const QString& disabledReason, const QString& help) {
        button->setEnabled(disabledReason.isEmpty());
        button->setToolTip(disabledReason.isEmpty() ? help : disabledReason);
    };
    const auto& info = m_c.info();
    const QString load = m_c.loadDisabledReason();
    set(m_verify, m_c.verifyDisabledReason(),
        QStringLiteral("Recompute every stored output and compare"));
    set(m_evaluate, m_c.evaluateDisabledReason(),
        QStringLiteral("Compute loss and accuracy on a data set"));
    set(m_inspect,
        m_c.loaded() ? QStringLiteral("The weights are loaded; the inspector is on the right")
                     : load,
        QStringLiteral("Load the weights and inspect them"));
    m_inspect->setProperty("primary", info && load.isEmpty() && !m_c.loaded());
    m_inspect->update();
    m_verify->setVisible(info && info->hasReference);
    m_evaluate->setVisible(
        info && (!info->model || m_c.isLanguage() || info->model->input() == InputKind::Images));
    m_tokenizer->setEnabled(m_c.isLanguage() && m_c.loaded());
    const QString noHead = m_c.headDisabledReason();
    m_givenHead->setEnabled(noHead.isEmpty());
    m_givenHead->setToolTip(noHead.isEmpty()
                                ? QStringLiteral("Classes for features: a text file with a name a "
                                                 "line, or a kept head (.safetensors)")
                                : noHead);
    const auto far = wire::farPathOf(m_c.path().toStdString());
    QString where =
        far ? QStringLiteral("Its files are on %1").arg(QString::fromStdString(far->host))
            : QString();
    const bool served = info && info->model && core::isServed(*info->model);
    if (served) where = QStringLiteral("The model belongs to the program that serves it");
    const bool own = info && !far && !served;
    m_adapter->setEnabled(own && info->model && !m_c.task().busy());
    m_adapter->setToolTip(
        !where.isEmpty()
            ? where
            : QStringLiteral("Merge a LoRA adapter (adapter_config.json) while opening"));
    m_convert->setEnabled(own && !m_c.task().busy());
    m_convert->setToolTip(!where.isEmpty()
                              ? where
                              : QStringLiteral("Save as .safetensors, as .pt or as a folder in "
                                               "the published format"));
    m_show->setEnabled(own);
    m_show->setToolTip(where);
}

void CheckpointHead::verifyEnded() {
    if (m_badge->title() == QLatin1String("Verifying")) m_badge->setUnknown(true);
}

QString CheckpointHead::title() const {
    return m_title->text();
}
QString CheckpointHead::files() const {
    return m_files->text();
}

namespace {

QString percent(double fraction) {
    return std::isnan(fraction) ? QStringLiteral("no examples")
                                : QString::number(100.0 * fraction, 'f', 1) + QStringLiteral(" %");
}

}  // namespace

CheckpointDetails::CheckpointDetails(QWidget* parent)
    : QWidget(parent),
      m_head(new widgets::PanelHead({}, this)),
      m_tabs(
          new widgets::SegmentedControl({QStringLiteral("Configuration"), QStringLiteral("Outline"),
                                         QStringLiteral("Values"), QStringLiteral("Evaluation")},
                                        this)),
      m_views(new QStackedWidget(this)),
      m_config(new widgets::ConfigView(this)),
      m_outline(new widgets::OutlineView(this)),
      m_histogram(new widgets::HistogramView(this)),
      m_evaluation(new widgets::StatisticsView(this)) {
    m_tabs->setAccessibleName(QStringLiteral("Panel below the tensors"));
    m_head->addLeftControl(m_tabs);
    m_evaluation->setAccessibleName(QStringLiteral("Evaluation"));
    auto* scroll = new QScrollArea(this);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setWidget(m_evaluation);
    for (QWidget* view : std::initializer_list<QWidget*>{m_config, m_outline, m_histogram, scroll})
        m_views->addWidget(view);
    makeMenus();
    auto* column = widgets::columnOf(this);
    column->addWidget(widgets::horizontalLine(this));
    column->addWidget(m_head);
    column->addWidget(m_views, 1);
    setMinimumHeight(160);
    connect(m_tabs, &widgets::SegmentedControl::changed, m_views, &QStackedWidget::setCurrentIndex);
}

void CheckpointDetails::makeMenus() {
    // The histogram contains its menu; the menus of the others are shown here.
    const auto menu = [this](Tab tab, QWidget* view, const char* name,
                             std::function<QString()> csv) {
        auto* more = widgets::iconButton(
            "more", QStringLiteral("More for the %1").arg(QLatin1String(name)), m_head);
        m_head->addControl(more);
        m_menus[tab] = new widgets::ViewMenu(
            more, view, [name] { return QString::fromLatin1(name); }, std::move(csv));
        const auto show = [this, more, tab] { more->setVisible(m_views->currentIndex() == tab); };
        connect(m_views, &QStackedWidget::currentChanged, more, show);
        show();
    };
    menu(Configuration, m_config->canvas(), "configuration", [this] { return m_config->csv(); });
    menu(Outline, m_outline, "outline", [this] { return m_outline->csv(); });
    menu(Evaluated, m_evaluation, "evaluation", [this] { return m_evaluation->csv(); });
}

void CheckpointDetails::setCheckpoint(const CheckpointInfo& info) {
    m_histogram->clear();
    m_config->setConfig(QString::fromStdString(info.config));
    m_outline->setOutline(info.outline);
    m_evaluation->setRows({});
    m_evaluation->setClasses({});
    m_tabs->setItemEnabled(Evaluated, false, QStringLiteral("Press Evaluate first"));
    m_tabs->setItemEnabled(Outline, info.model.has_value(),
                           QStringLiteral("No configuration was found, so the model is unknown"));
    showTab(Configuration);
}

void CheckpointDetails::showTab(Tab tab) {
    m_tabs->setCurrent(tab);
    m_views->setCurrentIndex(tab);
}

void CheckpointDetails::setEvaluation(const Evaluation& evaluation, const QString& data,
                                      EvaluatedData of) {
    const bool language = of != EvaluatedData::Images, hidden = of == EvaluatedData::HiddenWords;
    std::vector<std::pair<QString, QString>> rows = {
        {QStringLiteral("Data"), data},
        {language ? QStringLiteral("Windows") : QStringLiteral("Images"),
         widgets::groupedNumber(evaluation.examples)},
        {hidden ? QStringLiteral("Masked-word loss") : QStringLiteral("Loss"),
         QString::number(evaluation.loss, 'f', 4)},
        {hidden     ? QStringLiteral("Hidden-word accuracy")
         : language ? QStringLiteral("Next-token accuracy")
                    : QStringLiteral("Accuracy"),
         percent(evaluation.accuracy)}};
    if (language && !hidden)
        rows.insert(rows.end() - 1, {QStringLiteral("Perplexity"),
                                     widgets::metricText("perplexity", std::exp(evaluation.loss))});
    for (std::size_t label = 0; label < evaluation.classAccuracy.size(); ++label)
        rows.emplace_back(QStringLiteral("Accuracy, class %1").arg(label),
                          percent(evaluation.classAccuracy[label]));
    m_evaluation->setRows(std::move(rows));
    m_tabs->setItemEnabled(Evaluated, true);
    showTab(Evaluated);
}

QString CheckpointDetails::evaluationText(const Evaluation& evaluation, EvaluatedData of) {
    return QStringLiteral("loss %1, %2")
        .arg(QString::number(evaluation.loss, 'f', 3),
             of == EvaluatedData::Text
                 ? QStringLiteral("perplexity ") +
                       widgets::metricText("perplexity", std::exp(evaluation.loss))
                 : QStringLiteral("accuracy ") + percent(evaluation.accuracy));
}

CheckpointText::CheckpointText(CheckpointController& controller,
                               widgets::RelationInspector& inspector, QWidget* parent)
    : QWidget(parent),
      m_c(controller),
      m_inspector(inspector),
      m_tokenizerRow(new QWidget(this)),
      m_tokenizer(new QPushButton(widgets::icon("folder"), QStringLiteral("Choose tokenizer\u2026"),
                                  m_tokenizerRow)),
      m_panel(new widgets::GeneratePanel(this)) {
    m_needed = new widgets::ElidedLabel({}, m_tokenizerRow);
    m_needed->setFont(widgets::smallFont());
    auto* ask = new QHBoxLayout(m_tokenizerRow);
    ask->setContentsMargins(16, 8, 16, 8);
    ask->addWidget(m_needed, 1);
    ask->addWidget(m_tokenizer);
    m_panel->setFollow(true);
    auto* lines = widgets::columnOf(this);
    lines->addWidget(m_tokenizerRow);
    lines->addWidget(m_panel, 1);
    wire();
}

void CheckpointText::wire() {
    auto& generator = m_c.generator();
    m_panel->menu()->describe = [&generator] {
        return generator.asked() ? viewOf(*generator.asked()) : std::nullopt;
    };
    generator.setFollow(m_panel->follow());
    connect(m_panel, &widgets::GeneratePanel::generateRequested, this,
            [this](const QString& prompt, const GenerateOptions& options, bool bfloat16) {
                m_c.setBfloat16(bfloat16);
                m_c.generator().start(prompt, options);
            });
    connect(m_panel, &widgets::GeneratePanel::stopRequested, &generator, &TextGenerator::stop);
    connect(m_panel, &widgets::GeneratePanel::followChanged, &generator, &TextGenerator::setFollow);
    connect(m_panel, &widgets::GeneratePanel::bfloat16Changed, this, [this](bool on) {
        if (!on) m_c.setBfloat16(false);
    });
    connect(m_panel, &widgets::GeneratePanel::tokenChosen, this, &CheckpointText::chooseToken);
    connect(m_panel, &widgets::GeneratePanel::exported, this, &CheckpointText::exported);
    connect(m_panel, &widgets::GeneratePanel::exportFailed, this, &CheckpointText::failed);
    connect(&generator, &TextGenerator::editsChanged, m_panel,
            [this] { m_panel->setEdits(wordsOfList(m_c.generator().edits())); });
    connect(&generator, &TextGenerator::began, m_panel, &widgets::GeneratePanel::begin);
    connect(&generator, &TextGenerator::plainWritten, m_panel,
            [this](const std::vector<GeneratedToken>& tokens) {
                for (const auto& token : tokens) m_panel->appendPlain(token);
            });
    connect(&generator, &TextGenerator::written, m_panel,
            [this](const std::vector<GeneratedToken>& tokens) {
                for (const auto& token : tokens) m_panel->append(token);
            });
    connect(&generator, &TextGenerator::ended, m_panel, &widgets::GeneratePanel::finish);
    connect(&generator, &TextGenerator::failed, m_panel, &widgets::GeneratePanel::fail);
    connect(&generator, &TextGenerator::inspected, this, &CheckpointText::showResult);

    auto& session = m_c.feed();
    connect(m_inspector.sourcePane()->textInput(), &widgets::TextInput::textTyped, &session,
            &InspectorFeed::chooseText);
    connect(&m_c, &CheckpointController::textProblem, m_inspector.sourcePane()->textInput(),
            &widgets::TextInput::setProblem);
    connect(&session, &InspectorFeed::textOffered, this, [this](const QString& text) {
        auto* input = m_inspector.sourcePane()->textInput();
        input->setOpen(true);
        input->setText(text);
    });
}

void CheckpointText::refresh() {
    const QString why = m_c.generateDisabledReason();
    m_panel->setAvailable(why.isEmpty(), why);
    m_tokenizerRow->setVisible(m_c.loaded() && !m_c.feed().tokenizer());
    m_needed->setText(m_c.typesIds()
                          ? QStringLiteral("No tokenizer that can be read: type token ids.")
                          : QStringLiteral("The tokenizer of this model is unknown."));
}

void CheckpointText::loaded() {
    m_inspector.sourcePane()->textInput()->setOpen(false);
    leave();
    // A text belongs to the weights and the tokenizer that wrote it.
    m_c.generator().clear();
    m_panel->clear();
    if (!m_c.loaded() || !m_c.isLanguage()) return;
    static const QRegularExpression ids(QStringLiteral("^[0-9 ,]+$"));
    const bool typed = ids.match(m_panel->prompt()).hasMatch();
    if (m_c.typesIds()) {
        if (!typed) m_panel->setPrompt(QStringLiteral("1 2 3"));
    } else if (typed || m_panel->prompt().isEmpty() || !m_c.prompt().isEmpty()) {
        m_panel->setPrompt(m_c.prompt().isEmpty()
                               ? QStringLiteral("A finite-state machine is a mathematical model "
                                                "of computation. It is an abstract machine "
                                                "that can be in")
                               : m_c.prompt());
    }
}

void CheckpointText::showNextTokens() {
    const auto& inspected = m_inspector.choice().inspected();
    const ProbeResult* result = inspected.result.get();
    if (!result || !result->sample.source.text) return;
    app::showNextTokens(*m_inspector.sourcePane()->outcome(), *result, inspected.before.get(),
                        m_c.isEncoder());
    m_inspector.setSubText(
        QFileInfo(m_c.feed().path()).fileName() +
        (m_c.feed().bfloat16() ? QStringLiteral(", bfloat16 weights") : QString()));
}

void CheckpointText::showResult(const std::shared_ptr<const ProbeResult>& result, int first) {
    const int last = result->sample.source.size() - 1;
    const int chosen = m_panel->text()->chosen();
    widgets::InspectorView view = m_inspector.view();
    const bool own = chosen >= first && chosen - first <= last;
    view.source = own ? chosen - first : last;
    m_resultFirst = first;
    m_inspector.setResult(result);
    m_inspector.setView(view);
    m_inspector.sourcePane()->textInput()->setOpen(false);
    showNextTokens();
}

/// Chooses a token of the text, also in the inspector if it follows.
void CheckpointText::chooseToken(int index) {
    if (!m_panel->follow()) return;
    const ProbeResult* result = m_inspector.result();
    const int place = index - m_resultFirst;
    if (m_resultFirst >= 0 && result && place >= 0 && place < result->sample.source.size()) {
        widgets::InspectorView view = m_inspector.view();
        view.source = place;
        m_inspector.setView(view);
    } else if (!m_c.generator().running()) {
        m_c.generator().inspect(index);
    }
}

}  // namespace relascope::app
