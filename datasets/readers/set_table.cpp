// SPDX-License-Identifier: GPL-3.0-or-later
#include "datasets/readers/set_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>

#include "datasets/generators/random.h"
#include "datasets/readers/loaded_images.h"
#include "files/atomic_file.h"
#include "files/csv.h"
#include "text/text_normalizer.h"
#include "types/lower_case.h"
#include "types/text_format.h"

namespace relascope::datasets {
namespace {

constexpr std::size_t kMostWords = 64, kMostClasses = 1000;
constexpr std::int64_t kMostObjects = 512, kMostNumbers = 400'000'000;
constexpr std::int64_t kRowsAtOnce = 20'000;  ///< between two looks at the progress
constexpr double kMostFactValues = 16;
constexpr std::array kSetColumns = {"set", "example"};
constexpr std::array kAnswerColumns = {"label", "class", "answer", "target"};

std::string wordInQuotes(const std::string& word) {
    return "'" + word.substr(0, 40) + "'";
}

class SetTableReader {
public:
    SetTableReader(std::string_view text, const std::string& path,
                   const core::ProgressCallback& progress, std::stop_token stop)
        : m_text(text), m_path(path), m_progress(progress), m_stop(std::move(stop)) {
        m_table->path = path;
    }

    std::shared_ptr<const SetTable> read() {
        findColumns();
        firstPass();
        nameAnswers();
        layOut();
        secondPass();
        scale();
        return m_table;
    }

private:
    /// A column that describes objects.
    struct Feature {
        std::size_t column = 0;
        std::string name;
        bool words = false;
        std::int64_t absent = 0;                     ///< the first line without a number
        std::int64_t line = 0;                       ///< the first that is no number
        std::string instead;                         ///< what stands there
        std::optional<core::AmbiguousNumber> doubt;  ///< the first number of two meanings
        std::map<std::string, int> seen;  ///< words, numbered in alphabetical order in the end
        bool whole = true;
        double least = 0.0, most = 0.0;
        std::int64_t at = 0;  ///< its first number in an object
        int fact = -1;        ///< its place among the facts
    };

    [[noreturn]] void fail(std::int64_t line, const std::string& why) const {
        throw FileError(m_path, "line " + std::to_string(line) + why);
    }
    void report(std::int64_t rows, std::int64_t line, double from) const {
        if (rows % kRowsAtOnce != 0) return;
        if (m_stop.stop_requested()) throw Cancelled();
        if (!m_progress) return;
        // Lines are about equally long.
        const double part =
            m_lines > 0 ? static_cast<double>(line) / static_cast<double>(m_lines) : 0.0;
        if (!m_progress(from + std::min(1.0, part) / 2.0)) throw Cancelled();
    }

    void findColumns() {
        const core::CsvReader csv(m_text, m_path);
        m_lines = std::count(m_text.begin(), m_text.end(), '\n');
        int sets = 0, answers = 0;
        for (std::size_t c = 0; c < csv.columns().size(); ++c) {
            const auto name = lowerCase(csv.columns()[c]);
            const auto among = [&](const auto& names) {
                return std::find(names.begin(), names.end(), name) != names.end();
            };
            if (among(kSetColumns))
                m_set = c, ++sets;
            else if (among(kAnswerColumns))
                m_answer = c, ++answers;
            else
                m_features.emplace_back().column = c, m_features.back().name = csv.columns()[c];
        }
        if (sets == 1 && answers == 1 && !m_features.empty()) return;
        throw FileError(m_path, "begins with the columns '" + joined(csv.columns(), ",") +
                                    "'; a row for each object is expected, with one column 'set' "
                                    "(which rows belong together), one column 'label' (the "
                                    "answer), and columns that describe the object");
    }

    // What the columns hold, how large sets are, and their answers.
    void firstPass() {
        core::CsvReader csv(m_text, m_path);
        std::vector<std::int64_t> lines;  // line of the first row of each set
        for (std::int64_t row = 0; csv.next(); ++row) {
            report(row, csv.line(), 0.0);
            const auto& answer = answerOf(csv);
            const auto [at, fresh] =
                m_sets.try_emplace(trimmed(csv.fields()[m_set]), static_cast<int>(m_sets.size()));
            if (at->first.empty()) fail(csv.line(), ", column set: is empty");
            if (fresh)
                m_sizes.push_back(0), m_answers.push_back(answer), lines.push_back(csv.line());
            const auto set = static_cast<std::size_t>(at->second);
            if (m_answers[set] != answer)
                fail(csv.line(), ": set " + wordInQuotes(at->first) + " has the answer " +
                                     wordInQuotes(answer) + " here and " +
                                     wordInQuotes(m_answers[set]) + " in line " +
                                     std::to_string(lines[set]));
            if (++m_sizes[set] > kMostObjects)
                fail(csv.line(), ": set " + wordInQuotes(at->first) + " has more than " +
                                     std::to_string(kMostObjects) +
                                     " objects; column set says which rows belong together");
            for (auto& feature : m_features) look(feature, csv);
        }
        if (m_sizes.empty()) throw FileError(m_path, "has no rows");
        for (const auto& feature : m_features)
            if (!feature.words && feature.doubt) throw *feature.doubt;
        for (const auto& feature : m_features)
            if (!feature.words && feature.absent > 0)
                fail(feature.absent, ", column " + feature.name + ": has no value");
    }

    const std::string& answerOf(const core::CsvReader& csv) {
        const auto answer = core::composedName(trimmed(csv.fields()[m_answer]));
        if (answer.empty()) fail(csv.line(), ", column " + csv.columns()[m_answer] + ": is empty");
        const auto& kept = *m_classes.insert(answer).first;
        if (m_classes.size() > kMostClasses)
            fail(csv.line(), ", column " + csv.columns()[m_answer] + ": there are more than " +
                                 std::to_string(kMostClasses) +
                                 " different answers; they are classes, not numbers to predict");
        return kept;
    }

    void look(Feature& feature, const core::CsvReader& csv) const {
        const auto word = core::composedName(trimmed(csv.fields()[feature.column]));
        if (word.empty()) fail(csv.line(), ", column " + feature.name + ": is empty");
        if (feature.seen.size() <= kMostWords) feature.seen.try_emplace(word);
        if (!feature.words) {
            try {
                const double value = csv.number(feature.column);
                // "None" is a word if the column turns out to be one of words.
                if (std::isnan(value) && feature.absent == 0) feature.absent = csv.line();
                const bool first = feature.seen.size() == 1;
                feature.least = first ? value : std::min(feature.least, value);
                feature.most = first ? value : std::max(feature.most, value);
                feature.whole = feature.whole && value == std::floor(value);
                return;
            } catch (const core::AmbiguousNumber& doubt) {
                if (!feature.doubt) feature.doubt = doubt;
                return;
            } catch (const FileError&) {
                feature.words = true;
                feature.line = csv.line();
                feature.instead = word;
            }
        }
        if (feature.seen.size() > kMostWords)
            fail(feature.line, ", column " + feature.name + ": " + wordInQuotes(feature.instead) +
                                   " is not a number, and the column has more than " +
                                   std::to_string(kMostWords) + " different words");
    }

    void nameAnswers() {
        auto& names = m_table->classNames;
        names.assign(m_classes.begin(), m_classes.end());
        const auto number = [](const std::string& name, double& value) {
            const auto read = std::from_chars(name.data(), name.data() + name.size(), value);
            return read.ec == std::errc() && read.ptr == name.data() + name.size();
        };
        double value = 0.0;
        if (std::all_of(names.begin(), names.end(),
                        [&](const auto& name) { return number(name, value); }))
            std::sort(names.begin(), names.end(), [&](const auto& a, const auto& b) {
                double x = 0.0, y = 0.0;
                return number(a, x) && number(b, y) && (x < y || (x == y && a < b));
            });
        std::map<std::string, std::int32_t> numbers;
        for (std::size_t k = 0; k < names.size(); ++k)
            numbers[names[k]] = static_cast<std::int32_t>(k);
        for (const auto& answer : m_answers) m_table->answers.push_back(numbers.at(answer));
    }

    void layOut() {
        auto& t = *m_table;
        for (auto& feature : m_features) {
            feature.at = t.width;
            if (!feature.words) t.columns.push_back(feature.name);
            int number = 0;
            for (auto& [word, index] : feature.seen) {
                index = number++;
                if (feature.words) t.features.push_back(feature.name + " = " + word);
            }
            if (!feature.words) t.features.push_back(feature.name);
            t.width = std::ssize(t.features);
            const bool few = feature.most - feature.least < kMostFactValues;
            if (!feature.words && !(feature.whole && few)) continue;
            feature.fact = static_cast<int>(t.about.facts.size());
            t.about.facts.push_back({feature.name, !feature.words});
            auto& fact = t.about.facts.back();
            if (feature.words)
                for (const auto& [word, index] : feature.seen) fact.values.push_back(word);
            else
                fact.least = static_cast<std::int32_t>(feature.least);
        }
        const auto [least, most] = std::minmax_element(m_sizes.begin(), m_sizes.end());
        t.objects = *most;
        m_marked = *least != *most;
        if (m_marked) t.features.emplace_back("is there"), ++t.width;
        const auto sets = static_cast<std::int64_t>(m_sizes.size());
        if (t.width > kMostNumbers / (sets * t.objects))
            throw FileError(m_path, "would be " + std::to_string(sets) + " sets of " +
                                        std::to_string(t.objects) + " objects of " +
                                        std::to_string(t.width) +
                                        " numbers, more than 400 million in all");
        const auto places = static_cast<std::size_t>(sets * t.objects);
        requireMemory(
            m_path,
            places * ((static_cast<std::size_t>(t.width) + t.columns.size()) * sizeof(float) +
                      t.about.facts.size() * sizeof(std::int32_t) + sizeof(std::string)));
        t.numbers.resize(places * static_cast<std::size_t>(t.width));
        t.asGiven.resize(places * t.columns.size(), std::numeric_limits<float>::quiet_NaN());
        t.words.resize(places);
        t.about.objects = t.objects;
        t.facts.assign(places * t.about.facts.size(), kEmptyPlace);
    }

    void secondPass() {
        auto& t = *m_table;
        core::CsvReader csv(m_text, m_path);
        std::vector<std::int64_t> used(m_sizes.size());
        for (std::int64_t row = 0; csv.next(); ++row) {
            report(row, csv.line(), 0.5);
            const int set = m_sets.at(trimmed(csv.fields()[m_set]));
            const auto place =
                static_cast<std::size_t>(set * t.objects + used[static_cast<std::size_t>(set)]++);
            float* numbers = t.numbers.data() + place * static_cast<std::size_t>(t.width);
            auto* facts = t.facts.data() + place * t.about.facts.size();
            auto* given = t.asGiven.data() + place * t.columns.size();
            for (const auto& feature : m_features) {
                const auto word = core::composedName(trimmed(csv.fields()[feature.column]));
                t.words[place] += (t.words[place].empty() ? "" : ", ") + word;
                double value = 0.0;
                if (feature.words) {
                    const int index = feature.seen.at(word);
                    numbers[feature.at + index] = 1.0f;
                    value = index;
                } else {
                    value = csv.number(feature.column);
                    numbers[feature.at] = *given++ = static_cast<float>(value);
                    value -= feature.least;
                }
                if (feature.fact >= 0) facts[feature.fact] = static_cast<std::int32_t>(value);
            }
            if (m_marked) numbers[t.width - 1] = 1.0f;
        }
    }

    // Columns of numbers have units of their own, in which a model would not train.
    void scale() {
        auto& t = *m_table;
        const auto rows = static_cast<double>(std::count_if(
            t.words.begin(), t.words.end(), [](const auto& w) { return !w.empty(); }));
        const auto width = static_cast<std::size_t>(t.width);
        for (const auto& feature : m_features) {
            if (feature.words) continue;
            const auto each = [&](const auto& use) {
                for (std::size_t place = 0; place < t.words.size(); ++place)
                    if (!t.words[place].empty())
                        use(t.numbers[place * width + static_cast<std::size_t>(feature.at)]);
            };
            double sum = 0.0, squares = 0.0;
            each([&](float v) { sum += v; });
            const double mean = sum / rows;
            each([&](float v) { squares += (v - mean) * (v - mean); });
            const double deviation = std::sqrt(squares / rows);
            const double unit = deviation > 0.0 ? deviation : 1.0;
            each([&](float& v) { v = static_cast<float>((v - mean) / unit); });
        }
    }

    std::string_view m_text;
    const std::string& m_path;
    const core::ProgressCallback& m_progress;
    std::stop_token m_stop;
    std::shared_ptr<SetTable> m_table = std::make_shared<SetTable>();
    std::int64_t m_lines = 0;
    std::size_t m_set = 0, m_answer = 0;
    std::vector<Feature> m_features;
    std::map<std::string, int> m_sets;  ///< in the order of their first rows
    std::vector<std::int64_t> m_sizes;
    std::vector<std::string> m_answers;  ///< answers of the sets
    std::set<std::string> m_classes;
    bool m_marked = false;  ///< a last number says whether the object exists
};

class SetsOfTable : public core::ObjectDataset {
public:
    SetsOfTable(std::shared_ptr<const SetTable> table, std::int64_t first, std::int64_t count,
                const std::string& name)
        : m_table(std::move(table)),
          m_first(first),
          m_order(static_cast<std::uint64_t>(m_table->sets()), 0, 0) {
        m_info.name = name;
        m_info.origin = m_table->path;
        m_info.size = count;
        m_info.channels = m_info.height = m_info.width = 0;
        m_info.classNames = m_table->classNames;
    }
    const DatasetInfo& info() const override { return m_info; }
    Shape shape() const override { return {m_table->objects, m_table->width, 1}; }
    void read(std::int64_t index, std::span<float> objects,
              std::span<float> targets) const override {
        const auto set = at(index);
        std::copy_n(m_table->numbers.begin() + set * m_table->objects * m_table->width,
                    m_table->objects * m_table->width, objects.begin());
        targets[0] = static_cast<float>(m_table->answers[static_cast<std::size_t>(set)]);
    }
    std::vector<std::string> featureNames() const override { return m_table->features; }
    const ObjectFacts* objectFacts() const override {
        return m_table->about.facts.empty() ? nullptr : &m_table->about;
    }
    void readFacts(std::int64_t index, std::span<std::int32_t> facts) const override {
        const auto each = m_table->objects * static_cast<std::int64_t>(m_table->about.facts.size());
        std::copy_n(m_table->facts.begin() + at(index) * each, each, facts.begin());
    }
    std::vector<std::string> objectNumbers() const override { return m_table->columns; }
    void readObjectNumbers(std::int64_t index, std::span<double> numbers) const override {
        const auto each = m_table->objects * std::ssize(m_table->columns);
        std::copy_n(m_table->asGiven.begin() + at(index) * each, each, numbers.begin());
    }
    ProbeSample sample(std::int64_t index) const override {
        ProbeSample s;
        s.origin = m_info.name + " " + std::to_string(index);
        s.source.width = static_cast<int>(m_table->width);
        s.source.vectors.resize(static_cast<std::size_t>(m_table->objects * m_table->width));
        float label = 0.0f;
        read(index, s.source.vectors, {&label, 1});
        s.label = static_cast<std::int64_t>(label);
        const auto words = m_table->words.begin() + at(index) * m_table->objects;
        for (std::int64_t k = 0; k < m_table->objects; ++k)
            s.source.labels.push_back(words[k].empty() ? "nothing" : words[k]);
        return s;
    }

private:
    std::int64_t at(std::int64_t index) const {
        if (index < 0 || index >= m_info.size)
            throw std::out_of_range(m_info.name + " has no example " + std::to_string(index));
        return static_cast<std::int64_t>(m_order(static_cast<std::uint64_t>(m_first + index)));
    }

    std::shared_ptr<const SetTable> m_table;
    std::int64_t m_first;
    Permutation m_order;
    DatasetInfo m_info;
};

}  // namespace

std::shared_ptr<const SetTable> readSetTable(const std::string& path,
                                             const core::ProgressCallback& progress,
                                             std::stop_token stop) {
    const std::string text = core::readTextFile(path, std::uint64_t{1} << 30);
    return parseSetTable(text, path, progress, std::move(stop));
}

std::shared_ptr<const SetTable> parseSetTable(std::string_view text, const std::string& path,
                                              const core::ProgressCallback& progress,
                                              std::stop_token stop) {
    return SetTableReader(text, path, progress, std::move(stop)).read();
}

core::DatasetPtr setsOf(std::shared_ptr<const SetTable> table, std::int64_t first,
                        std::int64_t count, const std::string& name) {
    return std::make_shared<SetsOfTable>(std::move(table), first, count, name);
}

}  // namespace relascope::datasets
