// Browse any data: a grid of samples, one large, statistics; generated, imported or a run's own.
#pragma once

#include <QWidget>
#include <functional>

#include "app/app_context.h"
#include "types/relation_map.h"

class QComboBox;
class QPushButton;
class QSplitter;

namespace relascope {

class DataChooser;
class DataSource;
class ErrorStrip;
class JobStrip;
class PanelHead;
class SampleGrid;
class SampleView;
class StatisticsView;
struct DataChoice;
struct DataStatistics;

class DataPage : public QWidget {
    Q_OBJECT
public:
    explicit DataPage(AppContext& context, QWidget* parent = nullptr);

    /// Reads a .npz file off the window's thread and shows it; a bad one changes nothing but the
    /// error.
    void importFile(const QString& path);
    void showPicture(const QString& path);
    /// Saves the first `count` of the images shown.
    void saveTo(const QString& path, qint64 count);

    DataChooser* chooser() const { return m_chooser; }
    DataSource* source() const { return m_source; }
    SampleGrid* grid() const { return m_grid; }
    SampleView* sampleView() const { return m_sample; }
    StatisticsView* statistics() const { return m_statistics; }
    QComboBox* partBox() const { return m_part; }
    QComboBox* labelBox() const { return m_label; }
    QPushButton* saveButton() const { return m_save; }
    QPushButton* trainButton() const { return m_train; }
    JobStrip* readStrip() const { return m_reading; }
    JobStrip* saveStrip() const { return m_saving; }
    QString errorSentence() const;

    /// Ask for paths and the number of images; replaced in tests. An empty path or 0 means never
    /// mind.
    std::function<QString()> askImportPath;
    std::function<QString(const QString& suggested)> askSavePath;
    std::function<qint64(qint64 most)> askCount;

Q_SIGNALS:
    /// "Train on this": data.path of the options that Start begins with.
    void trainOnRequested(const QString& path);

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
    void offerRun();
    void saveShown();
    QWidget* middle();
    QWidget* right();

    AppContext m_context;
    DataChooser* m_chooser;
    DataSource* m_source;
    SampleGrid* m_grid;
    SampleView* m_sample;
    StatisticsView* m_statistics;
    PanelHead *m_head, *m_sampleHead, *m_statisticsHead;
    QComboBox *m_part, *m_label;
    QPushButton *m_save, *m_train;
    JobStrip *m_reading, *m_saving;
    ErrorStrip* m_error;
    QString m_imported;  ///< file being read, which joins the list once it is
};

}  // namespace relascope
