// SPDX-License-Identifier: GPL-3.0-or-later
// The left side of the Data page: the choice of data, and the options of generated data.
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
    DataOptions options;     ///< Generated, and how a File is read
    std::int64_t epoch = 0;  ///< Generated: the epoch, for data that differ between epochs
    QString path;            ///< File: the file or folder; Run: the run folder
    QString name;            ///< in words

    bool operator==(const DataChoice&) const = default;
};

class DataChooser : public QWidget {
    Q_OBJECT
public:
    explicit DataChooser(QWidget* parent = nullptr);

    /// Sets the choice without emitting a signal.
    void setCurrent(const DataChoice& choice);
    /// The run that is offered with its splits; empty: none.
    void setRun(const QString& path, const QString& name);
    /// Adds a file or folder to the front of the imported ones.
    void remember(const DataChoice& choice);
    void forget(const QString& path);
    QStringList files() const;
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
    /// Edited options by kind, or by kind and task if the tasks have different sizes.
    std::map<std::string, DataOptions> m_options;
    DataOptions& optionsOf(const std::string& kind, const std::string& task);
    std::int64_t m_epoch = 0;
    QString m_run, m_runName;
    std::vector<DataChoice> m_files;
};

}  // namespace relascope::app
