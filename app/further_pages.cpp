#include "app/controllers/controllers.h"
#include "app/main_window_actions.h"
#include "app/pages/compare_page.h"
#include "app/pages/data_page.h"

namespace relascope {

void addFurtherPages(MainWindow& window) {
    AppContext context = window.controllers().context();
    auto* compare = new ComparePage(context);
    window.addPage(QStringLiteral("Compare"), compare);
    QObject::connect(compare, &ComparePage::workbenchRequested, &window,
                     [&window] { window.showPage(QStringLiteral("Workbench")); });

    auto* data = new DataPage(context);
    window.addPage(QStringLiteral("Data"), data);
    window.setImportData([data] {
        if (const QString path = data->askImportPath(); !path.isEmpty()) data->importFile(path);
    });
    QObject::connect(data, &DataPage::trainOnRequested, &window, [&window](const QString& path) {
        window.controllers().experiment.set(QStringLiteral("data.path"), path.toStdString());
        window.showPage(QStringLiteral("Workbench"));
    });
}

}  // namespace relascope
