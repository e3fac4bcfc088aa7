// SPDX-License-Identifier: GPL-3.0-or-later
// The notes of a folder of runs, in its notes.json: one text a run, and one for each set of runs
// that was compared.
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

/// Read and written off the window's thread; what is typed before the file is read is kept.
class CompareNotes : public QObject {
    Q_OBJECT
public:
    explicit CompareNotes(QObject* parent = nullptr);
    /// Writes what waits.
    ~CompareNotes() override;

    const QString& folder() const { return m_folder; }
    /// Another folder: its notes come with changed().
    void setFolder(const QString& folder);

    QString ofRun(const QString& path) const { return m_texts.runs.value(keyOf(path)); }
    void setOfRun(const QString& path, const QString& note);
    /// Names a set of runs; empty without any.
    QString comparison(const QStringList& runs) const;
    QString ofComparison(const QString& comparison) const;
    void setOfComparison(const QString& comparison, const QString& note);
    /// Every set of runs that has a note, with it.
    const QMap<QString, QString>& comparisons() const { return m_texts.comparisons; }
    QStringList runsOf(const QString& comparison) const;
    /// Writes what waits now.
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
