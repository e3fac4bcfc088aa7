// SPDX-License-Identifier: GPL-3.0-or-later
#include <QComboBox>
#include <QDirIterator>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QImageReader>
#include <QLineEdit>
#include <QMimeData>
#include <QPushButton>
#include <QTimer>
#include <QUrl>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "app/controllers/examples.h"
#include "app/controllers/job_queue.h"
#include "app/pages/import_dialog.h"
#include "types/data_kind.h"
#include "widgets/form/field_form.h"
#include "widgets/theme/controls.h"

namespace relascope::app {
namespace {

constexpr const char* kFolderOfImages = "folder";  ///< the form of images in folders

QString textOf(const std::string& text) {
    return QString::fromStdString(text);
}

/// The size of the first pictures below a folder, by their heads; empty where they differ.
QSize sizeOfPictures(const QString& folder) {
    constexpr int kLooked = 40;
    QSize found;
    QDirIterator files(folder, {"*.png", "*.jpg", "*.jpeg", "*.PNG", "*.JPG", "*.JPEG"},
                       QDir::Files, QDirIterator::Subdirectories);
    for (int k = 0; k < kLooked && files.hasNext(); ++k) {
        const QSize size = QImageReader(files.next()).size();
        if (!size.isValid()) continue;
        if (found.isValid() && size != found) return {};
        found = size;
    }
    return found;
}

QString sizeText(int width, int height) {
    return QStringLiteral("%1 x %2").arg(width).arg(height);
}

}  // namespace

ImportDialog::ImportDialog(QWidget* parent)
    : QDialog(parent),
      m_path(new QLineEdit(this)),
      m_kind(new QComboBox(this)),
      m_task(new QComboBox(this)),
      m_images{new QComboBox(this), new QComboBox(this)},
      m_labels{new QComboBox(this), new QComboBox(this)},
      m_side(new QComboBox(this)),
      m_form(new widgets::FieldForm(this)),
      m_import(new QPushButton(QStringLiteral("Import"), this)),
      m_pause(new QTimer(this)),
      m_jobs(std::make_unique<JobQueue>()) {
    setWindowTitle(QStringLiteral("Import data"));
    setMinimumWidth(520);
    setAcceptDrops(true);
    m_path->setAcceptDrops(false);  // it would take the address as text
    askFile = [this] {
        return QFileDialog::getOpenFileName(this, QStringLiteral("A file with data"),
                                            m_path->text());
    };
    askFolder = [this] {
        return QFileDialog::getExistingDirectory(this, QStringLiteral("A folder with data"),
                                                 m_path->text());
    };
    auto* file = new QPushButton(QString::fromUtf8("File\u2026"), this);
    auto* folder = new QPushButton(QString::fromUtf8("Folder\u2026"), this);
    m_path->setPlaceholderText(QStringLiteral("A file or a folder; you can drop it here"));
    m_path->setAccessibleName(QStringLiteral("Source"));
    auto* source = new QWidget(this);
    source->setFocusProxy(m_path);
    auto* row = widgets::rowOf(source, {}, 12);
    row->addWidget(m_path, 1);
    row->addWidget(file);
    row->addWidget(folder);
    for (const auto& import : dataImports())
        m_kind->addItem(QString::fromStdString(import.form->title),
                        QString::fromStdString(import.form->id));
    m_kind->setCurrentIndex(-1);
    m_kind->setPlaceholderText(QStringLiteral("detected from the contents"));
    m_form->add(QStringLiteral("Source"), source);
    m_note = m_form->add(QStringLiteral("Format"), m_kind);
    m_form->add(QStringLiteral("Task"), m_task);
    m_form->add(QStringLiteral("Images"), m_images[0]);
    m_form->add(QStringLiteral("Labels"), m_labels[0]);
    m_form->add(QStringLiteral("Test images"), m_images[1]);
    m_form->add(QStringLiteral("Test labels"), m_labels[1]);
    m_form->add(QStringLiteral("Size"), m_side);
    for (std::size_t pair = 0; pair < m_images.size(); ++pair)
        connect(m_images[pair], &QComboBox::activated, this, [this, pair] {
            fillLabels(static_cast<int>(pair), {});
            judge();
        });
    auto* column = widgets::columnOf(this, {20, 16, 20, 16}, 16);
    auto* body = new widgets::DialogBody(this);
    body->inside()->setLayout(m_form);
    m_form->setContentsMargins(0, 0, 0, 0);
    column->addWidget(body, 1);
    column->addLayout(widgets::dialogButtons(this, {m_import}));

    m_pause->setSingleShot(true);
    m_pause->setInterval(200);  // behind the last key
    connect(m_pause, &QTimer::timeout, this, &ImportDialog::validate);
    connect(m_path, &QLineEdit::textChanged, this, [this] {
        m_validating = !m_path->text().trimmed().isEmpty();
        m_own = false;
        m_pause->start();
        judge();
    });
    connect(file, &QPushButton::clicked, this, [this] {
        if (const QString path = askFile(); !path.isEmpty()) setPath(path);
    });
    connect(folder, &QPushButton::clicked, this, [this] {
        if (const QString path = askFolder(); !path.isEmpty()) setPath(path);
    });
    connect(m_kind, &QComboBox::activated, this, [this] {
        m_own = true;
        m_read = m_path->text().trimmed().toStdString();
        kindChosen();
    });
    connect(m_import, &QPushButton::clicked, this, &QDialog::accept);
    kindChosen();
}

ImportDialog::~ImportDialog() = default;

void ImportDialog::setPath(const QString& path) {
    m_path->setText(path);
    m_pause->stop();
    validate();
}

void ImportDialog::validate() {
    const std::string path = m_path->text().trimmed().toStdString();
    const quint64 request = ++m_request;
    if (path.empty()) {
        m_validating = false;
        return judge();
    }
    m_validating = true;
    judge();
    m_jobs->post(
        this,
        [path](std::stop_token) {
            const auto guess = core::guessImport(path);
            return std::pair(guess, guess.id == kFolderOfImages
                                        ? sizeOfPictures(QString::fromStdString(guess.path))
                                        : QSize());
        },
        [this, request](const std::pair<core::ImportGuess, QSize>& found) {
            if (request != m_request) return;
            m_size = found.second;
            take(found.first);
        });
}

void ImportDialog::take(const core::ImportGuess& guess) {
    m_validating = false;
    m_read = guess.path;
    m_found = QString::fromStdString(guess.text);
    if (!m_own) {
        m_kind->setCurrentIndex(
            guess.id.empty() ? -1 : m_kind->findData(QString::fromStdString(guess.id)));
        kindChosen();
        if (!guess.task.empty())
            m_task->setCurrentIndex(m_task->findData(QString::fromStdString(guess.task)));
    }
    offerArrays(guess);
    offerSides();
    judge();
}

// Where the arrays have the usual names there is nothing to choose.
void ImportDialog::offerArrays(const core::ImportGuess& guess) {
    m_arrays = guess.arrays;
    const bool none = guess.id == "npz" && guess.chosen.images.empty();
    m_problem = none ? m_path->text().trimmed() + u' ' + textOf(guess.text) : QString();
    if (none) m_found.clear();
    const bool usual = guess.chosen.words() == "images,labels" && m_arrays.size() == 2;
    const bool asks = !usual && !guess.chosen.images.empty();
    const std::array images{guess.chosen.images, guess.chosen.testImages},
        labels{guess.chosen.labels, guess.chosen.testLabels};
    for (std::size_t pair = 0; pair < m_images.size(); ++pair) {
        auto& box = *m_images[pair];
        box.clear();
        if (pair > 0) box.addItem(QStringLiteral("none: a part of the images"), QString());
        for (const auto& one : m_arrays)
            if (asks && core::areImages(one.header))
                box.addItem(textOf(one.text()), textOf(one.name));
        box.setCurrentIndex(std::max(0, box.findData(textOf(images[pair]))));
        m_form->setShown(&box, asks && (pair == 0 || box.count() > 2));
        fillLabels(static_cast<int>(pair), labels[pair]);
    }
}

void ImportDialog::fillLabels(int pair, const std::string& chosen) {
    const auto at = static_cast<std::size_t>(pair);
    auto& box = *m_labels[at];
    box.clear();
    const auto name = m_images[at]->currentData().toString().toStdString();
    const auto images = std::find_if(m_arrays.begin(), m_arrays.end(),
                                     [&](const auto& one) { return one.name == name; });
    if (images != m_arrays.end())
        for (const auto& one : m_arrays)
            if (core::areLabels(one.header, images->header.shape[0]))
                box.addItem(textOf(one.text()), textOf(one.name));
    box.setCurrentIndex(box.count() == 0 ? -1 : std::max(0, box.findData(textOf(chosen))));
    m_form->setShown(&box, images != m_arrays.end() && !m_images[at]->isHidden());
}

void ImportDialog::offerSides() {
    const int usual = static_cast<int>(DataOptions().image_side);
    m_side->clear();
    const bool square = m_size.isValid() && m_size.width() == m_size.height();
    const QString from = m_size.isValid() ? sizeText(m_size.width(), m_size.height()) : QString();
    if (square) m_side->addItem(from + QStringLiteral(", as they are"), m_size.width());
    for (const int side : {usual, 64, 128, 224})
        if (!square || side != m_size.width())
            m_side->addItem((from.isEmpty() ? QString() : from + QStringLiteral(", ")) +
                                QStringLiteral("scaled to ") + sizeText(side, side),
                            side);
    // Large pictures make a model slow; small ones are what they are.
    m_side->setCurrentIndex(square && m_size.width() <= 64 ? 0 : m_side->findData(usual));
    m_form->setShown(m_side, m_kind->currentData().toString() == kFolderOfImages);
}

void ImportDialog::kindChosen() {
    const auto id = m_kind->currentData().toString().toStdString();
    m_task->clear();
    if (!id.empty())
        if (const auto& [kind, form] = dataImport(id); form->asksTask)
            for (const auto& task : kind->taskNames())
                m_task->addItem(taskTitle(kind->name, task), QString::fromStdString(task));
    m_form->setShown(m_task, m_task->count() > 0);
    offerSides();
    judge();
}

void ImportDialog::judge() {
    const bool chosen = m_kind->currentIndex() >= 0;
    const bool labelled = m_images[0]->count() == 0 || m_labels[0]->currentIndex() >= 0;
    m_import->setEnabled(chosen && labelled && !m_validating && m_problem.isEmpty() &&
                         !m_path->text().trimmed().isEmpty());
    widgets::growToFit(this);
    if (m_validating) return m_note->setHint(QString::fromUtf8("Detecting the format\u2026"));
    if (m_path->text().trimmed().isEmpty())
        return m_note->setHint(QStringLiteral("Choose a file or a folder."));
    if (!chosen) return m_note->setProblem(m_path->text().trimmed() + u' ' + m_found);
    if (!m_problem.isEmpty()) return m_note->setProblem(m_problem);
    if (!labelled)
        return m_note->setProblem(QStringLiteral("No array has a label for each of these images."));
    const QString help = QString::fromStdString(
        dataImport(m_kind->currentData().toString().toStdString()).form->help);
    m_note->setHint(m_own || m_found.isEmpty() ? help : help + u' ' + m_found + u'.');
}

void ImportDialog::dragEnterEvent(QDragEnterEvent* event) {
    const auto urls = event->mimeData()->urls();
    if (urls.size() == 1 && urls.first().isLocalFile()) event->acceptProposedAction();
}
void ImportDialog::dropEvent(QDropEvent* event) {
    setPath(event->mimeData()->urls().first().toLocalFile());
    event->acceptProposedAction();
}

QString ImportDialog::note() const {
    return m_note->text();
}

DataOptions ImportDialog::options() const {
    auto options = core::importOptions(m_kind->currentData().toString().toStdString(),
                                       m_task->currentData().toString().toStdString(), m_read);
    const auto chosen = [](const QComboBox* box) {
        return box->currentData().toString().toStdString();
    };
    core::ImageArrays arrays{chosen(m_images[0]), chosen(m_labels[0]), chosen(m_images[1]),
                             chosen(m_labels[1])};
    if (arrays.testLabels.empty()) arrays.testImages.clear();
    if (!arrays.images.empty()) options.arrays = arrays.words();
    if (!m_side->isHidden()) options.image_side = m_side->currentData().toInt();
    return options;
}

}  // namespace relascope::app
