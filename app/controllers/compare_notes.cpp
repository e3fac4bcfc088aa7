// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/controllers/compare_notes.h"

#include <QDir>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSaveFile>

#include "app/controllers/job_queue.h"
#include "run/run_notes.h"
#include "types/error.h"

namespace relascope::app {
namespace {

constexpr char kRunsKey[] = "runs", kComparisonsKey[] = "comparisons";

QMap<QString, QString> textsOf(const std::map<std::string, std::string>& notes) {
    QMap<QString, QString> texts;
    for (const auto& [key, note] : notes)
        texts.insert(QString::fromStdString(key), QString::fromStdString(note));
    return texts;
}

QJsonObject objectOf(const QMap<QString, QString>& texts) {
    QJsonObject object;
    for (auto it = texts.begin(); it != texts.end(); ++it)
        if (!it.value().trimmed().isEmpty()) object.insert(it.key(), it.value());
    return object;
}

}  // namespace

CompareNotes::CompareNotes(QObject* parent)
    : QObject(parent), m_disk(std::make_unique<JobQueue>()) {
    // Notes are written half a second after the last key.
    m_soon.setSingleShot(true);
    m_soon.setInterval(500);
    connect(&m_soon, &QTimer::timeout, this, &CompareNotes::save);
}

CompareNotes::~CompareNotes() {
    // Waits for the current write, then writes pending notes.
    m_disk.reset();
    if (!m_changed && !m_writing) return;
    try {
        if (!m_read) take(read(m_folder));
        if (m_texts.readable) write(m_folder, bytes());
    } catch (const Error& error) {
        Q_EMIT failed(QString::fromStdString(error.what()));
    }
}

QString CompareNotes::fileOf(const QString& folder) {
    return QString::fromStdString(core::notesFile(folder.toStdString()));
}

CompareNotes::Texts CompareNotes::read(const QString& folder) {
    const auto notes = core::readRunNotes(folder.toStdString());
    return {textsOf(notes.runs), textsOf(notes.comparisons), notes.readable};
}

/// Written atomically and synchronously.
void CompareNotes::write(const QString& folder, const QByteArray& bytes) {
    QSaveFile file(fileOf(folder));
    if (QDir().mkpath(folder) && file.open(QIODevice::WriteOnly) &&
        file.write(bytes) == bytes.size() && file.commit())
        return;
    throw FileError(file.fileName().toStdString(),
                    "the notes could not be saved (" + file.errorString().toStdString() + ")");
}

void CompareNotes::setFolder(const QString& folder) {
    if (folder == m_folder) return;
    save();
    m_folder = folder;
    m_texts = {};
    m_typed.clear();
    m_read = m_changed = false;
    m_disk->post(
        this, [folder](std::stop_token) { return read(folder); },
        [this, folders = ++m_folders](Texts texts) {
            if (folders != m_folders) return;
            take(std::move(texts));
            // The file may contain notes of the user: if it cannot be read, it is not overwritten.
            if (!m_texts.readable)
                Q_EMIT warned(
                    QStringLiteral("%1 cannot be read as notes; notes are not saved until "
                                   "the file is repaired or moved")
                        .arg(fileOf(m_folder)));
            Q_EMIT changed();
            if (m_changed) m_soon.start();
        });
}

void CompareNotes::take(Texts texts) {
    const auto keep = [this](const QMap<QString, QString>& from, QMap<QString, QString>& to) {
        for (auto it = from.begin(); it != from.end(); ++it)
            if (m_typed.contains(it.key())) to[it.key()] = it.value();
    };
    keep(m_texts.runs, texts.runs);
    keep(m_texts.comparisons, texts.comparisons);
    m_texts = std::move(texts);
    m_read = true;
}

void CompareNotes::save() {
    m_soon.stop();
    if (!m_changed || !m_read || !m_texts.readable) return;
    m_changed = false;
    m_writing = true;
    m_disk->post(
        this,
        [folder = m_folder, bytes = bytes()](std::stop_token) {
            write(folder, bytes);
            return true;
        },
        [this](bool) { m_writing = false; },
        [this](const QString& sentence) {
            m_writing = false;
            m_changed = true;
            Q_EMIT failed(sentence);
        });
}

QByteArray CompareNotes::bytes() const {
    return QJsonDocument(
               QJsonObject{{QLatin1String(kRunsKey), objectOf(m_texts.runs)},
                           {QLatin1String(kComparisonsKey), objectOf(m_texts.comparisons)}})
        .toJson();
}

QString CompareNotes::keyOf(const QString& path) const {
    return QString::fromStdString(core::noteKey(m_folder.toStdString(), path.toStdString()));
}

void CompareNotes::typed(const QString& key) {
    m_typed.insert(key);
    m_changed = true;
    m_soon.start();
}

void CompareNotes::setOfRun(const QString& path, const QString& note) {
    const QString key = keyOf(path);
    m_texts.runs[key] = note;
    typed(key);
}

QString CompareNotes::comparison(const QStringList& runs) const {
    QStringList keys;
    for (const QString& path : runs) keys += keyOf(path);
    keys.sort();
    return keys.join(u'\n');
}

QString CompareNotes::ofComparison(const QString& comparison) const {
    return m_texts.comparisons.value(comparison);
}

void CompareNotes::setOfComparison(const QString& comparison, const QString& note) {
    m_texts.comparisons[comparison] = note;
    typed(comparison);
}

QStringList CompareNotes::runsOf(const QString& comparison) const {
    QStringList paths;
    for (const QString& key : comparison.split(u'\n'))
        paths += QDir::cleanPath(QDir(m_folder).absoluteFilePath(key));
    return paths;
}

}  // namespace relascope::app
