// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <numeric>

#include "app/controllers/examples.h"
#include "datasets/registry.h"
#include "types/data_kind.h"
#include "widgets/theme/theme.h"

namespace relascope::app {

std::shared_ptr<DataCache::Entry> DataCache::entry(const DataOptions& options) {
    std::lock_guard lock(m_mutex);
    const auto found = std::find_if(m_entries.begin(), m_entries.end(),
                                    [&](const auto& e) { return e->options == options; });
    if (found != m_entries.end()) {
        m_entries.splice(m_entries.begin(), m_entries, found);
    } else {
        m_entries.push_front(std::make_shared<Entry>());
        m_entries.front()->options = options;
        while (m_entries.size() > kKept) m_entries.pop_back();
    }
    return m_entries.front();
}

std::shared_ptr<const core::DataSplits> DataCache::get(const DataOptions& options,
                                                       const core::ProgressCallback& progress,
                                                       std::stop_token stop) {
    const auto mine = entry(options);
    std::lock_guard lock(mine->opening);
    if (!mine->splits)
        mine->splits =
            std::make_shared<const core::DataSplits>(datasets::openData(options, progress, stop));
    return mine->splits;
}

namespace {

constexpr std::int64_t kExamplesRead = 400;  // examples read to collect token texts
constexpr std::size_t kNumbersShown = 6;

/// The answer's tokens up to its end.
std::vector<std::int64_t> answerOf(const core::SequenceDataset& data, std::int64_t index) {
    const auto shape = data.shape();
    std::vector<float> vectors(static_cast<std::size_t>(shape.source * shape.width));
    std::vector<std::int64_t> tokens(static_cast<std::size_t>(shape.width > 0 ? 0 : shape.source));
    std::vector<std::int64_t> answer(static_cast<std::size_t>(shape.target));
    data.read(index, vectors, tokens, answer);
    const auto end = std::find_if(answer.begin(), answer.end(), [&](std::int64_t token) {
        return token == shape.end || token == shape.padding;
    });
    answer.erase(end, answer.end());
    return answer;
}

/// An answer that contains every object of the source once is an ordering.
std::vector<int> orderOf(const std::vector<std::int64_t>& answer, int objects) {
    if (static_cast<int>(answer.size()) != objects) return {};
    std::vector<int> order(answer.begin(), answer.end()), sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (int k = 0; k < objects; ++k)
        if (sorted[static_cast<std::size_t>(k)] != k) return {};
    return order;
}

void addAnswer(widgets::ShownSample& shown, const core::SequenceDataset& data, std::int64_t index) {
    const ProbeSequence& source = shown.sample.source;
    const ProbeSequence& target = shown.sample.target;
    if (target.text) {
        for (std::size_t k = 1; k < target.labels.size(); ++k)  // behind the start
            shown.answer += QString::fromStdString(target.labels[k]);
        return;
    }
    const auto answer = answerOf(data, index);
    shown.order = orderOf(answer, source.size());
    QStringList parts;
    for (const auto token : answer) {
        const auto at = static_cast<std::size_t>(token);
        parts << (!shown.order.empty() && at < source.labels.size()
                      ? QString::fromStdString(source.labels[at])
                      : QString::number(token));
    }
    shown.answer = parts.join(QStringLiteral(", "));
}

void addAnswer(widgets::ShownSample& shown, const core::ObjectDataset& data, std::int64_t index) {
    const auto& info = data.info();
    const auto shape = data.shape();
    std::vector<float> objects(static_cast<std::size_t>(shape.objects * shape.width));
    std::vector<float> targets(static_cast<std::size_t>(shape.targets));
    data.read(index, objects, targets);
    if (info.targets == TargetKind::Class) {
        if (!targets.empty()) shown.sample.label = static_cast<std::int64_t>(targets[0]);
        return;
    }
    QStringList parts;
    if (info.targets == TargetKind::MultiLabel) {
        for (std::size_t k = 0; k < targets.size(); ++k)
            if (targets[k] > 0.5F)
                parts << (k < info.classNames.size() ? QString::fromStdString(info.classNames[k])
                                                     : QString::number(k + 1));
        shown.answer = parts.isEmpty() ? QStringLiteral("none") : parts.join(QStringLiteral(", "));
        return;
    }
    for (std::size_t k = 0; k < std::min(targets.size(), kNumbersShown); ++k) {
        QString number = widgets::signedNumber(targets[k]);
        parts << number.remove(u'+');
    }
    shown.answer = parts.join(QStringLiteral(", "));
    if (targets.size() > kNumbersShown)
        shown.answer +=
            QStringLiteral(", \u2026 (%1 values)").arg(widgets::groupedNumber(std::ssize(targets)));
}

}  // namespace

QString exampleWord(const DataOptions& o, bool several) {
    const auto* kind = findDataKind(o.kind);
    // Possibly a run of a later version.
    if (!kind) return several ? QStringLiteral("examples") : QStringLiteral("example");
    const auto& unit = kind->unitOf(o.task);
    return QString::fromStdString(several ? unit.several : unit.one);
}

QString exampleCount(const DataOptions& options, qint64 count) {
    return QStringLiteral("%1 %2").arg(widgets::groupedNumber(count),
                                       exampleWord(options, count != 1));
}

QString taskTitle(const std::string& kind, const std::string& task) {
    const auto* known = findDataKind(kind);
    if (known && known->tasks.empty()) return QString::fromStdString(known->title);
    if (const auto* found = known ? known->findTask(task) : nullptr)
        return QString::fromStdString(found->title);
    QString title = QString::fromStdString(task).replace(u'_', u' ');
    if (!title.isEmpty()) title[0] = title[0].toUpper();
    return title;
}

std::vector<std::string> labelNames(const core::Dataset& data) {
    return data.info().targets == TargetKind::Class ? data.info().classNames
                                                    : std::vector<std::string>();
}

LabelReader::LabelReader(core::DatasetPtr data) : m_data(std::move(data)) {
    if (const auto* images = dynamic_cast<const core::ImageDataset*>(m_data.get()))
        m_pixels.resize(images->pixelBytes());
    if (const auto* sets = dynamic_cast<const core::ObjectDataset*>(m_data.get());
        sets && m_data->info().targets == TargetKind::Class) {
        const auto shape = sets->shape();
        m_objects.resize(static_cast<std::size_t>(shape.objects * shape.width));
        m_targets.resize(static_cast<std::size_t>(shape.targets));
    }
}

std::int64_t LabelReader::operator()(std::int64_t index) {
    if (const auto* images = dynamic_cast<const core::ImageDataset*>(m_data.get()))
        return images->read(index, m_pixels);
    if (m_targets.empty()) return -1;
    dynamic_cast<const core::ObjectDataset&>(*m_data).read(index, m_objects, m_targets);
    return static_cast<std::int64_t>(m_targets[0]);
}

widgets::ShownSample shownSample(const core::Dataset& data, std::int64_t index) {
    widgets::ShownSample shown{data.sample(index)};
    if (const auto* pairs = dynamic_cast<const core::SequenceDataset*>(&data))
        addAnswer(shown, *pairs, index);
    else if (const auto* sets = dynamic_cast<const core::ObjectDataset*>(&data))
        addAnswer(shown, *sets, index);
    return shown;
}

std::vector<std::string> tokenNames(const core::Dataset& data) {
    const auto* pairs = dynamic_cast<const core::SequenceDataset*>(&data);
    if (!pairs) return {};
    const auto shape = pairs->shape();
    std::vector<std::string> names(static_cast<std::size_t>(shape.targetVocabulary));
    const auto learn = [&](const ProbeSequence& sequence) {
        for (std::size_t k = 0; k < std::min(sequence.labels.size(), sequence.tokens.size()); ++k) {
            const auto token = static_cast<std::size_t>(sequence.tokens[k]);
            if (token < names.size() && names[token].empty()) names[token] = sequence.labels[k];
        }
    };
    for (std::int64_t i = 0; i < std::min(kExamplesRead, data.size()); ++i) {
        const auto sample = data.sample(i);
        learn(sample.target);
        // One alphabet for both: questions contain characters that are rare in answers.
        if (sample.source.text && shape.sourceVocabulary == shape.targetVocabulary)
            learn(sample.source);
    }
    if (shape.end >= 0 && static_cast<std::size_t>(shape.end) < names.size())
        names[static_cast<std::size_t>(shape.end)] = "end";
    if (shape.padding >= 0 && static_cast<std::size_t>(shape.padding) < names.size())
        names[static_cast<std::size_t>(shape.padding)] = "blank";
    for (std::size_t k = 0; k < names.size(); ++k)
        if (names[k].empty()) names[k] = std::to_string(k);
    return names;
}

}  // namespace relascope::app
