// The parts of CheckpointController that concern texts.
#include <QFileInfo>

#include "app/controllers/checkpoint_controller.h"
#include "app/controllers/opened_weights.h"
#include "app/controllers/text_input.h"
#include "widgets/theme/theme.h"

namespace relascope {

QString CheckpointController::generateObstacle() const {
    if (const QString why = loadObstacle(); !why.isEmpty()) return why;
    if (!isLanguage()) return QStringLiteral("Only language models generate text");
    if (!loaded()) return QStringLiteral("Press Inspect to load the weights.");
    if (m_tokenizer.isEmpty())
        return QStringLiteral(
                   "No tokenizer was found next to these weights, and the vocabulary size %1 is "
                   "not GPT-2\u2019s 50,257: choose a tokenizer.json or vocab.json.")
            .arg(groupedNumber(m_info->model->outputs()));
    return {};
}

void CheckpointController::chooseText(const QString& text) {
    m_text = text;
    m_typing.start();
}

void CheckpointController::chooseTextFile(const QString& path) {
    m_headers.post(
        this,
        [path](std::stop_token) {
            return QString::fromStdString(beginningOfText(path.toStdString()));
        },
        [this, request = m_shown](const QString& text) {
            if (request != m_shown || m_offer.kind != InputOffer::Kind::Text) return;
            Q_EMIT textOffered(text);
            chooseText(text);
        },
        [this](const QString& sentence) { Q_EMIT failed(sentence); });
}

void CheckpointController::chooseTokenizer(const QString& path) {
    if (m_loaded.isEmpty()) return;
    m_generator->stop();
    begin(Strip::Inspector, QStringLiteral("Reading %1").arg(QFileInfo(path).fileName()));
    m_models.post(
        this,
        [weights = m_weights, path](std::stop_token) {
            weights->setTokenizer(path.toStdString());
            return weights->model->tokenizer()->name();
        },
        [this, request = m_probes](const std::string& name) {
            if (request != m_probes) return;
            finish(Strip::Inspector);
            m_tokenizer = QString::fromStdString(name);
            m_offer.kind = InputOffer::Kind::Text;
            Q_EMIT loadedChanged();
            probe(m_wish);
        },
        [this, request = m_probes](const QString& sentence) {
            if (request != m_probes) return;
            finish(Strip::Inspector);
            Q_EMIT failed(sentence);
        });
}

void CheckpointController::setBfloat16(bool on) {
    if (std::exchange(m_bfloat16, on) == on) return;
    m_generator->setBfloat16(on);
    if (loaded() && !on) probe(m_wish);  // what is seen is again what the file holds
}

}  // namespace relascope
