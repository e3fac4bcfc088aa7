#include "app/controllers/controllers.h"
#include "app/main_window_actions.h"

namespace relascope {

void addFurtherPages(MainWindow&) {}

}  // namespace relascope
