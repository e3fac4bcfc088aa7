// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/checkpoint_text.h"

#include <QFileInfo>
#include <QHBoxLayout>
#include <QPushButton>
#include <QVBoxLayout>

#include "app/controllers/checkpoint_controller.h"
#include "app/controllers/edited_probe.h"
#include "app/controllers/text_input.h"
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

namespace relascope::app {

CheckpointText::CheckpointText(CheckpointController& controller,
                               widgets::RelationInspector& inspector, QWidget* parent)
    : QWidget(parent),
      m_c(controller),
      m_inspector(inspector),
      m_tokenizerRow(new QWidget(this)),
      m_tokenizer(new QPushButton(widgets::icon("folder"), QStringLiteral("Choose tokenizer\u2026"),
                                  m_tokenizerRow)),
      m_panel(new widgets::GeneratePanel(this)) {
    auto* needed = new widgets::ElidedLabel(
        QStringLiteral("The tokenizer of this model is unknown."), m_tokenizerRow);
    needed->setFont(widgets::smallFont());
    auto* ask = new QHBoxLayout(m_tokenizerRow);
    ask->setContentsMargins(16, 8, 16, 8);
    ask->addWidget(needed, 1);
    ask->addWidget(m_tokenizer);
    m_panel->setFollow(true);
    auto* lines = widgets::columnOf(this);
    lines->addWidget(m_tokenizerRow);
    lines->addWidget(m_panel, 1);
    wire();
}

void CheckpointText::wire() {
    auto& generator = m_c.generator();
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

    auto& session = m_c.session();
    connect(m_inspector.sourcePane()->textInput(), &widgets::TextInput::textTyped, &session,
            &InspectionSession::chooseText);
    connect(&m_c, &CheckpointController::textProblem, m_inspector.sourcePane()->textInput(),
            &widgets::TextInput::setProblem);
    connect(&session, &InspectionSession::textOffered, this, [this](const QString& text) {
        auto* input = m_inspector.sourcePane()->textInput();
        input->setOpen(true);
        input->setText(text);
    });
}

void CheckpointText::refresh() {
    const QString why = m_c.generateDisabledReason();
    m_panel->setAvailable(why.isEmpty(), why);
    m_tokenizerRow->setVisible(m_c.loaded() && !m_c.session().tokenizer());
}

void CheckpointText::loaded() {
    m_inspector.sourcePane()->textInput()->setOpen(false);
    leave();
    if (!m_c.loaded() || !m_c.isLanguage()) return;
    if (m_panel->prompt().isEmpty() || !m_c.prompt().isEmpty())
        m_panel->setPrompt(m_c.prompt().isEmpty()
                               ? QStringLiteral("A finite-state machine is a mathematical model "
                                                "of computation. It is an abstract machine "
                                                "that can be in")
                               : m_c.prompt());
}

void CheckpointText::showNextTokens() {
    const auto& inspected = m_inspector.choice().inspected();
    const ProbeResult* result = inspected.result.get();
    if (!result || !result->sample.source.text) return;
    const auto& words = result->sample.source.labels;
    m_inspector.sourcePane()->outcome()->setNextTokens(
        words.empty() ? QStringLiteral("Next token")
                      : QStringLiteral("Next token after \u201C%1\u201D")
                            .arg(widgets::pieceLabel(words.back())),
        nextTokens(*result), nextTokensBefore(*result, inspected.before.get()));
    m_inspector.setSubText(
        QFileInfo(m_c.session().path()).fileName() +
        (m_c.session().bfloat16() ? QStringLiteral(", bfloat16 weights") : QString()));
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
