// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/hosts_dialog.h"

#include <QCheckBox>
#include <QCompleter>
#include <QDir>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPainter>
#include <QPushButton>
#include <QRegularExpression>
#include <QStackedWidget>
#include <QStyledItemDelegate>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "app/controllers/hosts_controller.h"
#include "app/help.h"
#include "app/pages/host_check.h"
#include "types/error.h"
#include "widgets/form/field_form.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::app {
namespace {

enum HostRole { kStatus = Qt::UserRole, kState };
enum class Shown { Unsaved, Connecting, Connected, Lost };

/// Paints a machine in 42 px: its name, and below it the state of its connection.
class HostDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override {
        return {100, 42};
    }
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        const auto& t = widgets::Theme::current();
        painter->save();
        if (option.state & QStyle::State_Selected)
            painter->fillRect(option.rect, t.selection);
        else if (option.state & QStyle::State_MouseOver)
            painter->fillRect(option.rect, t.hover);
        const auto state = static_cast<Shown>(index.data(kState).toInt());
        painter->setRenderHint(QPainter::Antialiasing);
        painter->setPen(QPen(state == Shown::Unsaved ? t.faint : Qt::transparent, 1));
        painter->setBrush(state == Shown::Connected    ? t.ok
                          : state == Shown::Connecting ? t.muted
                          : state == Shown::Lost       ? t.warning
                                                       : QColor(Qt::transparent));
        const QRect r = option.rect.adjusted(12, 0, -12, 0);
        painter->drawEllipse(QRectF(r.left() + 0.5, r.top() + 10.5, 7, 7));
        QFont face = widgets::bodyFont();
        face.setWeight(QFont::Medium);
        painter->setFont(face);
        const QString name = index.data(Qt::DisplayRole).toString();
        painter->setPen(name.isEmpty() ? t.muted : t.text);
        widgets::paint::elidedText(
            *painter, {r.left() + 18, r.top() + 4, r.width() - 18, 19}, Qt::AlignVCenter,
            name.isEmpty() ? QStringLiteral("New machine") : name, Qt::ElideMiddle);
        painter->setFont(widgets::captionFont());
        painter->setPen(t.muted);
        widgets::paint::elidedText(*painter, {r.left() + 18, r.top() + 22, r.width() - 18, 15},
                                   Qt::AlignVCenter, index.data(kStatus).toString());
        painter->restore();
    }
};

QString proposedReach(const QString& name) {
    return name.isEmpty() ? QString() : QStringLiteral("ssh ") + name;
}

QString sentence(const std::string& text) {
    QString shown = QString::fromStdString(text);
    if (!shown.isEmpty()) shown[0] = shown[0].toUpper();
    return shown;
}

}  // namespace

QStringList sshHosts(const QString& config) {
    static const QRegularExpression key(QStringLiteral("^\\s*host(?:\\s*=\\s*|\\s+)(.*)$"),
                                        QRegularExpression::CaseInsensitiveOption);
    QStringList names;
    for (const QString& line : config.split(u'\n')) {
        const auto match = key.match(line);
        if (!match.hasMatch()) continue;
        try {
            for (const auto& word : wire::wordsOf(match.captured(1).trimmed().toStdString(), "")) {
                if (word.starts_with('#')) break;
                const QString name = QString::fromStdString(word);
                // A name that begins with a dash would be an option of ssh.
                if (!name.contains(u'*') && !name.contains(u'?') && !name.startsWith(u'!') &&
                    !name.startsWith(u'-') && !name.isEmpty())
                    names << name;
            }
        } catch (const Error&) {  // an unclosed quote
        }
    }
    names.removeDuplicates();
    return names;
}

HostsDialog::HostsDialog(HostsController& hosts, QWidget* parent)
    : QDialog(parent),
      m_hosts(hosts),
      m_edited(hosts.hosts()),
      m_list(new QListWidget(this)),
      m_add(widgets::iconButton("plus", QStringLiteral("Add a machine"), this)),
      m_remove(widgets::iconButton("minus", QStringLiteral("Remove this machine"), this)),
      m_pages(new QStackedWidget(this)),
      m_views(new QCheckBox(QStringLiteral("Also for views"), this)),
      m_test(new QPushButton(QStringLiteral("Test"), this)),
      m_save(new QPushButton(QStringLiteral("Save"), this)),
      m_check(new HostCheck(this)) {
    setWindowTitle(QStringLiteral("Machines"));
    resize(800, 500);
    m_list->setItemDelegate(new HostDelegate(m_list));
    m_list->setAccessibleName(QStringLiteral("Machines"));
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setMouseTracking(true);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* tools = new QHBoxLayout;
    tools->setContentsMargins(8, 4, 8, 4);
    tools->setSpacing(4);
    tools->addWidget(m_add);
    tools->addWidget(m_remove);
    tools->addStretch(1);
    auto* left = new QWidget(this);
    left->setFixedWidth(220);
    auto* leftColumn = widgets::columnOf(left);
    leftColumn->addWidget(m_list, 1);
    leftColumn->addWidget(widgets::horizontalLine(left));
    leftColumn->addLayout(tools);

    m_pages->addWidget(form());
    auto* none = new widgets::EmptyState(
        QStringLiteral("Train and look into models on other machines: any that a command such as "
                       "ssh reaches."),
        QStringLiteral("Add a machine"), m_pages);
    connect(none, &widgets::EmptyState::activated, this, &HostsDialog::add);
    m_pages->addWidget(none);
    auto* middle = new QHBoxLayout;
    middle->setSpacing(0);
    middle->addWidget(left);
    middle->addWidget(widgets::verticalLine(this));
    middle->addWidget(m_pages, 1);

    auto* bottom = new QVBoxLayout;
    bottom->setContentsMargins(20, 12, 20, 16);
    bottom->addLayout(widgets::dialogButtons(this, {m_save}));
    auto* column = widgets::columnOf(this);
    column->addLayout(middle, 1);
    column->addWidget(widgets::horizontalLine(this));
    column->addLayout(bottom);
    connect(m_save, &QPushButton::clicked, this, &HostsDialog::save);
    connectAll();
    list();
    m_list->setCurrentRow(m_edited.empty() ? -1 : 0);
    showHost();
}

void HostsDialog::connectAll() {
    connect(m_add, &QToolButton::clicked, this, &HostsDialog::add);
    connect(m_remove, &QToolButton::clicked, this, &HostsDialog::remove);
    connect(m_list, &QListWidget::currentRowChanged, this, [this] {
        if (!m_filling) showHost();
    });
    connect(m_test, &QPushButton::clicked, this, &HostsDialog::test);
    connect(m_check, &HostCheck::busyChanged, this, [this](bool busy) {
        for (QWidget* widget :
             std::initializer_list<QWidget*>{m_list, m_fields, m_add, m_remove, m_test, m_save})
            widget->setEnabled(!busy);
    });
    // After a successful check a lost connection is tried again at once.
    connect(m_check, &HostCheck::succeeded, this,
            [this] { m_hosts.refresh(m_name.edit->text().trimmed()); });
    connect(m_check, &HostCheck::helpRequested, this,
            [this] { showDocuments(this, QStringLiteral("far.md#3-install-it-there")); });
    connect(&m_hosts, &HostsController::changed, this, &HostsDialog::showStatus);
    for (const Field* field : {&m_name, &m_reach, &m_launch, &m_runs})
        connect(field->edit, &QLineEdit::textEdited, this,
                [this, edit = field->edit] { edited(edit); });
    connect(m_views, &QCheckBox::toggled, this, [this] { edited(nullptr); });
}

QWidget* HostsDialog::form() {
    auto* page = new QWidget(m_pages);
    m_fields = new QWidget(page);
    auto* form = new widgets::FieldForm(m_fields);
    m_fields->setLayout(form);
    form->setContentsMargins(0, 0, 0, 0);
    const auto field = [&](const char* name, const char* placeholder, const QString& hint,
                           QWidget* beside = nullptr) {
        const QString title = QString::fromLatin1(name);
        auto* edit = new QLineEdit(m_fields);
        edit->setPlaceholderText(QString::fromLatin1(placeholder));
        edit->setAccessibleName(title);
        auto* line = new QWidget(m_fields);
        line->setFocusProxy(edit);
        auto* row = widgets::rowOf(line, {}, 16);
        row->addWidget(edit, 1);
        if (beside) row->addWidget(beside);
        edit->setFont(m_name.edit ? widgets::monoFont(12) : widgets::smallFont());
        auto* note = form->add(title, line);
        note->setHint(hint);
        return Field{edit, note, hint};
    };
    m_views->setFont(widgets::smallFont());
    m_views->setToolTip(
        QStringLiteral("Put it before the processes that open models for views, too"));
    m_name = field("Name", "gpu1", {});
    m_reach = field("Reach", "ssh gpu1",
                    QStringLiteral("A command that runs another one there and passes on what it "
                                   "reads and writes"));
    m_launch =
        field("Launch", "nothing",
              QStringLiteral("Put before trainings there, such as srun --gres=gpu:1"), m_views);
    m_runs = field("Folder of runs", "The program's own folder there", {});

    QFile file(QDir::homePath() + QStringLiteral("/.ssh/config"));
    QStringList commands;
    if (file.open(QIODevice::ReadOnly))
        for (const QString& name : sshHosts(QString::fromUtf8(file.read(1 << 20))))
            commands << proposedReach(name);
    auto* completer = new QCompleter(commands, m_reach.edit);
    completer->setCaseSensitivity(Qt::CaseInsensitive);
    completer->setFilterMode(Qt::MatchContains);
    m_reach.edit->setCompleter(completer);

    auto* head = new QHBoxLayout;
    head->addWidget(m_test);
    head->addStretch(1);
    m_test->setToolTip(QStringLiteral("Connects with what stands above, saved or not"));
    auto* pageColumn = widgets::columnOf(page, {20, 16, 20, 16}, 16);
    pageColumn->addWidget(m_fields);
    pageColumn->addWidget(widgets::horizontalLine(page));
    pageColumn->addLayout(head);
    pageColumn->addWidget(m_check, 1);
    return page;
}

void HostsDialog::list() {
    m_filling = true;
    m_list->clear();
    for (const auto& host : m_edited) m_list->addItem(QString::fromStdString(host.name));
    m_filling = false;
    showStatus();
}

void HostsDialog::showStatus() {
    const auto& saved = m_hosts.hosts();
    for (int i = 0; i < m_list->count(); ++i) {
        auto* item = m_list->item(i);
        const auto& host = m_edited[static_cast<std::size_t>(i)];
        const QString name = QString::fromStdString(host.name);
        const auto status = m_hosts.status(name);
        const bool known = status && std::find(saved.begin(), saved.end(), host) != saved.end();
        using State = wire::HostLink::State;
        const Shown shown = !known                               ? Shown::Unsaved
                            : status->state == State::Connected  ? Shown::Connected
                            : status->state == State::Connecting ? Shown::Connecting
                                                                 : Shown::Lost;
        QString text = known ? m_hosts.statusText(name) : QStringLiteral("not saved");
        // The name is shown above.
        if (text.startsWith(name + u' ')) text.remove(0, name.size() + 1);
        item->setText(name);
        item->setData(kState, static_cast<int>(shown));
        item->setData(kStatus, text);
        item->setToolTip(widgets::plainTip(text));
        item->setData(Qt::AccessibleTextRole, QStringLiteral("%1, %2").arg(name, text));
    }
}

wire::Host* HostsDialog::current() {
    const int row = m_list->currentRow();
    return row < 0 ? nullptr : &m_edited[static_cast<std::size_t>(row)];
}

void HostsDialog::select(const QString& name) {
    for (int i = 0; i < m_list->count(); ++i)
        if (m_list->item(i)->text() == name) m_list->setCurrentRow(i);
}

void HostsDialog::showHost() {
    const auto* host = current();
    m_pages->setCurrentIndex(host ? 0 : 1);
    m_remove->setEnabled(host);
    m_check->clear();
    const wire::Host shown = host ? *host : wire::Host();
    m_filling = true;
    m_name.edit->setText(QString::fromStdString(shown.name));
    m_reach.edit->setText(QString::fromStdString(shown.reach));
    m_launch.edit->setText(QString::fromStdString(shown.launch));
    m_runs.edit->setText(QString::fromStdString(shown.runs));
    m_views->setChecked(shown.launchesViews);
    m_views->setEnabled(!shown.launch.empty());
    m_filling = false;
    for (const Field* field : {&m_name, &m_reach, &m_launch, &m_runs}) {
        field->edit->setCursorPosition(0);
        field->note->setHint(field->hint);
    }
}

void HostsDialog::edited(const QLineEdit* edit) {
    auto* host = current();
    if (m_filling || !host) return;
    const auto text = [](const Field& field) { return field.edit->text().trimmed().toStdString(); };
    const QString before = proposedReach(QString::fromStdString(host->name));
    host->name = text(m_name);
    // The proposed value follows the name until the user changes it.
    if (edit == m_name.edit && m_reach.edit->text() == before)
        m_reach.edit->setText(proposedReach(QString::fromStdString(host->name)));
    host->reach = text(m_reach);
    host->launch = text(m_launch);
    host->runs = text(m_runs);
    m_views->setEnabled(!host->launch.empty());
    host->launchesViews = m_views->isChecked() && !host->launch.empty();
    for (const Field* field : {&m_name, &m_reach, &m_launch, &m_runs})
        if (field->edit == edit) field->note->setHint(field->hint);
    m_check->clear();
    showStatus();
}

void HostsDialog::add() {
    m_edited.emplace_back();
    list();
    m_list->setCurrentRow(m_list->count() - 1);
    showHost();
    m_name.edit->setFocus();
}

void HostsDialog::remove() {
    const int row = m_list->currentRow();
    if (row < 0) return;
    m_edited.erase(m_edited.begin() + row);
    list();
    m_list->setCurrentRow(std::min(row, m_list->count() - 1));
    showHost();
}

HostsDialog::Field* HostsDialog::fieldOf(const std::string& name) {
    return name == "name"     ? &m_name
           : name == "reach"  ? &m_reach
           : name == "launch" ? &m_launch
                              : &m_runs;
}

bool HostsDialog::judge(int row) {
    const auto& host = m_edited[static_cast<std::size_t>(row)];
    try {
        wire::checkHost(host);
        for (std::size_t i = 0; i < m_edited.size(); ++i)
            if (i != static_cast<std::size_t>(row) && m_edited[i].name == host.name)
                throw OptionError("name", "another machine has this name");
        return true;
    } catch (const OptionError& error) {
        m_list->setCurrentRow(row);
        auto* field = fieldOf(error.field());
        field->note->setProblem(sentence(error.message()));
        field->edit->setFocus();
        return false;
    }
}

void HostsDialog::test() {
    if (const auto* host = current(); host && judge(m_list->currentRow())) m_check->begin(*host);
}

void HostsDialog::save() {
    for (int i = 0; i < m_list->count(); ++i)
        if (!judge(i)) return;
    m_hosts.setHosts(m_edited);
    accept();
}

}  // namespace relascope::app
