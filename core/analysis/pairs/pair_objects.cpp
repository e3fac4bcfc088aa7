// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/pairs/pair_objects.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>

#include "analysis/pairs/attribute_file.h"
#include "analysis/pairs/conjunctions.h"
#include "data/batches.h"
#include "data/served_data.h"
#include "interventions/active_edits.h"
#include "model/architecture.h"
#include "types/option_groups.h"
#include "types/suggest.h"
#include "types/text_format.h"
#include "types/text_piece.h"

namespace relascope::core {
namespace {

constexpr int kPictureSide = 72;
constexpr int kOneColour = 2;               // of 255, that pixels of an empty patch may differ by
constexpr std::size_t kContextAround = 18;  // bytes of a text before and after a token

// Whether pairs that count differ in the attribute.
bool differs(const PairShape& shape, const PairAttribute& attribute) {
    const std::size_t n = shape.objects;
    bool yes = false, no = false;
    float first = std::numeric_limits<float>::quiet_NaN();
    for (std::size_t e = 0; e < shape.examples; ++e)
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < (shape.causal ? i : n); ++j) {
                if (i == j) continue;
                const std::size_t at = (e * n + i) * n + j;
                if (attribute.ordered) {
                    const float value = attribute.values[at];
                    if (std::isnan(value)) continue;
                    if (std::isnan(first)) first = value;
                    if (value != first) return true;
                } else {
                    yes = yes || attribute.truth[at] == kPairYes;
                    no = no || attribute.truth[at] == kPairNo;
                    if (yes && no) return true;
                }
            }
    return false;
}

/// Whether all examples have the same at each place, as the distance of patches.
bool isOfPlaces(const PairShape& shape, const PairAttribute& attribute) {
    const auto cells = static_cast<std::ptrdiff_t>(shape.cells());
    const auto first = attribute.truth.begin();
    for (std::ptrdiff_t e = 1; e < static_cast<std::ptrdiff_t>(shape.examples); ++e)
        if (!std::equal(first, first + cells, first + e * cells)) return false;
    return true;
}

/// Adds, for each ordered attribute that places do not determine, whether it is large (above a
/// value that halves the pairs best), so that it can be tested and named as the others are.
void addHalves(PairAttributes& attributes, const PairShape& shape) {
    std::vector<PairAttribute> halves;
    for (const auto& one : attributes.all) {
        if (!one.ordered) continue;
        std::vector<float> sorted;
        for (const float value : one.values)
            if (!std::isnan(value)) sorted.push_back(value);
        if (sorted.empty()) continue;
        const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
        std::nth_element(sorted.begin(), middle, sorted.end());
        const float median = *middle;
        std::ptrdiff_t below = 0, above = 0;
        for (const float value : sorted) below += value<median, above += value> median;
        // Values equal to the median go to the smaller half.
        const bool up = below < above;
        PairAttribute half{largeName(one.name), false, {}, {}};
        for (const float value : one.values)
            half.truth.push_back(std::isnan(value)                         ? kPairUndefined
                                 : (up ? value > median : value >= median) ? kPairYes
                                                                           : kPairNo);
        if (differs(shape, half) && !isOfPlaces(shape, half)) halves.push_back(std::move(half));
    }
    for (auto& half : halves) attributes.all.push_back(std::move(half));
}

/// Attributes that are the same on all pairs are one, by all their names.
void joinEqual(PairAttributes& attributes) {
    std::vector<PairAttribute> all;
    for (auto& one : attributes.all) {
        const auto same = std::find_if(all.begin(), all.end(), [&](const auto& other) {
            return !one.ordered && !other.ordered && one.truth == other.truth;
        });
        if (same == all.end()) {
            all.push_back(std::move(one));
        } else {
            same->name += " = " + one.name;
            same->hypothesis = same->hypothesis || one.hypothesis;
        }
    }
    attributes.all = std::move(all);
}

// Attributes from the data
// -------------------------------------------------------------------------------------------------

bool hasFacts(const PairObjects& objects, const Dataset& data) {
    const auto* facts = data.objectFacts();
    return facts && facts->objects == static_cast<std::int64_t>(objects.shape.objects);
}

std::vector<std::int32_t> readAllFacts(const PairObjects& objects, const Dataset& data) {
    const std::size_t each = objects.shape.objects * data.objectFacts()->facts.size();
    std::vector<std::int32_t> facts(objects.examples.size() * each);
    for (std::size_t e = 0; e < objects.examples.size(); ++e)
        data.readFacts(objects.examples[e], std::span(facts).subspan(e * each, each));
    return facts;
}

PairAttributes ofFacts(const PairObjects& objects, const Dataset& data) {
    return attributesOfFacts(objects.shape, *data.objectFacts(), readAllFacts(objects, data));
}

// For sets with two classes, whether a pair is of an example of the second: "completes a SET".
void addAnswer(PairAttributes& attributes, const PairObjects& objects, const ObjectDataset& data) {
    const auto& info = data.info();
    const auto shape = data.shape();
    if (info.targets != TargetKind::Class || info.classNames.size() != 2 || shape.objects < 3)
        return;
    std::vector<float> vectors(static_cast<std::size_t>(shape.objects * shape.width)),
        targets(static_cast<std::size_t>(shape.targets));
    const auto& name = info.classNames[1];
    PairAttribute one{name == "SET" ? "completes a SET" : "example is " + name, false, {}, {}};
    for (const auto example : objects.examples) {
        data.read(example, vectors, targets);
        one.truth.insert(one.truth.end(), objects.shape.cells(),
                         targets[0] > 0.5F ? kPairYes : kPairNo);
    }
    attributes.all.push_back(std::move(one));
}

/// The tokens of the windows of a text, and where the objects of each begin.
struct WindowTokens {
    std::vector<std::int64_t> tokens;
    std::vector<std::size_t> starts;
};

WindowTokens windowTokens(const PairObjects& objects, const TokenDataset& data) {
    WindowTokens all;
    std::vector<std::int64_t> one(static_cast<std::size_t>(data.context()) + 1);
    for (const auto example : objects.examples) {
        data.read(example, one);
        all.tokens.insert(all.tokens.end(), one.begin(), one.end() - 1);
    }
    all.starts.assign(objects.starts.begin(), objects.starts.end());
    return all;
}

PairAttributes ofText(const PairObjects& objects, const TokenDataset& data) {
    const auto all = windowTokens(objects, data);
    return attributesOfText(objects.shape, all.tokens, all.starts, data.tokenizer().get());
}

// Sequences of characters.
PairAttributes ofMathematics(const PairObjects& objects, const Dataset& data) {
    std::vector<std::string> texts;
    for (const auto example : objects.examples) {
        const auto sample = data.sample(example);
        std::string text(objects.shape.objects, '\0');
        for (std::size_t k = 0; k < std::min(text.size(), sample.source.labels.size()); ++k)
            if (sample.source.labels[k].size() == 1) text[k] = sample.source.labels[k][0];
        texts.push_back(std::move(text));
    }
    return attributesOfMathematics(objects.shape, texts);
}

// Pictures and words
// -------------------------------------------------------------------------------------------------

Image shrunk(const Image& image) {
    const int by = (std::max(image.width, image.height) + kPictureSide - 1) / kPictureSide;
    if (by <= 1) return image;
    Image small{image.width / by, image.height / by, image.channels, {}};
    for (int y = 0; y < small.height; ++y)
        for (int x = 0; x < small.width; ++x)
            for (int c = 0; c < image.channels; ++c)
                small.pixels.push_back(image.pixels[image.index(y * by, x * by, c)]);
    return small;
}

Image besideEachOther(const Image& a, const Image& b) {
    constexpr int gap = 2;
    if (a.empty() || b.empty() || a.channels != b.channels) return {};
    Image both{a.width + gap + b.width, std::max(a.height, b.height), a.channels, {}};
    both.pixels.assign(static_cast<std::size_t>(both.width) * both.height * both.channels, 255);
    int left = 0;
    for (const auto* image : {&a, &b}) {
        for (int y = 0; y < image->height; ++y)
            for (int x = 0; x < image->width; ++x)
                for (int c = 0; c < image->channels; ++c)
                    both.pixels[both.index(y, left + x, c)] = image->pixels[image->index(y, x, c)];
        left += a.width + gap;
    }
    return both;
}

std::string pieceAt(const ProbeSequence& source, std::size_t place) {
    const auto& labels = source.labels;
    if (place >= labels.size()) return std::to_string(place);
    return source.text ? pieceText(labels[place]).text : labels[place];
}

std::string contextOf(const ProbeSequence& source, std::size_t place) {
    std::string before, after;
    for (std::size_t k = place; k-- > 0 && before.size() < kContextAround;)
        before = pieceAt(source, k) + before;
    for (std::size_t k = place + 1; k < source.labels.size() && after.size() < kContextAround; ++k)
        after += pieceAt(source, k);
    return before + "[" + pieceAt(source, place) + "]" + after;
}

}  // namespace

PairObjects pairObjects(const ModelOptions& model, const Dataset& data, std::int64_t examples,
                        const std::string& attributes) {
    PairObjects objects;
    if (!attributes.empty()) {
        std::set<std::int64_t> named;
        for (const auto& row : readAttributes(attributes).rows)
            if (row.example >= 0 && row.example < data.size()) named.insert(row.example);
        const std::vector<std::int64_t> all(named.begin(), named.end());
        for (const auto index : drawnExamples(std::ssize(all), examples, 0))
            objects.examples.push_back(all[static_cast<std::size_t>(index)]);
    } else {
        objects.examples = drawnExamples(data.size(), examples, 0);
    }
    const auto count = static_cast<std::int64_t>(objects.examples.size());
    if (count < 2)
        throw OptionError("examples", "a relation is described over two examples or more, and " +
                                          std::to_string(count) +
                                          (count == 1 ? " is there" : " are there"));
    const auto input = model.input();
    objects.noun = input == InputKind::Images   ? "images"
                   : input == InputKind::Tokens ? "windows of text"
                                                : "examples";
    std::int64_t all = model.tokens(), first = 0;
    if (const auto* images = model.find<ImageInput>()) {
        objects.columns = images->gridColumns();
        all = images->patches();
        first = static_cast<std::int64_t>(model.tokens()) - images->patches();
    }
    if (input == InputKind::Tokens) {
        const auto& text = dynamic_cast<const TokenDataset&>(data);
        const auto block = std::min(PairObjects::kTextObjects, text.context());
        std::mt19937_64 random(1);
        for (std::int64_t e = 0; e < count; ++e)
            objects.starts.push_back(static_cast<std::int64_t>(
                random() % static_cast<std::uint64_t>(text.context() - block + 1)));
        objects.whole = text.context();
        all = block;
    } else {
        if (const auto* sequences = dynamic_cast<const SequenceDataset*>(&data))
            all = sequences->shape().source;
        for (std::int64_t k = 0; k < all; ++k) objects.positions.push_back(first + k);
        objects.whole = first + all;
    }
    if (all < 2)
        throw OptionError("path", "the examples have one object, and relations are between two");
    objects.shape = {static_cast<std::size_t>(count), static_cast<std::size_t>(all), false,
                     input == InputKind::Tokens};
    return objects;
}

void keepExamples(PairObjects& objects, std::size_t examples) {
    if (examples >= objects.shape.examples) return;
    objects.shape.examples = examples;
    objects.examples.resize(examples);
    if (!objects.starts.empty()) objects.starts.resize(examples);
}

PairAttributes attributesOfImages(const PairObjects& objects, const ImageDataset& data,
                                  const ImageInput& input) {
    const auto& info = data.info();
    const auto channels = static_cast<std::size_t>(info.channels);
    const std::size_t n = objects.shape.objects;
    std::vector<std::uint8_t> pixels(data.pixelBytes());
    // Mean colours of the patches, 0..1.
    std::vector<float> colours(objects.examples.size() * n * channels, 0.0F);
    std::vector<std::uint8_t> empty(objects.examples.size() * n, 1);
    const auto wide = info.width / static_cast<int>(input.gridColumns()),
               high = info.height / static_cast<int>(input.gridRows());
    const Image layout{info.width, info.height, info.channels, {}};
    for (std::size_t e = 0; e < objects.examples.size(); ++e) {
        data.read(objects.examples[e], pixels);
        for (std::size_t k = 0; k < n; ++k) {
            const int row = static_cast<int>(k) / static_cast<int>(objects.columns),
                      column = static_cast<int>(k) % static_cast<int>(objects.columns);
            const auto corner = layout.index(row * high, column * wide, 0);
            for (int y = row * high; y < (row + 1) * high; ++y)
                for (int x = column * wide; x < (column + 1) * wide; ++x)
                    for (std::size_t c = 0; c < channels; ++c) {
                        const int value = pixels[layout.index(y, x, static_cast<int>(c))];
                        colours[(e * n + k) * channels + c] +=
                            static_cast<float>(value) / (255.0F * static_cast<float>(wide * high));
                        if (std::abs(value - pixels[corner + c]) > kOneColour) empty[e * n + k] = 0;
                    }
        }
    }
    std::vector<std::size_t> patches(n);
    for (std::size_t k = 0; k < n; ++k) patches[k] = k;
    return attributesOfPatches(objects.shape, static_cast<std::size_t>(objects.columns), patches,
                               colours, channels, empty);
}

void completeAttributes(PairAttributes& all, const PairObjects& objects, std::int64_t examples,
                        const std::string& file) {
    if (!file.empty()) addAttributes(all, objects, file, examples);
    std::erase_if(all.all, [&](const auto& one) { return !differs(objects.shape, one); });
    addHalves(all, objects.shape);
    joinEqual(all);
}

PairAttributes attributesOf(const PairObjects& objects, const ModelOptions& model,
                            const Dataset& data, const std::string& attributes,
                            const OwnHypotheses& hypotheses) {
    PairAttributes all;
    if (hasFacts(objects, data))
        all = ofFacts(objects, data);
    else if (const auto* text = dynamic_cast<const TokenDataset*>(&data))
        all = ofText(objects, *text);
    else if (const auto* images = dynamic_cast<const ImageDataset*>(&data))
        all = attributesOfImages(objects, *images, model.get<ImageInput>());
    else if (data.sample(0).source.text)
        all = ofMathematics(objects, data);
    else
        all.occupied.assign(objects.shape.examples, 0);
    if (const auto* sets = dynamic_cast<const ObjectDataset*>(&data))
        addAnswer(all, objects, *sets);
    if (const auto* served = dynamic_cast<const ServedSet*>(&data))
        addAttributes(all, objects, *served);
    addHypotheses(all, objects, data, hypotheses);
    completeAttributes(all, objects, data.size(), attributes);
    return all;
}

HypothesisTerms hypothesisTerms(const PairObjects& objects, const Dataset& data,
                                const std::string& classes) {
    HypothesisTerms terms;
    terms.columns = objects.columns;
    const auto numbers = data.objectNumbers();
    if (hasFacts(objects, data)) {
        const auto& about = *data.objectFacts();
        terms.columns = std::max(terms.columns, about.columns);
        // A column of few whole numbers is a fact and a number.
        for (const auto& fact : about.facts)
            if (std::find(numbers.begin(), numbers.end(), fact.name) == numbers.end())
                terms.facts.push_back({fact.name, fact.ordered, fact.values});
    }
    for (const auto& name : numbers) terms.facts.push_back({name, true});
    terms.labels = data.info().classNames;
    const auto* text = dynamic_cast<const TokenDataset*>(&data);
    terms.tokens = text && text->tokenizer();
    if (!terms.tokens) {
        if (!classes.empty())
            throw OptionError("classes", "is of tokens, and " + data.info().name + " has none");
    } else if (classes.empty()) {
        terms.classes = tokenClassNames();
    } else {
        std::set<std::string> names;
        for (const auto& [token, name] : readTokenClasses(classes)) names.insert(name);
        terms.classes.assign(names.begin(), names.end());
    }
    return terms;
}

namespace {

/// The label of an example, from 0; -1: it has no class.
std::int64_t labelOf(const Dataset& data, std::int64_t example) {
    const auto label = data.sample(example).label;
    return label >= 0 && label < std::ssize(data.info().classNames) ? label : -1;
}

HypothesisValues hypothesisValues(const PairObjects& objects, const Dataset& data,
                                  const HypothesisTerms& terms, const std::string& classes) {
    const auto n = objects.shape.objects, examples = objects.examples.size();
    HypothesisValues values;
    values.objects = n, values.starts = objects.starts;
    const auto numbers = data.objectNumbers();
    const auto kept = terms.facts.size() - numbers.size();
    values.facts.assign(examples * n * terms.facts.size(),
                        std::numeric_limits<double>::quiet_NaN());
    const auto put = [&](std::size_t e, std::size_t k, std::size_t fact, double value) {
        values.facts[(e * n + k) * terms.facts.size() + fact] = value;
    };
    if (kept > 0) {
        const auto& about = *data.objectFacts();
        const auto facts = readAllFacts(objects, data);
        std::size_t to = 0;
        for (std::size_t f = 0; f < about.facts.size(); ++f) {
            if (to == kept || terms.facts[to].name != about.facts[f].name) continue;
            for (std::size_t at = 0; at < examples * n; ++at)
                if (const auto value = facts[at * about.facts.size() + f]; value != kEmptyPlace)
                    put(at / n, at % n, to, value + about.facts[f].least);
            ++to;
        }
    }
    std::vector<double> own(n * numbers.size());
    for (std::size_t e = 0; e < examples && !numbers.empty(); ++e) {
        data.readObjectNumbers(objects.examples[e], own);
        for (std::size_t at = 0; at < own.size(); ++at)
            put(e, at / numbers.size(), kept + at % numbers.size(), own[at]);
    }
    if (!terms.labels.empty())
        for (const auto example : objects.examples) values.labels.push_back(labelOf(data, example));
    if (!terms.tokens) return values;
    const auto& text = dynamic_cast<const TokenDataset&>(data);
    const auto tokens = windowTokens(objects, text);
    const auto window = static_cast<std::size_t>(text.context());
    const auto kinds = classes.empty() ? tokenClasses(objects.shape, tokens.tokens, tokens.starts,
                                                      *text.tokenizer())
                                       : std::vector<std::int64_t>();
    const auto named =
        classes.empty() ? std::map<std::string, std::string>() : readTokenClasses(classes);
    for (std::size_t at = 0; at < examples * n; ++at) {
        const auto id = tokens.tokens[at / n * window + tokens.starts[at / n] + at % n];
        values.tokens.push_back(plainToken(text.tokenizer()->piece(static_cast<std::int32_t>(id))));
        if (classes.empty()) {
            values.classes.push_back(tokenClassNames()[static_cast<std::size_t>(kinds[at])]);
        } else {
            const auto found = named.find(values.tokens.back());
            values.classes.push_back(found == named.end() ? std::string() : found->second);
        }
    }
    return values;
}

}  // namespace

std::vector<std::string> hypothesisWordsOf(const Dataset& data) {
    PairObjects objects;
    if (const auto* facts = data.objectFacts())
        objects.shape.objects = static_cast<std::size_t>(facts->objects);
    objects.columns = dynamic_cast<const ImageDataset*>(&data) != nullptr;
    return hypothesisWords(hypothesisTerms(objects, data, {}));
}

void addHypotheses(PairAttributes& attributes, const PairObjects& objects, const Dataset& data,
                   const OwnHypotheses& own) {
    std::vector<Hypothesis> all;
    const auto terms = hypothesisTerms(objects, data, own.classes);
    for (const auto& text : own.texts)
        for (auto& one : parseHypotheses(text, terms)) all.push_back(std::move(one));
    if (all.empty()) return;
    const auto values = hypothesisValues(objects, data, terms, own.classes);
    for (const auto& one : all) {
        auto attribute = attributeOf(one, objects.shape, terms, values);
        if (!differs(objects.shape, attribute))
            throw OptionError("hypothesis", "'" + printable(one.text) +
                                                "' is the same for all pairs of " +
                                                groupedNumber(std::ssize(objects.examples)) + " " +
                                                objects.noun + ": there is nothing to tell");
        attributes.all.push_back(std::move(attribute));
    }
}

const PairAttribute& attributeFor(PairAttributes& attributes, const PairObjects& objects,
                                  const Dataset& data, const std::string& name) {
    std::vector<std::string> names;
    for (const auto& one : attributes.all) {
        names.push_back(one.name);
        // Attributes that are the same on all pairs are one, by all their names; an atlas with
        // hypotheses may know more of them.
        for (std::size_t begin = 0; begin < name.size();) {
            const auto end = std::min(name.find(" = ", begin), name.size());
            if ((" = " + one.name + " = ").find(" = " + name.substr(begin, end - begin) + " = ") !=
                std::string::npos)
                return one;
            begin = end + 3;
        }
    }
    if (const auto at = attributeNamed(attributes, name); at != std::string::npos)
        return attributes.all[at];
    // A hypothesis has signs that no name has; for others the nearest name says more.
    if (name.find_first_of("()=<>") == std::string::npos)
        throw OptionError("attribute", unknownName("attribute", name, names));
    try {
        addHypotheses(attributes, objects, data, {{name}, {}});
    } catch (const OptionError& error) {
        throw OptionError("attribute", error.message());
    }
    return attributes.all.back();
}

FactTable factsOfObjects(const PairObjects& objects, const Dataset& data) {
    FactTable table;
    if (hasFacts(objects, data)) {
        for (const auto& fact : data.objectFacts()->facts) table.names.push_back(fact.name);
        for (const auto fact : readAllFacts(objects, data)) table.values.push_back(fact);
    } else if (const auto* text = dynamic_cast<const TokenDataset*>(&data);
               text && text->tokenizer()) {
        const auto all = windowTokens(objects, *text);
        table.names = {"class"};
        table.values = tokenClasses(objects.shape, all.tokens, all.starts, *text->tokenizer());
    }
    return table;
}

std::vector<int> lineStartsOf(const PairObjects& objects, const Dataset& data) {
    const auto* text = dynamic_cast<const TokenDataset*>(&data);
    if (!text || !text->tokenizer()) return {};
    const auto all = windowTokens(objects, *text);
    const std::size_t n = objects.shape.objects,
                      window = all.tokens.size() / objects.examples.size();
    std::vector<int> starts;
    for (std::size_t e = 0; e < objects.examples.size(); ++e) {
        int start = -1;
        for (std::size_t k = 0; k < n; ++k) {
            starts.push_back(start);
            const auto id = all.tokens[e * window + all.starts[e] + k];
            const auto piece = text->tokenizer()->piece(static_cast<std::int32_t>(id));
            if (piece.find('\n') != std::string_view::npos) start = static_cast<int>(k) + 1;
        }
    }
    return starts;
}

void keepDifferent(PairObjects& objects, const Dataset& data) {
    const auto groups = contentGroups(data, objects.examples);
    if (groups.count == objects.examples.size()) return;
    std::vector<std::int64_t> examples, starts;
    for (std::size_t e = 0; e < groups.of.size(); ++e) {
        if (groups.of[e] != examples.size()) continue;
        examples.push_back(objects.examples[e]);
        if (!objects.starts.empty()) starts.push_back(objects.starts[e]);
    }
    objects.shape.examples = examples.size();
    objects.examples = std::move(examples), objects.starts = std::move(starts);
}

std::int64_t positionOf(const PairObjects& objects, std::size_t example, std::size_t object) {
    return objects.starts.empty() ? objects.positions.at(object)
                                  : objects.starts.at(example) + static_cast<std::int64_t>(object);
}

std::string pairText(const PairObjects& objects, const Dataset& data, std::size_t example,
                     std::size_t i, std::size_t j) {
    const auto joined = [](const std::string& a, const std::string& b) {
        return a + " \u2190 " + b;
    };
    if (objects.columns > 0) {
        const auto patch = [&](std::size_t k) {
            const auto columns = static_cast<std::size_t>(objects.columns);
            return "patch (" + std::to_string(k / columns) + ", " + std::to_string(k % columns) +
                   ")";
        };
        return joined(patch(i), patch(j));
    }
    const auto sample = data.sample(objects.examples.at(example));
    if (objects.starts.empty()) return joined(pieceAt(sample.source, i), pieceAt(sample.source, j));
    const auto start = static_cast<std::size_t>(objects.starts.at(example));
    return joined(contextOf(sample.source, start + i), contextOf(sample.source, start + j));
}

Image pairPicture(const PairObjects& objects, const Dataset& data, std::size_t example,
                  std::size_t i, std::size_t j) {
    if (!objects.starts.empty()) return {};
    const auto sample = data.sample(objects.examples.at(example));
    if (!sample.image.empty()) return shrunk(sample.image);
    const auto& pictures = sample.source.pictures;
    if (std::max(i, j) >= pictures.size()) return {};
    return besideEachOther(shrunk(pictures[i]), shrunk(pictures[j]));
}

}  // namespace relascope::core
