// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/evaluate_dialog.h"

#include <QComboBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QPushButton>
#include <QSettings>
#include <QSpinBox>
#include <QVBoxLayout>
#include <limits>

#include "data/text.h"
#include "types/data_kind.h"
#include "widgets/form/field_form.h"
#include "widgets/theme/controls.h"

namespace relascope::app {
namespace {

enum { kKindRole = Qt::UserRole, kTaskRole, kFile };
const char* const kTextsKey = "text/files";

}  // namespace

EvaluateDialog::EvaluateDialog(QWidget* parent, Data data, bool own)
    : QDialog(parent),
      m_data(new QComboBox(this)),
      m_split(new QComboBox(this)),
      m_count(new QSpinBox(this)),
      m_seed(new QSpinBox(this)),
      m_text(data == Data::Text) {
    setWindowTitle(QStringLiteral("Evaluate"));
    askFile = [this] {
        return m_text ? QFileDialog::getOpenFileName(
                            this, QStringLiteral("A text"), {},
                            QStringLiteral("Texts and tokens (*.txt *.gz *.jsonl *.json *.bin "
                                           "*.npy);;All files (*)"))
                      : QFileDialog::getOpenFileName(
                            this, QStringLiteral("Labelled images"), {},
                            QStringLiteral("NumPy archives (*.npz);;All files (*)"));
    };
    if (m_text)
        fillText(own);
    else
        fillImages();
    auto* body = new widgets::DialogBody(this);
    auto* form = new widgets::FieldForm(body->inside());
    for (QWidget* field : std::initializer_list<QWidget*>{m_data, m_split, m_count, m_seed})
        field->setMinimumWidth(220);
    form->add(QStringLiteral("Data"), m_data);
    form->add(QStringLiteral("Split"), m_split);
    form->add(m_text ? QStringLiteral("Windows") : QStringLiteral("Images"), m_count,
              m_text ? QStringLiteral("Windows of the text, each as long as the context of the "
                                      "model")
                     : QString());
    form->add(QStringLiteral("Data seed"), m_seed);
    form->setShown(m_seed, !m_text);
    auto* go = new QPushButton(QStringLiteral("Evaluate"), this);
    auto* column = widgets::columnOf(this, {20, 16, 20, 16}, 16);
    body->inside()->setLayout(form);
    form->setContentsMargins(0, 0, 0, 0);
    column->addWidget(body, 1);
    column->addLayout(widgets::dialogButtons(this, {go}));
    connect(go, &QPushButton::clicked, this, &QDialog::accept);
    connect(m_data, &QComboBox::activated, this, &EvaluateDialog::dataChosen);
}

void EvaluateDialog::fillImages() {
    for (const auto* kind : dataKinds()) {
        if (kind->input != InputKind::Images || !kind->generated) continue;
        for (const auto& task : kind->tasks) {
            m_data->addItem(QString::fromStdString(task.title) + QStringLiteral(", generated"));
            const int line = m_data->count() - 1;
            m_data->setItemData(line, QString::fromStdString(kind->name), kKindRole);
            m_data->setItemData(line, QString::fromStdString(task.name), kTaskRole);
        }
    }
    // The list of files of the Data page.
    for (const QString& file : QSettings().value(QStringLiteral("data/files")).toStringList())
        addFile(file);
    m_data->addItem(lastLine());
    fillSplits();
    m_count->setRange(2, 1000000);
    m_count->setValue(2000);
    m_count->setGroupSeparatorShown(true);
    m_seed->setRange(0, std::numeric_limits<int>::max());
}

// The splits of the generated data; a file has none.
void EvaluateDialog::fillSplits() {
    const auto* kind = findDataKind(m_data->currentData(kKindRole).toString().toStdString());
    if (!kind) return;
    QStringList names;
    for (const auto& family : kind->families) names << QString::fromStdString(family);
    if (kind->families.empty()) names << QStringLiteral("test");
    names << QStringLiteral("validation") << QStringLiteral("train");
    QStringList before;
    for (int i = 0; i < m_split->count(); ++i) before << m_split->itemText(i);
    if (names == before) return;
    m_split->clear();
    m_split->addItems(names);
}

void EvaluateDialog::fillText(bool own) {
    if (own) m_data->addItem(QStringLiteral("The text of the run"));
    for (const QString& file : QSettings().value(QLatin1String(kTextsKey)).toStringList())
        addFile(file);
    if (const auto installed = core::installedText(); !installed.empty())
        addFile(QString::fromStdString(installed));
    m_data->addItem(lastLine());
    m_split->addItems({QStringLiteral("validation"), QStringLiteral("train")});
    m_count->setRange(0, 10000000);
    m_count->setSpecialValueText(own ? QStringLiteral("as during training")
                                     : QStringLiteral("all"));
    m_count->setValue(200);
    m_count->setGroupSeparatorShown(true);
    m_split->setEnabled(own);
}

QString EvaluateDialog::lastLine() const {
    return m_text ? QStringLiteral("Choose a text\u2026")
                  : QStringLiteral("Choose a .npz file\u2026");
}

void EvaluateDialog::addFile(const QString& path) {
    if (m_data->findData(path, kFile) >= 0) return;
    const int at = m_data->findText(lastLine());
    const int row = at < 0 ? m_data->count() : at;
    m_data->insertItem(row, QFileInfo(path).fileName());
    m_data->setItemData(row, path, kFile);
    m_data->setItemData(row, path, Qt::ToolTipRole);
}

void EvaluateDialog::dataChosen() {
    if (m_data->currentIndex() == m_data->count() - 1) {
        const QString path = askFile();
        if (!path.isEmpty()) addFile(path);
        m_data->setCurrentIndex(path.isEmpty() ? m_before : m_data->findData(path, kFile));
    }
    m_before = m_data->currentIndex();
    const bool generated = m_data->currentData(kFile).toString().isEmpty();
    if (m_text) {
        m_count->setSpecialValueText(generated ? QStringLiteral("as during training")
                                               : QStringLiteral("all"));
        return m_split->setEnabled(generated);
    }
    fillSplits();
    for (QWidget* field : {static_cast<QWidget*>(m_split), static_cast<QWidget*>(m_count),
                           static_cast<QWidget*>(m_seed)}) {
        field->setEnabled(generated);
        field->setToolTip(generated ? QString()
                                    : QStringLiteral("A file is always evaluated as a whole"));
    }
}

NamedEvaluation EvaluateDialog::question() const {
    const QString file = m_data->currentData(kFile).toString();
    const auto split = m_split->currentText().toStdString();
    wire::Asked asked(Question{"eval", {}, {}});
    QString name = m_data->currentText();
    if (file.isEmpty()) {
        name += QStringLiteral(", ") + m_split->currentText();
        asked.set("split", split);
    } else {
        asked.set("data", file.toStdString());
    }
    if (m_text) {
        if (m_count->value() > 0) asked.set("windows", std::int64_t{m_count->value()});
        if (file.isEmpty()) return {asked, name};
        QStringList files = QSettings().value(QLatin1String(kTextsKey)).toStringList();
        files.removeAll(file);
        files.prepend(file);
        QSettings().setValue(QLatin1String(kTextsKey), files.mid(0, 6));
    } else if (file.isEmpty()) {
        DataOptions options;
        options.kind = m_data->currentData(kKindRole).toString().toStdString();
        options.task = m_data->currentData(kTaskRole).toString().toStdString();
        options.seed = m_seed->value();
        // All other splits are kept small.
        options.train_size = options.validation_size = options.test_size = 2;
        (split == "train"        ? options.train_size
         : split == "validation" ? options.validation_size
                                 : options.test_size) = m_count->value();
        asked.data = wire::Data{options};
    }
    return {asked, name};
}

}  // namespace relascope::app
