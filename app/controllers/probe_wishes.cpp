// What the source pane asks of ProbeController; how it is answered is in probe_controller.cpp.
#include <QFileInfo>
#include <QRandomGenerator>
#include <algorithm>

#include "app/controllers/examples.h"
#include "app/controllers/job_queue.h"
#include "app/controllers/probe_controller.h"
#include "app/controllers/text_input.h"
#include "app/selection.h"
#include "datasets/readers/image_file.h"

namespace relascope {

void ProbeController::chooseSample(const QString& split, qint64 index) {
    if (mode() == Mode::Captured) {
        m_captured = std::clamp<qint64>(index, 0, std::max<qint64>(0, m_capturedCount - 1));
        Q_EMIT sampleShown(QStringLiteral("captured"), m_captured);
    } else {
        m_own.reset();
        m_text.clear();
        ++m_texts;
        m_chosen = true;
        m_selection.setSample(split, index);
        Q_EMIT sampleShown(split, index);
    }
    ask();
}

void ProbeController::chooseRandom(const QString& split, int label) {
    if (mode() == Mode::Captured) {
        if (m_capturedCount > 1)  // another one than is shown
            chooseSample(split, (m_captured + 1 +
                                 QRandomGenerator::global()->bounded(qint64{m_capturedCount - 1})) %
                                    m_capturedCount);
        return;
    }
    const auto data = m_splits ? m_splits->find(split.toStdString()) : nullptr;
    if (!data) return split == kPinnedSplit ? chooseSample(split, 0) : void();
    const qint64 index = QRandomGenerator::global()->bounded(qint64{data->size()});
    if (label < 0) return chooseSample(split, index);
    m_selection.setSample(split, index);
    chooseByLabel(split, label, true);
}

void ProbeController::chooseByLabel(const QString& split, int label, bool forward) {
    const auto data =
        m_splits && mode() != Mode::Captured ? m_splits->find(split.toStdString()) : nullptr;
    if (!data || labelNames(*data).empty()) return;
    const auto work = [data, label, forward,
                       from = m_selection.sample()](std::stop_token stop) -> qint64 {
        LabelReader labelOf(data);
        const qint64 size = data->size();
        for (qint64 k = 1; k <= size; ++k) {
            if (stop.stop_requested()) throw Cancelled();
            const qint64 index = ((from + (forward ? k : -k)) % size + size) % size;
            if (labelOf(index) == label) return index;
        }
        return -1;
    };
    m_jobs.post(
        this, work,
        [this, split](qint64 index) {
            if (index >= 0)
                chooseSample(split, index);
            else
                Q_EMIT failed(
                    QString("No sample in %1 has this label; select \u201CAny label\u201D.")
                        .arg(split));
        },
        [this](const QString& sentence) { Q_EMIT failed(sentence); });
}

void ProbeController::chooseImage(const QString& path) {
    if (!m_options || mode() == Mode::Captured) {
        Q_EMIT failed(
            mode() == Mode::Captured
                ? QStringLiteral(
                      "An image can be inspected with the newest weights only; press Live first.")
                : QStringLiteral(
                      "Start or open a run first, then drop an image onto its inspector."));
        return;
    }
    if (readsText()) return chooseTextFile(path);
    if (m_options->model.input() != InputKind::Images) {
        Q_EMIT failed(QStringLiteral("The input of this run is %1, not images; choose one of them.")
                          .arg(exampleWord(m_options->data, true)));
        return;
    }
    const auto shape = m_options->model.get<ImageInput>().image_shape;
    const auto work = [file = path.toStdString(), name = QFileInfo(path).fileName().toStdString(),
                       shape](std::stop_token) {
        ProbeSample read;
        read.image = fitImage(readImageFile(file), static_cast<int>(shape[1]),
                              static_cast<int>(shape[2]), static_cast<int>(shape[0]));
        read.origin = name;
        return read;
    };
    m_jobs.post(
        this, work,
        [this, request = m_request](ProbeSample read) {
            if (!fits(request)) return;
            m_own = std::move(read);
            ask();
        },
        [this](const QString& sentence) { Q_EMIT failed(sentence); });
}

void ProbeController::chooseText(const QString& text) {
    m_text = text;
    m_textNote.clear();
    ++m_texts;  // what is being read is of the text before
    m_typing.start();
}

/// Tokenising is quick for a sentence and slow for a book: never on the window's thread.
void ProbeController::readText() {
    if (m_text.isEmpty() || !m_options) return;
    if (!m_tokenizer) {
        m_textNote =
            readsText()
                ? QStringLiteral("The tokenizer of this run is unknown; set data.tokenizer.")
                : QStringLiteral("The input of this run is not text.");
        return tellOfText();
    }
    const auto work = [text = m_text.toStdString(), tokenizer = m_tokenizer,
                       model = m_options->model](std::stop_token) {
        return typedText(*tokenizer, text, model);
    };
    m_jobs.post(
        this, work,
        [this, request = m_texts](TypedText typed) {
            if (request != m_texts) return;
            m_own = std::move(typed.sample);
            m_textNote = QString::fromStdString(typed.note);
            tellOfText();
            ask();
        },
        [this, request = m_texts](const QString& sentence) {
            if (request != m_texts) return;
            m_textNote = sentence;
            tellOfText();
        });
}

void ProbeController::tellOfText() {
    if (m_text.isEmpty()) return;
    Q_EMIT textProblem(
        mode() == Mode::Captured
            ? QStringLiteral(
                  "Captures contain the pinned sentence only; press Live to type your own text.")
            : m_textNote);
}

void ProbeController::offerText(const QString& text) {
    Q_EMIT textOffered(text);
    chooseText(text);
}

void ProbeController::chooseTextFile(const QString& path) {
    m_jobs.post(
        this,
        [path](std::stop_token) {
            return QString::fromStdString(beginningOfText(path.toStdString()));
        },
        [this, request = m_request](const QString& text) {
            if (!fits(request)) return;
            offerText(text);
        },
        [this](const QString& sentence) { Q_EMIT failed(sentence); });
}

}  // namespace relascope
