// What the Checkpoint page has for language models: typed texts, and texts that they write.
#include <QFileInfo>
#include <QHBoxLayout>
#include <QMenu>
#include <QPushButton>
#include <QStackedWidget>
#include <QVBoxLayout>

#include "app/app_context.h"
#include "app/controllers/text_input.h"
#include "app/pages/checkpoint_page.h"
#include "widgets/generate/generate_panel.h"
#include "widgets/generate/generated_text.h"
#include "widgets/inspector/relation_inspector.h"
#include "widgets/inspector/source_pane.h"
#include "widgets/source/text_input.h"
#include "widgets/source/text_outcome.h"
#include "widgets/text/text_flow.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace relascope {
namespace {

enum Side { Tensors, Generate };

}  // namespace

/// The tensors, and behind a switch the text that the model writes: the inspector stands beside
/// either.
QWidget* CheckpointPage::makeGenerate(QWidget* tensors) {
    auto* panel = new QWidget(this);
    m_sideRow = new QWidget(panel);
    m_side =
        new SegmentedControl({QStringLiteral("Tensors"), QStringLiteral("Generate")}, m_sideRow);
    m_side->setAccessibleName(QStringLiteral("Panel next to the inspector"));
    auto* row = new QHBoxLayout(m_sideRow);
    row->setContentsMargins(16, 6, 16, 6);
    row->addWidget(m_side);
    row->addStretch(1);

    auto* writing = new QWidget(panel);
    m_tokenizerRow = new QWidget(writing);
    m_tokenizerButton =
        new QPushButton(icon("folder"), QStringLiteral("Choose tokenizer\u2026"), m_tokenizerRow);
    auto* needed =
        new ElidedLabel(QStringLiteral("The tokenizer of this model is unknown."), m_tokenizerRow);
    needed->setFont(smallFont());
    auto* ask = new QHBoxLayout(m_tokenizerRow);
    ask->setContentsMargins(16, 8, 16, 8);
    ask->addWidget(needed, 1);
    ask->addWidget(m_tokenizerButton);
    m_generate = new GeneratePanel(writing);
    m_generate->setFollow(true);
    auto* lines = new QVBoxLayout(writing);
    lines->setContentsMargins(0, 0, 0, 0);
    lines->setSpacing(0);
    lines->addWidget(m_tokenizerRow);
    lines->addWidget(m_generate, 1);

    m_sides = new QStackedWidget(panel);
    m_sides->addWidget(tensors);
    m_sides->addWidget(writing);
    auto* column = new QVBoxLayout(panel);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_sideRow);
    column->addWidget(horizontalLine(panel));
    column->addWidget(m_sides, 1);
    m_sideRow->hide();
    return panel;
}

void CheckpointPage::wireGenerate() {
    auto& generator = m_c.generator();
    generator.setFollow(m_generate->follow());
    connect(m_side, &SegmentedControl::changed, m_sides, &QStackedWidget::setCurrentIndex);
    connect(m_generate, &GeneratePanel::generateRequested, this,
            [this](const QString& prompt, const GenerateOptions& options, bool bfloat16) {
                m_c.setBfloat16(bfloat16);
                m_c.generator().start(prompt, options);
            });
    connect(m_generate, &GeneratePanel::stopRequested, &generator, &TextGenerator::stop);
    connect(m_generate, &GeneratePanel::followChanged, &generator, &TextGenerator::setFollow);
    connect(m_generate, &GeneratePanel::bfloat16Changed, this, [this](bool on) {
        if (!on) m_c.setBfloat16(false);
    });
    connect(m_generate, &GeneratePanel::tokenChosen, this, &CheckpointPage::chooseToken);
    connect(m_generate, &GeneratePanel::exported, this,
            [this](const QString& path) { m_messages.ok(QStringLiteral("Wrote ") + path); });
    connect(m_generate, &GeneratePanel::exportFailed, this, &CheckpointPage::fail);
    connect(&generator, &TextGenerator::began, m_generate, &GeneratePanel::begin);
    connect(&generator, &TextGenerator::written, m_generate,
            [this](const std::vector<GeneratedToken>& tokens) {
                for (const auto& token : tokens) m_generate->append(token);
            });
    connect(&generator, &TextGenerator::ended, m_generate, &GeneratePanel::finish);
    connect(&generator, &TextGenerator::failed, m_generate, &GeneratePanel::fail);
    connect(&generator, &TextGenerator::looked, this, &CheckpointPage::showLooked);
    connect(m_tokenizerButton, &QPushButton::clicked, this, &CheckpointPage::chooseTokenizer);

    connect(m_inspector, &RelationInspector::textTyped, &m_c, &CheckpointController::chooseText);
    connect(&m_c, &CheckpointController::textProblem, m_inspector->sourcePane(),
            &SourcePane::setTextProblem);
    connect(&m_c, &CheckpointController::textOffered, this, [this](const QString& text) {
        auto* input = m_inspector->sourcePane()->textInput();
        input->setOpen(true);
        input->setText(text);
    });
    connect(&m_c, &CheckpointController::opened, this, [this] {
        m_side->setCurrent(Tensors);
        m_sides->setCurrentIndex(Tensors);
        refreshGenerate();
    });
}

void CheckpointPage::refreshGenerate() {
    if (!m_generate) return;
    m_sideRow->setVisible(m_c.isLanguage());
    if (!m_c.isLanguage()) m_sides->setCurrentIndex(Tensors);
    const QString why = m_c.generateObstacle();
    m_generate->setAvailable(why.isEmpty(), why);
    m_tokenizerRow->setVisible(m_c.loaded() && m_c.tokenizer().isEmpty());
}

void CheckpointPage::loadedText() {
    m_inspector->sourcePane()->textInput()->setOpen(false);
    m_lookedFirst = -1;
    if (!m_c.loaded() || !m_c.isLanguage()) return;
    if (m_generate->prompt().isEmpty() || !m_c.prompt().isEmpty())
        m_generate->setPrompt(m_c.prompt().isEmpty()
                                  ? QStringLiteral("A finite-state machine is a mathematical model "
                                                   "of computation. It is an abstract machine "
                                                   "that can be in")
                                  : m_c.prompt());
    m_side->setCurrent(Generate);
    m_sides->setCurrentIndex(Generate);
}

void CheckpointPage::showNextTokens() {
    const ProbeResult* result = m_inspector->result();
    if (!result || !result->sample.source.text) return;
    const auto& words = result->sample.source.words;
    m_inspector->sourcePane()->outcome()->setNextTokens(
        words.empty()
            ? QStringLiteral("Next token")
            : QStringLiteral("Next token after \u201C%1\u201D").arg(pieceLabel(words.back())),
        nextTokens(*result));
    m_inspector->setSubText(QFileInfo(m_c.loadedPath()).fileName() +
                            (m_c.bfloat16() ? QStringLiteral(", bfloat16 weights") : QString()));
}

void CheckpointPage::showLooked(const std::shared_ptr<const ProbeResult>& result, int first) {
    const int last = result->sample.source.size() - 1;
    const int chosen = m_generate->text()->chosen();
    InspectorView view = m_inspector->view();
    const bool own = chosen >= first && chosen - first <= last;
    view.source = own ? chosen - first : last;
    m_lookedFirst = first;
    m_inspector->setResult(result);
    m_inspector->setView(view);
    m_inspector->sourcePane()->textInput()->setOpen(false);
    showNextTokens();
}

/// A token of the text: the inspector, where it follows, looks from there.
void CheckpointPage::chooseToken(int index) {
    if (!m_generate->follow()) return;
    const ProbeResult* result = m_inspector->result();
    const int place = index - m_lookedFirst;
    if (m_lookedFirst >= 0 && result && place >= 0 && place < result->sample.source.size()) {
        InspectorView view = m_inspector->view();
        view.source = place;
        m_inspector->setView(view);
    } else if (!m_c.generator().running()) {
        m_c.generator().look(index);
    }
}

void CheckpointPage::chooseTokenizer() {
    if (const QString path = askTokenizer(); !path.isEmpty()) m_c.chooseTokenizer(path);
}

bool CheckpointPage::takeText(const QString& path) {
    if (m_c.loadedPath().isEmpty() || m_c.offer().kind != InputOffer::Kind::Text) return false;
    m_c.chooseTextFile(path);
    return true;
}

}  // namespace relascope
