// The notes of the Compare page, and the file that keeps them.
#include <QDir>
#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QMenu>
#include <QPlainTextEdit>
#include <QSaveFile>
#include <QSignalBlocker>

#include "app/controllers/job_queue.h"
#include "app/controllers/runs_controller.h"
#include "app/pages/compare_page.h"
#include "app/selection.h"
#include "types/error.h"
#include "widgets/theme/controls.h"

namespace relascope {
namespace {

constexpr char kRunsKey[] = "runs", kComparisonsKey[] = "comparisons";

QMap<QString, QString> textsOf(const QJsonObject& object) {
    QMap<QString, QString> texts;
    for (auto it = object.begin(); it != object.end(); ++it)
        texts.insert(it.key(), it.value().toString());
    return texts;
}

QJsonObject objectOf(const QMap<QString, QString>& texts) {
    QJsonObject object;
    for (auto it = texts.begin(); it != texts.end(); ++it)
        if (!it.value().trimmed().isEmpty()) object.insert(it.key(), it.value());
    return object;
}

/// Whole or not at all, and on the disk when it returns.
void writeNotes(const QString& folder, const QByteArray& bytes) {
    QSaveFile file(folder + QStringLiteral("/notes.json"));
    if (QDir().mkpath(folder) && file.open(QIODevice::WriteOnly) &&
        file.write(bytes) == bytes.size() && file.commit())
        return;
    throw FileError(file.fileName().toStdString(),
                    "the notes could not be saved (" + file.errorString().toStdString() + ")");
}

QString runCount(qsizetype count) {
    return count == 1 ? QStringLiteral("this run") : QStringLiteral("these %1 runs").arg(count);
}

}  // namespace

ComparePage::~ComparePage() {
    // What is being written ends first; what waits or was dropped is written here.
    m_disk.reset();
    if ((!m_notesChanged && !m_notesWriting) || !m_notesReadable) return;
    try {
        writeNotes(m_notesFolder, notesText());
    } catch (const Error& error) {
        m_context.messages.error(QString::fromStdString(error.what()));
    }
}

QString ComparePage::noteKey(const QString& path) const {
    // Relative to the folder, so that notes follow it when it moves; runs from elsewhere keep their
    // path.
    const QString inside = QDir(m_notesFolder).relativeFilePath(path);
    return inside.startsWith(QLatin1String("..")) ? path : inside;
}

QString ComparePage::comparisonKey() const {
    QStringList keys;
    for (const QString& path : m_context.selection.runs()) keys += noteKey(path);
    keys.sort();
    return keys.join(u'\n');
}

void ComparePage::readNotes() {
    m_notesFolder = m_context.runs.folder();
    m_runNotes.clear();
    m_comparisonNotes.clear();
    m_notesReadable = true;
    QFile file(m_notesFolder + QStringLiteral("/notes.json"));
    if (!file.exists()) return;
    QJsonParseError problem;
    QJsonDocument document;
    if (file.open(QIODevice::ReadOnly))
        document = QJsonDocument::fromJson(file.readAll(), &problem);
    if (!document.isObject()) {
        // Somebody's words are in it: what cannot be read is not overwritten either.
        m_notesReadable = false;
        m_context.messages.warning(QStringLiteral("%1 cannot be read as notes; notes are not saved "
                                                  "until the file is repaired or moved")
                                       .arg(file.fileName()));
        return;
    }
    m_runNotes = textsOf(document[QLatin1String(kRunsKey)].toObject());
    m_comparisonNotes = textsOf(document[QLatin1String(kComparisonsKey)].toObject());
}

QByteArray ComparePage::notesText() const {
    return QJsonDocument(QJsonObject{{QLatin1String(kRunsKey), objectOf(m_runNotes)},
                                     {QLatin1String(kComparisonsKey), objectOf(m_comparisonNotes)}})
        .toJson();
}

void ComparePage::saveNotes() {
    m_saveSoon.stop();
    if (!m_notesChanged || !m_notesReadable) return;
    m_notesChanged = false;
    m_notesWriting = true;
    const auto work = [folder = m_notesFolder, bytes = notesText()](std::stop_token) {
        writeNotes(folder, bytes);
        return true;
    };
    m_disk->post(
        this, work, [this](bool) { m_notesWriting = false; },
        [this](const QString& sentence) {
            m_notesWriting = false;
            m_notesChanged = true;
            m_context.messages.error(sentence);
        });
}

void ComparePage::showNotes() {
    const QString key = comparisonKey();
    const qsizetype count = m_context.selection.runs().size();
    m_notes->setEnabled(count > 0);
    m_notesHead->setSubText(count == 0 ? QString()
                                       : QStringLiteral("saved with %1").arg(runCount(count)));
    m_notes->setPlaceholderText(
        count == 0 ? QStringLiteral("Check runs in the table to compare them.")
                   : QStringLiteral("Notes on %1")
                         .arg(count == 1 ? QStringLiteral("the curves") : runCount(count)));
    if (key == m_notesKey) return;
    m_notesKey = key;
    const QSignalBlocker quiet(m_notes);
    m_notes->setPlainText(m_comparisonNotes.value(key));
}

void ComparePage::noteTyped() {
    if (m_notesKey.isEmpty()) return;
    m_comparisonNotes[m_notesKey] = m_notes->toPlainText();
    m_notesChanged = true;
    m_saveSoon.start();
}

void ComparePage::fillComparisons() {
    m_comparisons->clear();
    for (auto it = m_comparisonNotes.begin(); it != m_comparisonNotes.end(); ++it) {
        if (it.value().trimmed().isEmpty()) continue;
        QStringList paths;
        for (const QString& key : it.key().split(u'\n')) {
            const QString path = QDir::cleanPath(QDir(m_notesFolder).absoluteFilePath(key));
            if (m_context.runs.info(path)) paths += path;
        }
        const QString line = it.value().trimmed().section(u'\n', 0, 0);
        QAction* action =
            m_comparisons->addAction(QStringLiteral("%1 runs: %2")
                                         .arg(it.key().count(u'\n') + 1)
                                         .arg(fontMetrics().elidedText(line, Qt::ElideRight, 320)));
        action->setCheckable(true);
        action->setChecked(it.key() == m_notesKey);
        action->setEnabled(!paths.isEmpty());
        connect(action, &QAction::triggered, this,
                [this, paths] { m_context.selection.setRuns(paths); });
    }
    if (m_comparisons->isEmpty())
        m_comparisons->addAction(QStringLiteral("No comparison has notes yet"))->setEnabled(false);
}

}  // namespace relascope
