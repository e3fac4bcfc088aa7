// The left side of the Data page: which data, and the options of those that are generated.
#pragma once

#include <QStringList>
#include <QWidget>
#include <cstdint>

#include "types/data_options.h"

class QListWidget;
class QListWidgetItem;
class QPushButton;

namespace relascope {

class OptionsForm;

/// Data that can be opened.
struct DataChoice {
    enum class Kind { Generated, File, Run };
    Kind kind = Kind::Generated;
    DataOptions options;    ///< Generated
    std::int64_t pass = 0;  ///< Generated and streaming: which pass over the training set
    QString path;           ///< File: the .npz; Run: the run folder
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
    /// Puts a file in front of those imported before.
    void remember(const QString& path);
    void forget(const QString& path);
    const QStringList& files() const { return m_files; }
    QListWidget* list() const { return m_list; }
    OptionsForm* form() const { return m_form; }
    QPushButton* importButton() const { return m_import; }

Q_SIGNALS:
    void chosen(const relascope::DataChoice& choice);
    void importRequested();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void fill();
    void mark();
    void showForm();
    void itemMenu(const QPoint& at);
    DataChoice choiceOf(const QListWidgetItem* item) const;
    QListWidgetItem* addHead(const QString& title);
    QListWidgetItem* addLine(const DataChoice& choice, const QString& note);

    QListWidget* m_list;
    OptionsForm* m_form;
    QPushButton* m_import;
    DataChoice m_current;
    DataOptions m_options;  ///< of the form, for whichever task
    std::int64_t m_pass = 0;
    QString m_run, m_runName;
    QStringList m_files;
};

}  // namespace relascope
