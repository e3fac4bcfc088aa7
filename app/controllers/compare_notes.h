// SPDX-License-Identifier: GPL-3.0-or-later
// The notes of a folder of runs, in its notes.json: one text per run, and one per set of runs that
// was compared.
#pragma once

#include <QMap>
#include <QObject>
#include <QSet>
#include <QString>
#include <QStringList>
#include <QTimer>
#include <memory>
#include <optional>

namespace relascope::app {

class JobQueue;

/// The file is read and written off the window's thread. Text typed before it has been read is
/// kept.
class CompareNotes : public QObject {
    Q_OBJECT
public:
    explicit CompareNotes(QObject* parent = nullptr);
    /// Writes pending changes.
    ~CompareNotes() override;

    const QString& folder() const { return m_folder; }
    /// Sets the folder; changed() is emitted when its notes have been read.
    void setFolder(const QString& folder);

    QString ofRun(const QString& path) const { return m_texts.runs.value(keyOf(path)); }
    void setOfRun(const QString& path, const QString& note);
    /// A key for a set of runs; empty for an empty set.
    QString comparison(const QStringList& runs) const;
    QString ofComparison(const QString& comparison) const;
    void setOfComparison(const QString& comparison, const QString& note);
    /// Every set of runs that has a note, and the note.
    const QMap<QString, QString>& comparisons() const { return m_texts.comparisons; }
    QStringList runsOf(const QString& comparison) const;
    /// Writes pending changes now.
    void save();

Q_SIGNALS:
    void changed();
    void warned(const QString& sentence);
    void failed(const QString& sentence);

private:
    struct Texts {
        QMap<QString, QString> runs, comparisons;
        bool readable = true;
    };
    static QString fileOf(const QString& folder);
    static Texts read(const QString& folder);
    static void write(const QString& folder, const QByteArray& bytes);
    void take(Texts texts);
    void typed(const QString& key);
    QByteArray bytes() const;
    QString keyOf(const QString& path) const;

    QString m_folder;
    Texts m_texts;
    QSet<QString> m_typed;  ///< keys of notes that the file does not have yet
    bool m_read = false, m_changed = false, m_writing = false;
    quint64 m_folders = 0;
    QTimer m_soon;
    std::unique_ptr<JobQueue> m_disk;
};

}  // namespace relascope::app
