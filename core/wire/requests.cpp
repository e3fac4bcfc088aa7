// SPDX-License-Identifier: GPL-3.0-or-later
#include "wire/requests.h"

#include <algorithm>
#include <utility>

#include "files/atomic_file.h"
#include "question/question_json.h"
#include "wire/answer_frame.h"
#include "wire/host_link.h"

namespace relascope::wire {

void to_json(Json& json, const Asked& asked) {
    json = {{"command", asked.command}, {"question", Json(core::jsonOf(asked))},
            {"sample", asked.sample},   {"shortened", asked.shortened},
            {"second", asked.second},   {"edits", asked.edits},
            {"data", asked.data},       {"classNames", asked.classNames},
            {"cell", asked.cell}};
}

void from_json(const Json& json, Asked& asked) {
    static_cast<Question&>(asked) = core::questionOf(json.at("command").get<std::string>(),
                                                     nlohmann::ordered_json(json.at("question")));
    json.at("sample").get_to(asked.sample);
    json.at("shortened").get_to(asked.shortened);
    json.at("second").get_to(asked.second);
    json.at("edits").get_to(asked.edits);
    json.at("data").get_to(asked.data);
    json.at("classNames").get_to(asked.classNames);
    json.at("cell").get_to(asked.cell);
}

namespace {

Json messageOf(const Asked& asked) {
    return {{"asked", asked}, {"lane", static_cast<int>(asked.lane)}};
}

}  // namespace

OpenedWeights openWeights(Session& session, const Asked& asked, const Session::Progress& progress) {
    return session.askFor<OpenedWeights>("open", messageOf(asked), progress);
}

namespace {

// The order of maps in a result.
std::tuple<MapKind, int, int> placeOf(const RelationMap& map) {
    return {map.kind, map.layer, map.index};
}

}  // namespace

ProbeResult SentMaps::unsent(ProbeResult result) {
    std::erase_if(result.maps, [this](const auto& m) { return !m_sent.insert(placeOf(m)).second; });
    return result;
}

SharedResult probeOnce(Session& session, const Asked& asked, const Session::Progress& progress) {
    Json message = messageOf(asked);
    message["compare"] = false;
    const Frame answer = session.ask("probe", std::move(message), progress);
    return session.understood([&] {
        return std::make_shared<const ProbeResult>(
            resultFromJson(answer.message.at("result"), answer.blob));
    });
}

Probed Prober::probe(Session& session, const Asked& asked, const Session::Progress& progress,
                     const std::function<void(ProbeResult)>& partial, int shownLayer) {
    Json message = messageOf(asked);
    message["compare"] = true;
    message["shownLayer"] = shownLayer;
    message["base"] = m_base ? m_baseNumber : 0;
    message["pointsKnown"] = m_points ? m_pointsNumber : 0;
    std::vector<RelationMap> came;
    const auto complete = [&came](ProbeResult result) {
        result.maps.insert(result.maps.end(), came.begin(), came.end());
        std::sort(result.maps.begin(), result.maps.end(),
                  [](const auto& a, const auto& b) { return placeOf(a) < placeOf(b); });
        return result;
    };
    const auto part = [&](const Json& json, const Bytes& blob) {
        auto result = complete(session.understood([&] { return resultFromJson(json, blob); }));
        came = result.maps;
        if (partial) partial(std::move(result));
    };
    const Frame answer = session.ask("probe", std::move(message), progress, part);
    return session.understood([&] {
        const Json& m = answer.message;
        Probed probed;
        const auto result = [&](const char* key) {
            return std::make_shared<const ProbeResult>(resultFromJson(m.at(key), answer.blob));
        };
        if (m.contains("base"))
            m_base = std::make_shared<const ProbeResult>(
                complete(resultFromJson(m.at("base"), answer.blob)));
        if (m.contains("points"))
            m_points = std::make_shared<const std::vector<PointInfo>>(
                valueOf<std::vector<PointInfo>>(m, "points"));
        m_baseNumber = valueOf<std::uint64_t>(m, "baseNumber");
        m_pointsNumber = valueOf<std::uint64_t>(m, "pointsNumber");
        if (!m_base || !m_points) throw FrameError("an answer to a probe lacks its maps");
        probed.points = m_points;
        probed.problem = valueOf<std::string>(m, "problem");
        probed.means = valueOf<TakenMeans>(m, "means");
        probed.result = m.contains("result") ? result("result") : m_base;
        if (m.contains("result")) probed.before = m_base;
        return probed;
    });
}

std::vector<std::optional<EffectAlone>> effectsAlone(Session& session, const Asked& asked,
                                                     const Session::Progress& progress) {
    return session.askFor<std::vector<std::optional<EffectAlone>>>("effects", messageOf(asked),
                                                                   progress);
}

TextEnd generate(Session& session, const Asked& asked, const GenerateWatch& watch,
                 const Session::Progress& progress) {
    Json message = messageOf(asked);
    bool follows = watch.follows();
    message["follow"] = follows;
    const auto part = [&](const Json& json, const Bytes& blob) {
        if (json.contains("pieces"))
            watch.prompt(valueOf<std::vector<std::string>>(json, "pieces"),
                         valueOf<std::vector<std::int64_t>>(json, "ids"));
        else if (json.contains("plain"))
            watch.plain(valueOf<std::vector<GeneratedToken>>(json, "plain"));
        else if (json.contains("tokens"))
            watch.tokens(valueOf<std::vector<GeneratedToken>>(json, "tokens"));
        else
            watch.result(
                session.understood([&] { return resultFromJson(json.at("result"), blob); }),
                valueOf<int>(json, "first"));
    };
    const auto following = [&](double fraction) {
        if (const bool now = watch.follows(); now != std::exchange(follows, now))
            session.change({{"follow", now}});
        return !progress || progress(fraction);
    };
    const auto end = session.ask("generate", std::move(message), following, part).message;
    return session.understood([&] { return end.get<TextEnd>(); });
}

Answer ask(Session& session, const Asked& asked, const Session::Progress& progress,
           const std::function<void(Answer)>& partial) {
    const auto answerOf = [&](const Json& json, const Bytes& blob) {
        return session.understood([&] { return answerFromJson(json, blob); });
    };
    const auto part = [&](const Json& json, const Bytes& blob) {
        if (partial) partial(answerOf(json, blob));
    };
    Json message = messageOf(asked);
    Bytes blob;
    if (asked.known) message["known"] = answerToJson(*asked.known, blob);
    const auto answer = session.ask("ask", std::move(message), progress, part, blob);
    return answerOf(answer.message, answer.blob);
}

std::optional<Answer> keptAnswer(Session& session, const Asked& asked,
                                 const Session::Progress& progress) {
    Json message = messageOf(asked);
    message["kept"] = true;
    const auto answer = session.ask("ask", std::move(message), progress);
    if (answer.message.empty()) return {};
    return session.understood([&] { return answerFromJson(answer.message, answer.blob); });
}

AnalysisCost cost(Session& session, const Asked& asked, const Session::Progress& progress) {
    return session.askFor<AnalysisCost>("cost", messageOf(asked), progress);
}

const OpenedSplit& OpenedData::at(const std::string& name) const {
    for (const auto& known : {name, std::string("validation")})
        if (const auto* split = find(known)) return *split;
    return splits.at(0);
}

namespace {

Json splitOf(const Data& data, const std::string& split) {
    return {{"data", data}, {"split", split}};
}

}  // namespace

OpenedData openData(Session& session, const Data& data, const Session::Progress& progress) {
    auto opened = session.askFor<OpenedData>("data", {{"data", data}}, progress);
    if (opened.splits.empty()) throw Error("These data have no split with examples.");
    opened.data = data;  // a host names its own paths
    return opened;
}

std::vector<DataExample> examples(Session& session, const Data& data, const std::string& split,
                                  const std::vector<std::int64_t>& indices,
                                  const Session::Progress& progress) {
    Json request = splitOf(data, split);
    request["indices"] = packed(indices);
    auto found = session.askFor<std::vector<DataExample>>("examples", std::move(request), progress);
    if (found.size() != indices.size()) throw FrameError("an answer lacks examples");
    return found;
}

LabelSearch findLabel(Session& session, const Example& from, std::int64_t label, bool forward,
                      std::int64_t before, const Session::Progress& progress) {
    Json request = {{"from", from}, {"label", label}, {"forward", forward}, {"before", before}};
    return session.askFor<LabelSearch>("find", std::move(request), progress);
}

std::vector<std::int64_t> labelled(Session& session, const Data& data, const std::string& split,
                                   std::int64_t label, std::int64_t most,
                                   const Session::Progress& progress) {
    Json request = splitOf(data, split);
    request["label"] = label;
    request["most"] = most;
    const auto answer = session.ask("labelled", std::move(request), progress).message;
    return session.understood([&] { return unpacked<std::int64_t>(answer); });
}

DataStatistics statistics(Session& session, const Data& data, const std::string& split,
                          std::int64_t most, const Session::Progress& progress) {
    Json request = splitOf(data, split);
    request["most"] = most;
    return session.askFor<DataStatistics>("statistics", std::move(request), progress);
}

std::int64_t saveExamples(Session& session, const Data& data, const std::string& split,
                          const std::optional<std::vector<std::int64_t>>& indices,
                          std::int64_t count, const std::string& file,
                          const Session::Progress& progress) {
    Json request = splitOf(data, split);
    if (indices) request["indices"] = packed(*indices);
    request["count"] = count;
    request["file"] = file;
    return session.askFor<std::int64_t>("save", std::move(request), progress);
}

ProbeSample picture(Session& session, const std::string& file,
                    const std::optional<ModelOptions>& model, const Session::Progress& progress) {
    return session.askFor<ProbeSample>("picture", {{"file", file}, {"model", model}}, progress);
}

Devices devices(Session& session, const std::string& wanted, bool memory,
                const Session::Progress& progress, const std::string& host) {
    Json request = {{"wanted", wanted}, {"memory", memory}};
    if (!host.empty()) request["host"] = host;
    return session.askFor<Devices>("devices", std::move(request), progress);
}

void branch(Session& session, const std::string& from, std::int64_t step, const std::string& to) {
    session.ask("branch", {{"from", from}, {"step", step}, {"to", to}});
}

OpenedCheckpoint openFarCheckpoint(Session& session, const std::string& path,
                                   const Session::Progress& progress) {
    const auto far = farPathOf(path);
    if (!far) throw FileError(path, "is not in the mirror of another machine");
    auto opened = session.askFor<OpenedCheckpoint>("checkpoint", {{"path", path}}, progress);
    for (const auto& tensor : opened.info.tensors)
        if (tensor.file < 0 || std::cmp_greater_equal(tensor.file, opened.info.files.size()))
            throw FrameError("a tensor of a checkpoint names a file that is not there");
    const auto wanted = [&] { return !progress || progress(1.0); };
    for (auto* place : {&opened.info.path, &opened.info.folder, &opened.run})
        if (!place->empty()) *place = mirrorPath(far->host, *place);
    core::makeDirectories(opened.info.folder);  // by which the run of a checkpoint is found
    if (!opened.run.empty()) mirrorFile(session, opened.run + "/run.json", wanted);
    mirrorTokenizer(session, opened.run.empty() ? opened.info.folder : opened.run, progress);
    return opened;
}

void mirrorTokenizer(Session& session, const std::string& folder,
                     const Session::Progress& progress) {
    for (const char* name :
         {"tokenizer.json", "vocab.json", "merges.txt", "vocab.txt", "tokenizer_config.json",
          "special_tokens_map.json", "added_tokens.json", "config.json", "tokenizer.pkl"})
        mirrorFile(session, folder + "/" + name, [&] { return !progress || progress(1.0); });
}

TensorStatistics farTensorStatistics(Session& session, const std::string& path,
                                     const std::string& tensor, const Session::Progress& progress) {
    return session.askFor<TensorStatistics>("tensor", {{"path", path}, {"tensor", tensor}},
                                            progress);
}

void drop(Session& session) {
    if (session.isRunning()) session.ask("drop", Json::object());
}

}  // namespace relascope::wire
