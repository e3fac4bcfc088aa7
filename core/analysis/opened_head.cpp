// SPDX-License-Identifier: GPL-3.0-or-later
// The heads that an open model of features is given.
#include <torch/torch.h>
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <sstream>
#include <string_view>

#include "analysis/opened_parts.h"
#include "checkpoint/adapter.h"
#include "data/batches.h"
#include "files/atomic_file.h"
#include "files/safetensors.h"
#include "interventions/edited_run.h"
#include "model/finite_outputs.h"
#include "model/public/family.h"
#include "readout/name_list.h"
#include "readout/zero_shot.h"
#include "train/out_of_memory.h"
#include "types/text_format.h"

namespace relascope::core {
namespace {

using HeadKind = HeadChoice::Kind;

constexpr std::int64_t kHeadBatch = 32;  // of a pass
constexpr const char* kTextTemplate = "a photo of a {}.";

PublicImageModelImpl& imagesOf(ModelImpl& model) {
    return dynamic_cast<PublicImageModelImpl&>(model);
}

std::string countOf(std::int64_t count, const std::string& what) {
    const auto* many = what.ends_with('s') ? "es" : "s";
    return groupedNumber(count) + " " + what + (count == 1 ? "" : many);
}

std::string headHex(std::uint32_t number) {
    std::ostringstream text;
    text << std::hex << std::setw(8) << std::setfill('0') << number;
    return text.str();
}

/// The features of pictures, of a model that has no head.
LabelledFeatures pictureFeatures(ModelImpl& model, const DatasetPtr& data,
                                 const std::stop_token& stop, const ProgressCallback& progress,
                                 const EditedPass& pass = {}) {
    const torch::NoGradGuard noGrad;
    const EvaluationMode evaluation(model);
    const auto device = model.device();
    LabelledFeatures found{{}, {}, data->info().classNames};
    std::vector<torch::Tensor> rows;
    BatchLoader loader(data, plainOrder(data->size()), kHeadBatch);
    std::int64_t done = 0;
    while (const auto batch = loader.next()) {
        if (stop.stop_requested() ||
            (progress && !progress(static_cast<double>(done) / static_cast<double>(data->size()))))
            throw Cancelled();
        if (batch->kind != TargetKind::Class)
            throw OptionError("head", "is fitted on pictures with a class each; " +
                                          data->info().name + " has other targets");
        const auto input = inputOf(*batch, device);
        std::vector<std::int64_t> indices(static_cast<std::size_t>(batch->size()));
        std::iota(indices.begin(), indices.end(), done);
        const auto features = pass ? pass(input, data, indices) : answersOf(model, input);
        rows.push_back(features.to(torch::kCPU, torch::kFloat));
        const auto labels = batch->targets.to(torch::kLong).contiguous();
        found.labels.insert(found.labels.end(), labels.const_data_ptr<std::int64_t>(),
                            labels.const_data_ptr<std::int64_t>() + labels.numel());
        done += batch->size();
    }
    found.features = torch::cat(rows);
    if (found.classes.empty() && !found.labels.empty()) {
        const auto most = *std::max_element(found.labels.begin(), found.labels.end());
        for (std::int64_t label = 0; label <= most; ++label)
            found.classes.push_back(std::to_string(label));
    }
    return found;
}

FeatureHead fittedBy(const HeadChoice& choice, const LabelledFeatures& features) {
    if (choice.kind == HeadKind::Means) return nearestMeanHead(features);
    return ridgeHead(features, choice.ridge > 0.0 ? choice.ridge : chosenRidge(features, 0));
}

ImageHead imageHeadOf(const FeatureHead& head) {
    if (head.kind == FeatureHead::Kind::NearestMean) return {head.weights, {}, true};
    const auto weights = (head.weights / head.deviation.unsqueeze(1)).t().contiguous();
    return {weights, head.offset - torch::mv(weights, head.mean), false};
}

ImageHead imageHeadOf(const ZeroShot& texts) {
    const auto weights = unitRows(texts.texts.features) * std::exp(texts.logScale);
    if (texts.bias == 0.0) return {weights, {}, true};
    return {weights, torch::full({weights.size(0)}, texts.bias, torch::kDouble), true};
}

/// The places of the classes of data among `names`, and behind them the other names: by name, else
/// in their order, if there are as many, which `note` then says. Throws OptionError.
std::vector<std::int64_t> placesOf(const std::vector<std::string>& classes,
                                   const std::vector<std::string>& names, bool byPlace,
                                   std::string& note) {
    std::vector<std::int64_t> order;
    const auto plain = [&] {
        order.resize(names.size());
        for (std::size_t i = 0; i < names.size(); ++i) order[i] = static_cast<std::int64_t>(i);
        return order;
    };
    std::vector<bool> taken(names.size());
    for (const auto& name : classes) {
        const auto at = std::find(names.begin(), names.end(), name);
        if (at == names.end()) {
            if (!byPlace || names.size() != classes.size())
                throw OptionError("head", "has no class '" + name.substr(0, 60) +
                                              "', which the pictures have; it has " +
                                              countOf(std::ssize(names), "class") +
                                              ", among them '" + names.front().substr(0, 60) + "'");
            note = "the texts stand for the classes in their order: '" + names.front() + "' for '" +
                   classes.front() + "', ...";
            return plain();
        }
        order.push_back(at - names.begin());
        taken[static_cast<std::size_t>(at - names.begin())] = true;
    }
    for (std::size_t i = 0; i < names.size(); ++i)
        if (!taken[i]) order.push_back(static_cast<std::int64_t>(i));
    return order;
}

void reorderHead(ImageHead& head, std::vector<std::string>& names,
                 const std::vector<std::int64_t>& order) {
    const auto places = torch::tensor(order, torch::kLong);
    head.weights = head.weights.index_select(0, places);
    if (head.bias.defined()) head.bias = head.bias.index_select(0, places);
    std::vector<std::string> ordered;
    for (const auto at : order) ordered.push_back(names[static_cast<std::size_t>(at)]);
    names = std::move(ordered);
}

// Texts
// -------------------------------------------------------------------------------------------------

/// Names and the templates that they are put into: lines with "{}".
struct TextLines {
    std::vector<std::string> names, templates;
};

TextLines textLinesOf(const std::vector<std::string>& all) {
    TextLines lines;
    for (const auto& line : all)
        (line.find("{}") == std::string::npos ? lines.names : lines.templates).push_back(line);
    if (lines.templates.empty()) lines.templates = {kTextTemplate};
    return lines;
}

/// The token that fills a text up, by the settings beside the weights; else the last one that the
/// tokenizer puts behind a text.
std::int64_t paddingOf(const Tokenizer& tokenizer, const std::string& folder) {
    for (const char* file : {"special_tokens_map.json", "tokenizer_config.json"}) {
        const auto path = std::filesystem::path(folder) / file;
        if (!std::filesystem::is_regular_file(path)) continue;
        const auto json =
            nlohmann::json::parse(readTextFile(path.string(), 1u << 24), nullptr, false);
        if (!json.is_object() || !json.contains("pad_token")) continue;
        const auto& given = json["pad_token"];
        const auto text = given.is_object() ? given.value("content", nlohmann::json()) : given;
        if (!text.is_string()) continue;
        const auto ids = tokenizer.encodeTyped(text.get<std::string>(), false);
        if (ids.size() == 1) return ids.front();
    }
    const auto empty = tokenizer.encodeTyped("");
    if (empty.empty())
        throw OptionError("head", tokenizer.name() +
                                      " does not say which token fills a text up; "
                                      "give 'pad_token' in tokenizer_config.json");
    return empty.back();
}

/// Texts as a tower reads them: of each template a row of ids for each name.
struct TextRows {
    std::vector<std::string> names;
    std::vector<std::vector<std::int64_t>> ids;
    std::int64_t templates = 1;
};

void takeScale(ZeroShot& shot, PublicImageModelImpl& model) {
    shot.logScale = model.logit_scale.detach().item<double>();
    shot.each = model.logit_bias.defined();
    if (shot.each) shot.bias = model.logit_bias.detach().item<double>();
}

ZeroShot zeroShotOf(PublicImageModelImpl& model, const TextRows& texts, const std::stop_token& stop,
                    const ProgressCallback& progress) {
    const torch::NoGradGuard noGrad;
    const EvaluationMode evaluation(model);
    const auto device = model.device();
    std::vector<torch::Tensor> rows;
    for (std::size_t i = 0; i < texts.ids.size(); ++i) {
        if (stop.stop_requested() ||
            (progress && !progress(static_cast<double>(i) / static_cast<double>(texts.ids.size()))))
            throw Cancelled();
        const auto ids = torch::tensor(texts.ids[i], torch::kLong).unsqueeze(0);
        rows.push_back(model.text->forward(ids.to(device)).to(torch::kCPU, torch::kFloat));
    }
    ZeroShot shot{{texts.names, meanOverTemplates(torch::cat(rows), texts.templates)}};
    takeScale(shot, model);
    return shot;
}

TextRows rowsOfTexts(const TextLines& lines, const Tokenizer& tokenizer, const std::string& folder,
                     const PublicImageOptions& options) {
    TextRows rows{lines.names, {}, std::ssize(lines.templates)};
    for (const auto& text : filledTemplates(lines.templates, lines.names)) {
        const auto ids = tokenizer.encodeTyped(text);
        std::vector<std::int64_t> tokens(ids.begin(), ids.end());
        const auto places = options.text_places;
        if (std::ssize(tokens) > places)
            throw OptionError("head", "the text '" + text.substr(0, 60) + "' has " +
                                          std::to_string(tokens.size()) +
                                          " tokens, and the text tower reads " +
                                          std::to_string(places) + "; give a shorter name");
        // A tower that reads its last place was trained on texts that are filled up.
        if (options.text_end == TextTowerOptions::kLastPlace)
            tokens.resize(static_cast<std::size_t>(places), paddingOf(tokenizer, folder));
        rows.ids.push_back(std::move(tokens));
    }
    return rows;
}

/// The ids of a line "49406 320 2368 49407"; empty: it is another text.
std::vector<std::int64_t> idsOfLine(std::string_view line) {
    constexpr std::string_view between = " ,\t";
    std::vector<std::int64_t> ids;
    while (true) {
        line.remove_prefix(std::min(line.size(), line.find_first_not_of(between)));
        if (line.empty()) return ids;
        std::int64_t id = 0;
        const auto [rest, error] = std::from_chars(line.data(), line.data() + line.size(), id);
        line.remove_prefix(static_cast<std::size_t>(rest - line.data()));
        const bool ends = line.empty() || between.find(line.front()) != std::string_view::npos;
        if (error != std::errc() || !ends || id < 0) return {};
        ids.push_back(id);
    }
}

/// Rows of ids, where no tokenizer reads texts: a line each, perhaps behind a name and a colon,
/// "a cat: 49406 320 2368 49407". nullopt: some line is none.
std::optional<TextRows> rowsOfIds(const std::vector<std::string>& lines,
                                  const PublicImageOptions& options) {
    TextRows rows;
    for (const auto& line : lines) {
        const auto colon = line.rfind(':');
        auto ids = idsOfLine(colon == std::string::npos ? line : line.substr(colon + 1));
        if (ids.empty()) return std::nullopt;
        auto name = line.substr(0, colon);
        name.erase(name.find_last_not_of(" \t") + 1);
        if (std::find(rows.names.begin(), rows.names.end(), name) != rows.names.end())
            throw OptionError("head", "has the name '" + name.substr(0, 60) +
                                          "' for two rows of ids; give each name once");
        rows.names.push_back(std::move(name));
        rows.ids.push_back(std::move(ids));
    }
    const auto places = options.text_places;
    const bool whole = options.text_end == TextTowerOptions::kLastPlace;
    for (std::size_t k = 0; k < lines.size(); ++k) {
        const auto refuse = [&](const std::string& why) {
            throw OptionError("head", "the ids '" + lines[k].substr(0, 60) + "' " + why);
        };
        const auto& ids = rows.ids[k];
        const auto most = *std::max_element(ids.begin(), ids.end());
        if (most >= options.text_vocab)
            refuse("hold " + std::to_string(most) + ", and the text tower knows ids below " +
                   std::to_string(options.text_vocab) + "; give those of its own tokenizer");
        if (std::ssize(ids) > places)
            refuse("are " + std::to_string(ids.size()) + ", and the text tower reads " +
                   std::to_string(places) + "; give a shorter text");
        if (whole && std::ssize(ids) < places)
            refuse("are " + std::to_string(ids.size()) + ", and the text tower reads the last of " +
                   std::to_string(places) + "; fill each row up as the model's processor does");
    }
    return rows;
}

// Making a head
// -------------------------------------------------------------------------------------------------

struct MadeHead {
    ImageHead head;
    HeadFacts facts;
    std::shared_ptr<const FeatureHead> kept = {};  ///< that was fitted, or read
};
using MakeHead =
    std::function<MadeHead(PublicImageModelImpl&, const std::stop_token&, const ProgressCallback&)>;

MadeHead madeOf(std::shared_ptr<const FeatureHead> head, const std::vector<std::string>& classes) {
    MadeHead made{imageHeadOf(*head), {}, head};
    made.facts.kind = head->kind == FeatureHead::Kind::Ridge ? HeadKind::Ridge : HeadKind::Means;
    made.facts.classes = head->classes;
    made.facts.fittedOn = head->examples();
    made.facts.ridge = head->ridge;
    reorderHead(made.head, made.facts.classes,
                placesOf(classes, head->classes, false, made.facts.note));
    return made;
}

MadeHead madeOf(const ZeroShot& texts, const std::vector<std::string>& classes) {
    MadeHead made{imageHeadOf(texts), {}};
    made.facts.kind = HeadKind::Texts;
    made.facts.classes = texts.texts.names;
    reorderHead(made.head, made.facts.classes,
                placesOf(classes, texts.texts.names, true, made.facts.note));
    return made;
}

/// How a head was fitted: as it was chosen, or as a file says.
HeadChoice fittedAs(const HeadChoice& choice, const FeatureHead& head) {
    if (choice.isFitted()) return choice;
    HeadChoice same{head.kind == FeatureHead::Kind::Ridge ? HeadKind::Ridge : HeadKind::Means};
    same.ridge = head.ridge;
    return same;
}

MakeHead fitter(const HeadChoice& choice, const HeadToGive& given) {
    if (!given.fitting)
        throw OptionError("head",
                          "is fitted on labelled pictures; give them with --data, a folder "
                          "with one folder for each class, or a .npz file");
    return [choice, data = given.fitting, classes = given.classes,
            checksum = "crc32:" + headHex(given.dataChecksum)](PublicImageModelImpl& model,
                                                               const std::stop_token& stop,
                                                               const ProgressCallback& progress) {
        auto head = fittedBy(choice, pictureFeatures(model, data, stop, progress));
        head.data = checksum;
        return madeOf(std::make_shared<const FeatureHead>(std::move(head)), classes);
    };
}

MakeHead textMaker(const std::vector<std::string>& given, const std::vector<std::string>& classes,
                   const PublicImageOptions& options, const std::string& path) {
    const auto lines = textLinesOf(given);
    if (!options.hasTexts())
        throw OptionError("head",
                          "the texts need a text tower, which this model has not; give "
                          "labelled pictures with --data, or features of texts in a "
                          ".safetensors file");
    if (lines.names.empty())
        throw OptionError("head",
                          "has no names of classes; give a name a line, or labelled "
                          "pictures with --data, whose classes have names");
    const auto folder = std::filesystem::is_directory(path)
                            ? path
                            : std::filesystem::path(path).parent_path().string();
    TokenizerPtr tokenizer;
    std::string why;
    try {
        tokenizer = checkpointTokenizer(path, 0);
        if (!tokenizer) why = "there is no tokenizer beside " + path;
    } catch (const Error& error) {
        why = error.what();
    }
    auto rows = tokenizer ? rowsOfTexts(lines, *tokenizer, folder, options)
                          : rowsOfIds(given, options).value_or(TextRows());
    if (rows.ids.empty())
        throw OptionError("head", why +
                                      ", so no text can be read; put its tokenizer.json there, "
                                      "give rows of ids, as 'a cat: 320 2368', or features of "
                                      "texts in a .safetensors file");
    return [rows, classes](PublicImageModelImpl& model, const std::stop_token& stop,
                           const ProgressCallback& progress) {
        return madeOf(zeroShotOf(model, rows, stop, progress), classes);
    };
}

/// What makes the head; `anew`: of a model with other weights.
MakeHead makerOf(const HeadToGive& given, const PublicImageOptions& options,
                 const std::string& path, bool anew) {
    const auto& choice = given.choice;
    const auto& classes = given.classes;
    if (choice.isFitted()) return fitter(choice, given);
    if (choice.kind == HeadKind::Texts) return textMaker(classes, classes, options, path);
    const auto& file = choice.file;
    const auto withFile = [file](MadeHead made) {
        made.facts.file = file;
        return made;
    };
    if (!file.ends_with(".safetensors")) {
        const auto make = textMaker(readTextNames(file), classes, options, path);
        return [make, withFile](auto& model, const auto& stop, const auto& progress) {
            return withFile(make(model, stop, progress));
        };
    }
    if (SafetensorsFile(file).find("features")) {
        return [texts = readTextFeatures(file), classes, withFile](auto& model, const auto&,
                                                                   const auto&) {
            ZeroShot shot{texts};
            // Without a scale of its own the cosines are the scores.
            if (model.logit_scale.defined()) takeScale(shot, model);
            return withFile(madeOf(shot, classes));
        };
    }
    const auto head = std::make_shared<const FeatureHead>(readHead(file));
    if (anew && given.fitting) return fitter(fittedAs(choice, *head), given);
    return [head, classes, withFile](auto&, const auto&, const auto&) {
        return withFile(madeOf(head, classes));
    };
}

}  // namespace

std::string headText(const HeadFacts& head) {
    const auto pictures = " that was fitted on " + countOf(head.fittedOn, "picture");
    std::ostringstream penalty;
    penalty << head.ridge;
    switch (head.kind) {
        case HeadKind::Means:
            return "a head of nearest means" + pictures;
        case HeadKind::Ridge:
            return "a ridge head (l = " + penalty.str() + ")" + pictures;
        case HeadKind::Texts:
            return "the texts of " + countOf(std::ssize(head.classes), "class");
        default:
            return {};
    }
}

const HeadFacts& OpenedModel::head() const {
    return m_parts->head;
}

const std::string& OpenedModel::headKey() const {
    return m_parts->headKey;
}

void OpenedModel::fitHead(ModelImpl& fresh) const {
    if (m_parts->headOf) imagesOf(fresh).setHead(m_parts->headOf(fresh, {}, {}));
}

std::unique_ptr<HeadRefit> OpenedModel::headRefit() {
    if (!m_parts->refit)
        throw OptionError("refit",
                          "is for heads that were fitted on labelled pictures: of a model of "
                          "features with --data and --head means or ridge");
    return std::make_unique<HeadRefit>(imagesOf(*m_parts->model), m_parts->refit);
}

void HeadRefit::behind(const EditedPass& pass, const std::stop_token& stop,
                       const std::function<void()>& measure) const {
    struct Returned {
        PublicImageModelImpl& model;
        ImageHead own = model.givenHead();
        ~Returned() { model.setHead(own); }
    } const returned{m_model};
    m_model.setHead({});
    const auto head = m_fit(pass, stop);
    m_model.setHead(head);
    measure();
}

void OpenedModel::saveHead(const std::string& path) const {
    if (!m_parts->fittedHead)
        throw OptionError("save_head",
                          "needs a head that was fitted: give labelled pictures, and "
                          "--head means or ridge");
    writeHead(*m_parts->fittedHead, path);
}

void OpenedModel::setHead(const HeadToGive& given, const std::stop_token& stop,
                          const ProgressCallback& progress) {
    auto& p = *m_parts;
    if (!takesHead(p.options)) {
        if (given.choice.kind == HeadKind::Automatic || given.choice.kind == HeadKind::None) return;
        throw OptionError("head", "is for models of images whose answer are features; this " +
                                      modelTitle(p.options) + " answers by itself");
    }
    if (!given.key.empty() && given.key == p.headKey) return;
    auto& o = p.options.get<PublicImageOptions>();
    auto& model = imagesOf(*p.model);
    // The answers of the model while the head is made are features.
    model.setHead({});
    o.answer = "own", o.num_classes = 0;
    p.head = {}, p.headKey.clear(), p.headOf = nullptr, p.fittedHead.reset();
    p.refit = nullptr;
    p.probes = std::make_unique<EditProbes>(*p.model, p.options);
    p.headKey = given.key;
    if (given.choice.kind == HeadKind::Automatic || given.choice.kind == HeadKind::None) return;
    p.headKey.clear();  // until there is one
    const auto made = makerOf(given, o, p.path, false)(model, stop, progress);
    model.setHead(made.head);
    p.headOf = [again = makerOf(given, o, p.path, true)](ModelImpl& fresh,
                                                         const std::stop_token& stopped,
                                                         const ProgressCallback& watch) {
        return again(imagesOf(fresh), stopped, watch).head;
    };
    if (made.kept && given.fitting)
        p.refit = [&model, choice = fittedAs(given.choice, *made.kept), data = given.fitting,
                   classes = given.classes](const EditedPass& pass,
                                            const std::stop_token& stopped) {
            const auto features = pictureFeatures(model, data, stopped, {}, pass);
            return madeOf(std::make_shared<const FeatureHead>(fittedBy(choice, features)), classes)
                .head;
        };
    if (made.kept) {
        auto kept = *made.kept;
        if (kept.model.empty()) kept.model = "crc32:" + headHex(checksum());
        p.fittedHead = std::make_shared<const FeatureHead>(std::move(kept));
    }
    p.head = made.facts, p.headKey = given.key;
    o.answer = p.head.kind == HeadKind::Texts   ? "texts"
               : p.head.kind == HeadKind::Ridge ? "ridge"
                                                : "means";
    o.num_classes = std::ssize(p.head.classes);
    p.probes = std::make_unique<EditProbes>(*p.model, p.options);
}

}  // namespace relascope::core
