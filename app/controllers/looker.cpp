// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/controllers/looker.h"

namespace relascope::app {

void Looker::ask(LongTask& task, const QString& text, std::function<wire::Asked()> question,
                 std::function<void(Answer)> answered, std::function<void(const Answer&)> partly,
                 Failure refused, std::shared_ptr<LongJob> with) {
    run(
        task, text,
        [question = std::move(question), partly = std::move(partly)](Engine& models, LongJob& job,
                                                                     const Progress& progress) {
            const auto partial = [&](const Answer& answer) {
                if (partly) job.report([partly, answer] { partly(answer); });
            };
            return withoutOptionNames(
                [&] { return wire::ask(models.session, question(), progress, partial); });
        },
        std::move(answered), std::move(refused), std::move(with));
}

void Looker::drop() {
    post(
        this, [](Engine& models, const Progress&) { return wire::drop(models.session), 0; },
        [](int) {});
}

void Looker::end() {
    post(
        this, [](Engine& models, const Progress&) { return models.session.end(), 0; }, [](int) {});
}

}  // namespace relascope::app
