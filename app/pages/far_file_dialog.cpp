// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/far_file_dialog.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QVBoxLayout>

#include "app/pages/data_source.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"
#include "wire/host.h"

namespace relascope::app {
namespace {

enum { kFarName = Qt::UserRole, kFarIsFolder };

QString joinedPath(const QString& folder, const QString& name) {
    return folder.endsWith(u'/') ? folder + name : folder + u'/' + name;
}

}  // namespace

FarFileDialog::FarFileDialog(const QString& host, Choice choice, const QString& start,
                             QWidget* parent)
    : QDialog(parent),
      m_host(host),
      m_choice(choice),
      m_path(new QLineEdit(this)),
      m_list(new QListWidget(this)),
      m_note(widgets::mutedLabel({}, this)),
      m_error(new ErrorStrip(this)),
      m_strip(new JobStrip(this)),
      m_up(new QPushButton(QStringLiteral("Up"), this)),
      m_choose(new QPushButton(QStringLiteral("Open"), this)),
      m_this(new QPushButton(QStringLiteral("Choose this folder"), this)),
      m_session(std::make_shared<wire::Session>()),
      m_jobs(std::make_unique<JobQueue>()) {
    setWindowTitle((choice == Choice::File     ? QStringLiteral("Choose a file on %1")
                    : choice == Choice::Folder ? QStringLiteral("Choose a folder on %1")
                                               : QStringLiteral("Choose a file or folder on %1"))
                       .arg(host));
    resize(620, 460);
    m_path->setAccessibleName(QStringLiteral("Path on %1").arg(host));
    m_path->setFont(widgets::monoFont(12));
    m_list->setAccessibleName(QStringLiteral("Files on %1").arg(host));
    m_list->setUniformItemSizes(true);
    m_up->setToolTip(QStringLiteral("Show the folder that this one is in (Backspace)"));
    m_strip->follow(m_task);
    auto* head = new QHBoxLayout;
    head->setSpacing(8);
    head->addWidget(m_path, 1);
    head->addWidget(m_up);
    auto* cancel = new QPushButton(QStringLiteral("Cancel"), this);
    for (auto* button : {m_up, cancel, m_choose, m_this}) button->setAutoDefault(false);
    (choice == Choice::Folder ? m_this : m_choose)->setProperty("primary", true);
    m_this->setVisible(choice != Choice::File);
    auto* buttons = new QHBoxLayout;
    buttons->setSpacing(8);
    buttons->addWidget(m_note, 1);
    for (auto* button : {cancel, m_this, m_choose}) buttons->addWidget(button);
    auto* column = widgets::columnOf(this, {20, 16, 20, 16}, 12);
    column->addLayout(head);
    column->addWidget(m_error);
    column->addWidget(m_strip);
    column->addWidget(m_list, 1);
    column->addLayout(buttons);
    connect(m_path, &QLineEdit::returnPressed, this, [this] { enter(m_path->text().trimmed()); });
    connect(m_up, &QPushButton::clicked, this, [this] {
        const auto end = m_folder.lastIndexOf(u'/');
        enter(end > 0 ? m_folder.left(end) : QStringLiteral("/"));
    });
    connect(m_list, &QListWidget::itemActivated, this, &FarFileDialog::activate);
    connect(m_list, &QListWidget::currentItemChanged, this, &FarFileDialog::chosenChanged);
    connect(m_choose, &QPushButton::clicked, this, [this] { activate(m_list->currentItem()); });
    connect(m_this, &QPushButton::clicked, this, [this] {
        m_chosen = m_folder;
        accept();
    });
    connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
    connect(m_strip, &JobStrip::cancelled, this, &QDialog::reject);
    chosenChanged();
    enter(start);
}

FarFileDialog::~FarFileDialog() = default;

QString FarFileDialog::choose(const QString& host, Choice choice, const QString& start,
                              QWidget* parent) {
    FarFileDialog dialog(host, choice, start, parent);
    return dialog.exec() == Accepted ? dialog.path() : QString();
}

QString FarFileDialog::path() const {
    return QString::fromStdString(wire::mirrorPath(m_host.toStdString(), m_chosen.toStdString()));
}

void FarFileDialog::enter(const QString& folder) {
    m_error->setSentence({});
    m_task.run(
        *m_jobs, QStringLiteral("Asking %1").arg(m_host),
        [session = m_session, host = m_host.toStdString(), path = folder.toStdString()](
            LongJob& job, std::stop_token stop) {
            return wire::listFolder(*session, host, path, job.callback(std::move(stop)));
        },
        [this](const wire::Folder& listed) { take(listed); },
        [this](const QString& sentence) {
            m_error->setSentence(sentence);
            m_path->setText(m_folder);
        });
}

void FarFileDialog::take(const wire::Folder& folder) {
    m_folder = QString::fromStdString(folder.path);
    m_path->setText(m_folder);
    m_up->setEnabled(m_folder != QLatin1String("/"));
    m_list->clear();
    for (const auto& entry : folder.entries) {
        // The text comes from another machine, so it is shown as one plain line.
        const QString name = QString::fromStdString(entry.name);
        auto* item = new QListWidgetItem(
            widgets::icon(entry.folder ? "folder" : "note"),
            entry.folder ? name.simplified()
                         : name.simplified() + QStringLiteral("   ") +
                               widgets::byteSize(static_cast<quint64>(entry.size)),
            m_list);
        item->setData(kFarName, name);
        item->setData(kFarIsFolder, entry.folder);
    }
    m_note->setText(folder.cut ? QStringLiteral("Only the first %1 are shown; type a path above")
                                     .arg(folder.entries.size())
                               : QString());
    m_list->setCurrentRow(m_list->count() > 0 ? 0 : -1);
    m_list->setFocus();
    chosenChanged();
}

void FarFileDialog::chosenChanged() {
    const auto* item = m_list->currentItem();
    const bool folder = item && item->data(kFarIsFolder).toBool();
    m_choose->setText(folder ? QStringLiteral("Open") : QStringLiteral("Choose"));
    m_choose->setEnabled(folder || (item && m_choice != Choice::Folder));
    m_this->setEnabled(!m_folder.isEmpty());
    m_this->setToolTip(m_folder);
}

void FarFileDialog::activate(const QListWidgetItem* item) {
    if (!item) return;
    const QString path = joinedPath(m_folder, item->data(kFarName).toString());
    if (item->data(kFarIsFolder).toBool()) return enter(path);
    if (m_choice == Choice::Folder) return;
    m_chosen = path;
    accept();
}

void FarFileDialog::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Backspace && m_up->isEnabled()) return m_up->click();
    QDialog::keyPressEvent(event);
}

}  // namespace relascope::app
