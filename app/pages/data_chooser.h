// SPDX-License-Identifier: GPL-3.0-or-later
// The left side of the Data page: which data, and the options of those that are generated.
#pragma once

#include <QStringList>
#include <QWidget>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "types/data_options.h"

class QListWidget;
class QListWidgetItem;
class QPushButton;

namespace relascope::widgets {
class OptionsForm;
}  // namespace relascope::widgets

namespace relascope::app {

/// Data that can be opened.
struct DataChoice {
    enum class Kind { Generated, File, Run };
    Kind kind = Kind::Generated;
    DataOptions options;    ///< Generated, and how a File is read
    std::int64_t pass = 0;  ///< Generated: which pass over the training set, where passes differ
    QString path;           ///< File: the file or folder; Run: the run folder
    QString name;           ///< in words

    bool operator==(const DataChoice&) const = default;
};

class DataChooser : public QWidget {
    Q_OBJECT
public:
    explicit DataChooser(QWidget* parent = nullptr);

    /// Marks the choice; does not signal.
    void setCurrent(const DataChoice& choice);
    /// The run whose splits are offered; empty: none.
    void setRun(const QString& path, const QString& name);
    /// Puts a file or folder in front of those imported before.
    void remember(const DataChoice& choice);
    void forget(const QString& path);
    QStringList files() const;
    /// Names of the fields that the form shows of a task: those that apply.
    static std::vector<std::string> fieldsOf(const DataOptions& options);
    /// What such data usually are: as their preset has it.
    static DataOptions usualOptions(const std::string& kind, const std::string& task);
    QListWidget* list() const { return m_list; }
    widgets::OptionsForm* form() const { return m_form; }
    QPushButton* importButton() const { return m_import; }

Q_SIGNALS:
    void chosen(const relascope::app::DataChoice& choice);
    void importRequested();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void fill();
    void mark();
    void showForm();
    void itemMenu(const QPoint& at);
    void keepFiles();
    DataChoice choiceOf(const QListWidgetItem* item);
    QListWidgetItem* addHead(const QString& title);
    QListWidgetItem* addLine(const DataChoice& choice, const QString& note);

    QListWidget* m_list;
    widgets::OptionsForm* m_form;
    QPushButton* m_import;
    DataChoice m_current;
    /// Of the form, as edited: by kind, where tasks have sizes of their own by kind and task.
    std::map<std::string, DataOptions> m_options;
    DataOptions& optionsOf(const std::string& kind, const std::string& task);
    std::int64_t m_pass = 0;
    QString m_run, m_runName;
    std::vector<DataChoice> m_files;
};

}  // namespace relascope::app
