// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/hub_dialog.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QSignalBlocker>
#include <QVBoxLayout>
#include <algorithm>

#include "app/controllers/hub_models.h"
#include "app/pages/data_source.h"
#include "hub/hub_cache.h"
#include "types/error.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace relascope::app {
namespace {

constexpr int kHubName = Qt::UserRole;

/// Why a text is no name of a model; empty if it is one.
QString hubNameProblem(const QString& text) {
    try {
        core::hubModel(text.toStdString());
        return {};
    } catch (const OptionError& error) {
        return QString::fromStdString(error.message());
    }
}

}  // namespace

HubDialog::HubDialog(HubModels& models, QWidget* parent)
    : QDialog(parent),
      m_models(models),
      m_name(new QLineEdit(this)),
      m_list(new QListWidget(this)),
      m_note(widgets::mutedLabel({}, this)),
      m_error(new ErrorStrip(this)),
      m_strip(new JobStrip(this)),
      m_open(new QPushButton(this)) {
    setWindowTitle(QStringLiteral("Open from hub"));
    resize(680, 460);
    m_name->setPlaceholderText(
        QStringLiteral("ORG/NAME, ORG/NAME@REVISION, or ORG/NAME@* for all of them"));
    m_name->setAccessibleName(QStringLiteral("Model"));
    m_name->setFont(widgets::monoFont(12));
    m_name->setClearButtonEnabled(true);
    m_list->setAccessibleName(QStringLiteral("Models"));
    m_list->setAlternatingRowColors(false);
    m_list->setWordWrap(true);
    m_list->setSpacing(4);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_note->setWordWrap(true);
    m_note->setTextFormat(Qt::PlainText);
    m_strip->setDelay(0);
    m_strip->follow(m_models.task());
    m_open->setProperty("primary", true);
    m_open->setDefault(true);
    auto* cancel = new QPushButton(QStringLiteral("Close"), this);
    cancel->setAutoDefault(false);
    auto* buttons = new QHBoxLayout;
    buttons->setSpacing(8);
    buttons->addWidget(m_note, 1);
    buttons->addWidget(cancel);
    buttons->addWidget(m_open);
    auto* column = widgets::columnOf(this, {20, 16, 20, 16}, 12);
    column->addWidget(m_name);
    column->addWidget(m_list, 1);
    column->addWidget(m_error);
    column->addWidget(m_strip);
    column->addLayout(buttons);
    connect(m_name, &QLineEdit::textChanged, this, [this] {
        m_error->setSentence({});
        fill();
    });
    connect(m_list, &QListWidget::itemClicked, this, [this](const QListWidgetItem* item) {
        m_name->setText(item->data(kHubName).toString());
    });
    connect(m_list, &QListWidget::itemActivated, this, [this](const QListWidgetItem* item) {
        m_name->setText(item->data(kHubName).toString());
        confirm();
    });
    connect(m_open, &QPushButton::clicked, this, &HubDialog::confirm);
    connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
    connect(&m_models, &HubModels::changed, this, &HubDialog::fill);
    connect(&m_models, &HubModels::progressed, m_note, &QLabel::setText);
    connect(&m_models.task(), &LongTask::began, this, &HubDialog::judge);
    connect(&m_models.task(), &LongTask::ended, this, &HubDialog::judge);
    connect(&m_models, &HubModels::failed, m_error, &ErrorStrip::setSentence);
    connect(&m_models, &HubModels::fetched, this, [this](const QString& name, const QString& path) {
        if (name != m_name->text().trimmed()) return;
        m_path = path;
        accept();
    });
    m_models.refresh();
    fill();
}

const HubEntry* HubDialog::find(const QString& name) const {
    for (const auto* list : {&m_models.cached(), &HubModels::published()})
        for (const auto& entry : *list)
            if (entry.name.compare(name, Qt::CaseInsensitive) == 0) return &entry;
    return nullptr;
}

/// Lists the models whose names contain the text, cached ones first; all if the text is empty or
/// was chosen from the list.
void HubDialog::fill() {
    const QString text = m_name->text().trimmed();
    const bool all = text.isEmpty() || find(text);
    const QSignalBlocker quiet(m_list);
    m_list->clear();
    QStringList shown;
    for (const auto* list : {&m_models.cached(), &HubModels::published()})
        for (const auto& entry : *list) {
            if (shown.contains(entry.name, Qt::CaseInsensitive) ||
                !(all || entry.name.contains(text, Qt::CaseInsensitive)))
                continue;
            shown << entry.name;
            QStringList facts{entry.size, entry.about, entry.licence};
            facts.removeAll(QString());
            auto* item = new QListWidgetItem(
                widgets::icon(entry.path.isEmpty() ? "download" : "cube"),
                entry.name + u'\n' +
                    (entry.problem.isEmpty() ? facts.join(QStringLiteral(" \u00B7 "))
                                             : entry.problem),
                m_list);
            item->setData(kHubName, entry.name);
            item->setToolTip(widgets::plainTip(
                entry.path.isEmpty() ? QStringLiteral("Not in the cache") : entry.path));
            if (entry.name.compare(text, Qt::CaseInsensitive) == 0) m_list->setCurrentItem(item);
        }
    judge();
}

void HubDialog::judge() {
    const QString name = m_name->text().trimmed();
    const auto* entry = find(name);
    const bool cached = entry && !entry->path.isEmpty();
    const QString problem = name.isEmpty() ? QStringLiteral("Choose a model, or type its name")
                            : cached       ? entry->problem
                                           : hubNameProblem(name);
    m_open->setText(cached ? QStringLiteral("Open") : QStringLiteral("Fetch and open"));
    m_open->setEnabled(problem.isEmpty() && !m_models.task().busy());
    if (!m_models.task().busy())
        m_note->setText(!problem.isEmpty() ? problem
                        : cached           ? QString()
                        : name.endsWith(u"@*")
                            ? QStringLiteral("Its revisions become the steps of one run; one is "
                                             "fetched now, others when they are looked at")
                            : QStringLiteral("It is fetched into the cache of the hub"));
}

void HubDialog::confirm() {
    if (!m_open->isEnabled()) return;
    const QString name = m_name->text().trimmed();
    m_error->setSentence({});
    if (const auto* entry = find(name); entry && !entry->path.isEmpty()) {
        m_path = entry->path;
        return accept();
    }
    m_models.fetch(name);
}

}  // namespace relascope::app
