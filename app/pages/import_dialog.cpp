// SPDX-License-Identifier: GPL-3.0-or-later
#include <QComboBox>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QLineEdit>
#include <QMimeData>
#include <QPushButton>
#include <QTimer>
#include <QUrl>
#include <QVBoxLayout>

#include "app/controllers/examples.h"
#include "app/controllers/job_queue.h"
#include "app/pages/import_dialog.h"
#include "types/data_kind.h"
#include "widgets/form/field_form.h"
#include "widgets/theme/controls.h"

namespace relascope::app {

ImportDialog::ImportDialog(QWidget* parent)
    : QDialog(parent),
      m_path(new QLineEdit(this)),
      m_kind(new QComboBox(this)),
      m_task(new QComboBox(this)),
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
        this, [path](std::stop_token) { return core::guessImport(path); },
        [this, request](const core::ImportGuess& guess) {
            if (request == m_request) take(guess);
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
    judge();
}

void ImportDialog::kindChosen() {
    const auto id = m_kind->currentData().toString().toStdString();
    m_task->clear();
    if (!id.empty())
        if (const auto& [kind, form] = dataImport(id); form->asksTask)
            for (const auto& task : kind->taskNames())
                m_task->addItem(taskTitle(kind->name, task), QString::fromStdString(task));
    m_form->setShown(m_task, m_task->count() > 0);
    judge();
}

void ImportDialog::judge() {
    const bool chosen = m_kind->currentIndex() >= 0;
    m_import->setEnabled(chosen && !m_validating && !m_path->text().trimmed().isEmpty());
    widgets::growToFit(this);
    if (m_validating) return m_note->setHint(QString::fromUtf8("Detecting the format\u2026"));
    if (m_path->text().trimmed().isEmpty())
        return m_note->setHint(QStringLiteral("Choose a file or a folder."));
    if (!chosen) return m_note->setProblem(m_path->text().trimmed() + u' ' + m_found);
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
    return core::importOptions(m_kind->currentData().toString().toStdString(),
                               m_task->currentData().toString().toStdString(), m_read);
}

}  // namespace relascope::app
