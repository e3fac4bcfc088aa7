// SPDX-License-Identifier: GPL-3.0-or-later
// The Data page: a grid of samples, one enlarged, and statistics, of generated or imported data or
// of a run.
#pragma once

#include <QWidget>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/app_context.h"
#include "app/controllers/own_data.h"
#include "app/pages/data_chooser.h"
#include "types/data_example.h"
#include "types/data_options.h"
#include "types/dataset_info.h"
#include "types/view.h"

class QComboBox;
class QLabel;
class QPushButton;
class QSplitter;

namespace relascope::widgets {
class PanelHead;
class SampleGrid;
class SampleView;
class StatisticsView;
}  // namespace relascope::widgets

namespace relascope::app {

class DataSource;
class ErrorStrip;
class JobQueue;
class JobStrip;

class DataPage : public QWidget {
    Q_OBJECT
public:
    explicit DataPage(AppContext& context, QWidget* parent = nullptr);
    ~DataPage() override;

    /// Reads files off the window's thread and shows them; on an error only the message changes.
    void importData(const DataOptions& options);
    /// Imports a file or folder whose form can be detected; asks for the form otherwise.
    void importFile(const QString& path);
    /// Asks for data to import and reads them.
    void importWanted(const QString& path = {});
    void showPicture(const QString& path);
    /// Saves the first `count` examples shown.
    void saveTo(const QString& path, qint64 count);

    DataChooser* chooser() const { return m_chooser; }
    DataSource* source() const { return m_source; }
    widgets::SampleGrid* grid() const { return m_grid; }
    widgets::StatisticsView* statistics() const { return m_statistics; }
    QComboBox* splitBox() const { return m_split; }
    QPushButton* saveButton() const { return m_save; }
    JobStrip* saveStrip() const { return m_saving; }
    QString errorSentence() const;

    /// Ask for data to import (a path may be known), for a path and for a number of examples;
    /// replaced in tests. Nothing, an empty path or 0 means cancelled.
    std::function<std::optional<DataOptions>(const QString& path)> askImport;
    std::function<QString(const QString& suggested)> askSavePath;
    std::function<qint64(qint64 most)> askCount;

Q_SIGNALS:
    /// "Set up training" with files of the user's own.
    void setUpRequested(const relascope::app::OwnData& own);
    /// "Set up training" with other data: kind, task, path and the named fields are copied to the
    /// options of the next run.
    void trainOnRequested(const relascope::DataOptions& data,
                          const std::vector<std::string>& fields,
                          const relascope::DatasetInfo& info);

protected:
    void showEvent(QShowEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    void layOut();
    void wire();
    void asking();
    void open(const DataChoice& choice);
    void opened();
    void shown();
    void chosen(qint64 index);
    void count(const DataStatistics& statistics);
    void fail(const QString& sentence);
    void clearSample();
    /// What the views are of, for captions: "Between, train".
    QString subject() const;
    void offerRun();
    void trainOn();
    void saveShown();
    QWidget* middle();
    QWidget* right();

    AppContext m_context;
    DataChooser* m_chooser;
    DataSource* m_source;
    widgets::SampleGrid* m_grid;
    widgets::SampleView* m_sample;
    widgets::StatisticsView* m_statistics;
    widgets::PanelHead *m_head, *m_sampleHead, *m_statisticsHead;
    QComboBox *m_split, *m_label;
    QPushButton *m_save, *m_train;
    QLabel* m_labelWord;
    JobStrip *m_reading, *m_saving;
    ErrorStrip* m_error;
    // What the views show at the moment, which the source may have left by then.
    std::optional<View> m_sampleView, m_statisticsView;
    QString m_sampleCaption, m_statisticsCaption;
    std::optional<DataChoice> m_imported;  ///< being read; added to the list afterwards
    std::unique_ptr<JobQueue> m_jobs;      ///< reads what is imported
};

}  // namespace relascope::app
