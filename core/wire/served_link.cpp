// SPDX-License-Identifier: GPL-3.0-or-later
#include "wire/served_link.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>

#include "options/builtin_resources.h"
#include "wire/types.h"

namespace relascope::wire {
namespace {

using core::ServedAction;
using core::ServedTensor;

constexpr std::uint64_t kAligned = 64;                    // offsets of tensors
constexpr std::uint64_t kSmall = std::uint64_t{1} << 16;  // bytes that go with the message itself
constexpr std::size_t kMostDimensions = 8, kMostFilesWaiting = 16;
constexpr std::string_view kDoorEnd = ".served";
constexpr std::chrono::seconds kSilence{2};  // after which it is said that a program is busy

std::size_t bytesOfType(const std::string& type) {
    static const std::map<std::string, std::size_t> sizes = {
        {"float32", 4}, {"float64", 8}, {"float16", 2}, {"bfloat16", 2},
        {"int64", 8},   {"int32", 4},   {"uint8", 1},   {"bool", 1}};
    const auto found = sizes.find(type);
    if (found == sizes.end()) throw FrameError("a tensor has the unknown type '" + type + "'");
    return found->second;
}

template <class T>
T servedValue(const Json& json, const char* key) {
    try {
        return json.at(key).get<T>();
    } catch (const Json::exception&) {
        throw FrameError(std::string("a message has no usable '") + key + "'");
    }
}

bool isAbout(const Json& message, std::uint64_t id) {
    const auto found = message.find("id");
    return found != message.end() && found->is_number_unsigned() &&
           found->get<std::uint64_t>() == id;
}

// The process at the other end of a socket. It is another one than the process that serves where a
// relay is between them, as of ssh, which passes on no memory.
pid_t otherEnd(int socket) {
    ucred peer{};
    socklen_t size = sizeof peer;
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.pid : 0;
}

}  // namespace

ServedTensor ServedMessage::tensor(const Json& entry) const {
    if (!entry.is_object()) throw FrameError("a message has no tensor where one belongs");
    ServedTensor tensor;
    tensor.type = servedValue<std::string>(entry, "dtype");
    std::uint64_t size = bytesOfType(tensor.type);
    const auto at = servedValue<std::uint64_t>(entry, "at");
    const auto& sizes = entry.contains("sizes") ? entry.at("sizes") : Json();
    if (!sizes.is_array() || sizes.size() > kMostDimensions)
        throw FrameError("a tensor has no sizes, or more than " + std::to_string(kMostDimensions));
    for (const auto& one : sizes) {
        if (!one.is_number_unsigned() || one.get<std::uint64_t>() > (std::uint64_t{1} << 40) ||
            __builtin_mul_overflow(size, one.get<std::uint64_t>(), &size))
            throw FrameError("a tensor has the size " + one.dump());
        tensor.sizes.push_back(one.get<std::int64_t>());
    }
    if (at % kAligned != 0 || at > bytes.size() || size > bytes.size() - at)
        throw FrameError("a tensor of " + std::to_string(size) + " bytes at " + std::to_string(at) +
                         " is not among the " + std::to_string(bytes.size()) + " bytes that came");
    tensor.bytes = bytes.subspan(at, size);
    tensor.owner = owner;
    return tensor;
}

void ServedReader::append(std::span<const std::uint8_t> bytes, std::vector<Descriptor> files) {
    m_frames.append(bytes);
    for (auto& file : files) m_files.push_back(std::move(file));
    if (m_files.size() > kMostFilesWaiting)
        throw FrameError("memory came that no message asked for");
}

std::optional<ServedMessage> ServedReader::next() {
    auto frame = m_frames.next();
    if (!frame) {
        if (!m_files.empty() && !m_frames.isInside())
            throw FrameError("memory came that no message asked for");
        return std::nullopt;
    }
    ServedMessage result;
    result.message = std::move(frame->message);
    if (const auto memory = result.message.find("memory");
        memory != result.message.end() && !memory->is_boolean()) {
        if (!memory->is_number_unsigned() || !frame->blob.empty() || m_files.empty())
            throw FrameError("a message names memory, and none came with it");
        const auto file = std::move(m_files.front());
        m_files.pop_front();
        const auto region = mapRegion(file, memory->get<std::uint64_t>());
        result.bytes = region->bytes();
        result.owner = region;
    } else {
        const auto blob = std::make_shared<const Bytes>(std::move(frame->blob));
        result.bytes = *blob;
        result.owner = blob;
    }
    return result;
}

Json ServedWriter::add(const ServedTensor& tensor) {
    m_size = (m_size + kAligned - 1) / kAligned * kAligned;
    m_parts.push_back({m_size, tensor.bytes});
    Json entry = {{"dtype", tensor.type}, {"sizes", tensor.sizes}, {"at", m_size}};
    m_size += tensor.bytes.size();
    return entry;
}

std::pair<Bytes, Descriptor> ServedWriter::frame(bool memory) && {
    if (m_size > mostRegionBytes())
        throw Error("What goes to the process that serves the model has " +
                    std::to_string(m_size >> 20) + " MiB, and at most " +
                    std::to_string(mostRegionBytes() >> 20) +
                    " MiB are sent at a time; measure fewer examples at a time.");
    if (memory && m_size >= kSmall) {
        m_message["memory"] = m_size;
        return {frameBytes(m_message), makeRegion(m_size, m_parts)};
    }
    Bytes blob(m_size);
    for (const auto& part : m_parts)
        std::copy(part.bytes.begin(), part.bytes.end(),
                  blob.begin() + static_cast<std::ptrdiff_t>(part.at));
    return {frameBytes(m_message, blob), Descriptor()};
}

template <class Function>
auto SocketLink::request(Function function) {
    const std::lock_guard lock(m_mutex);
    try {
        if (!m_socket) connect();
        return function();
    } catch (const FrameError& error) {
        refuse(error.what());
    } catch (const Json::exception&) {
        refuse("a message has a value of another kind");
    }
}

SocketLink::SocketLink(std::string name, std::string socket)
    : m_name(std::move(name)), m_path(std::move(socket)) {
    request([&] { return 0; });
}

void SocketLink::refuse(const std::string& why) {
    m_socket = Descriptor();
    throw Error("The process that serves " + m_name + " sent what it must not: " + why + ".");
}

void SocketLink::lost() {
    m_socket = Descriptor();
    m_reader = ServedReader();
    throw Error("The process that serves " + m_name +
                " has ended; serve the model again, and ask again.");
}

void SocketLink::connect() {
    m_reader = ServedReader();
    bool busy = false;
    m_socket = connectTo(m_path, &busy);
    if (busy)
        throw Error("The process that serves " + m_name +
                    " is busy and takes no more questions; ask again once it answers.");
    if (!m_socket)
        throw NoDoor("No process of yours serves a model as " + m_name +
                     "; `relascope-cli served` lists those that are there.");
    send(ServedWriter(Json{{"m", "hello"},
                           {"protocol", kServedProtocol},
                           {"version", core::builtin::version()},
                           {"pid", ::getpid()},
                           {"memory", true}}));
    const auto hello = receive();
    const auto what = servedValue<std::string>(hello.message, "m");
    if (what == "error") throw Error(servedValue<std::string>(hello.message, "text"));
    if (what != "hello" || servedValue<int>(hello.message, "protocol") != kServedProtocol)
        throw Error(m_name + " is served by another version of relascope; update the older of " +
                    "the two.");
    const auto memory = hello.message.find("memory");
    m_memory = memory != hello.message.end() && *memory == true &&
               hello.message.value("pid", 0) == otherEnd(m_socket.get());
    m_notebook = hello.message.value("notebook", false);
    auto declared = ask(ServedWriter(Json{{"m", "declare"}}), "declare").message;
    declared.erase("m"), declared.erase("id");
    m_declaration = std::move(declared);
}

void SocketLink::send(ServedWriter writer) {
    const auto [bytes, file] = std::move(writer).frame(m_memory);
    std::size_t sent = 0;
    m_heard = std::chrono::steady_clock::now();
    while (sent < bytes.size()) {
        const auto took = sendWithFile(m_socket.get(), std::span(bytes).subspan(sent),
                                       sent == 0 ? file.get() : -1);
        if (took > 0) {
            sent += static_cast<std::size_t>(took);
            continue;
        }
        if (errno == EAGAIN || errno == EWOULDBLOCK) {
            pollfd waiting{m_socket.get(), POLLOUT, 0};
            ::poll(&waiting, 1, 100);
            if (const auto wait = core::servedWait(); wait && !wait({})) {
                m_socket = Descriptor();
                throw Cancelled();
            }
        } else if (errno != EINTR) {
            lost();
        }
    }
}

// Empty as long as nothing unusual is to be said.
std::string SocketLink::waitingText(const std::string& what) const {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(
        std::chrono::steady_clock::now() - m_heard);
    if (seconds < kSilence) return what;
    const auto since = ", " + std::to_string(seconds.count()) + " s";
    if (!what.empty()) return what + since;
    if (m_notebook) return "waiting for the cell" + since;
    return "waiting for " + m_name + since + ": it answers between two steps, or two cells";
}

ServedMessage SocketLink::receive(const std::string& what) {
    std::array<std::uint8_t, 1 << 16> bytes;
    const auto wait = core::servedWait();
    struct Saying {  // takes back what was said
        ~Saying() {
            if (said) wait({});
        }
        const core::ServedWait& wait;
        bool said = false;
    } saying{wait};
    for (;;) {
        if (auto message = m_reader.next()) return std::move(*message);
        std::vector<Descriptor> files;
        const auto got = receiveWithFiles(m_socket.get(), bytes, files);
        if (got > 0) {
            m_reader.append(std::span(bytes).first(static_cast<std::size_t>(got)),
                            std::move(files));
            continue;
        }
        if (got == 0) lost();
        if (errno == EINTR) continue;
        if (errno != EAGAIN && errno != EWOULDBLOCK) lost();
        pollfd waiting{m_socket.get(), POLLIN, 0};
        ::poll(&waiting, 1, 100);
        const auto text = waitingText(what);
        saying.said |= wait && !text.empty();
        if (wait && !wait(text)) {
            // What is still on its way would be taken for the next answer.
            m_socket = Descriptor();
            throw Cancelled();
        }
    }
}

ServedMessage SocketLink::answer(std::uint64_t id) {
    std::string waitsFor;
    for (;;) {
        auto message = receive(waitsFor);
        const auto what = servedValue<std::string>(message.message, "m");
        if (what == "bye") lost();
        if (what == "waiting") {
            waitsFor = message.message.value("text", std::string());
            continue;
        }
        m_heard = std::chrono::steady_clock::now();
        if (!isAbout(message.message, id)) continue;  // of a request that was cancelled
        if (what != "error") return message;
        const auto text = servedValue<std::string>(message.message, "text");
        if (message.message.value("key", std::string()) == "cancelled") throw Cancelled();
        throw Error(text);
    }
}

ServedMessage SocketLink::ask(ServedWriter writer, const char* wanted) {
    const auto id = ++m_id;
    writer.message()["id"] = id;
    send(std::move(writer));
    auto message = answer(id);
    if (const auto what = servedValue<std::string>(message.message, "m"); what != wanted)
        throw FrameError("it answers '" + what + "' where '" + wanted + "' was asked");
    return message;
}

Json SocketLink::declaration() const {
    const std::lock_guard lock(m_mutex);
    return m_declaration;
}

// Cancels a pass that has failed on this side, so that the connection stays usable.
void SocketLink::takeBack(std::uint64_t id) {
    if (!m_socket) return;
    try {
        send(ServedWriter(Json{{"m", "cancel"}, {"id", id}}));
        for (;;) {
            const auto message = answer(id);
            const auto what = servedValue<std::string>(message.message, "m");
            if (what == "scores") return;
            if (what == "point" && message.message.value("wait", false))
                send(ServedWriter(Json{{"m", "unchanged"}, {"id", id}}));
        }
    } catch (const std::exception&) {  // the answer to the cancellation, or the end of the process
    }
}

core::ServedScores SocketLink::forward(const core::ServedPass& pass,
                                       const core::ServedPointMet& met) {
    return request([&] {
        const auto id = ++m_id;
        ServedWriter writer(Json{{"m", "forward"}, {"id", id}});
        auto& message = writer.message();
        if (pass.input) {
            message["input"] = writer.add(*pass.input);
        } else {
            message["split"] = pass.split;
            message["indices"] = pass.indices;
        }
        Json points = Json::array();
        std::set<std::string> asked;
        for (const auto& [name, action] : pass.points) {
            Json entry;
            switch (action.what) {
                case ServedAction::Do::Read:
                case ServedAction::Do::Exchange:
                    entry["do"] = action.what == ServedAction::Do::Read ? "read" : "exchange";
                    if (action.gradient) entry["gradient"] = true;
                    asked.insert(name);
                    break;
                case ServedAction::Do::Multiply:
                    entry = {{"do", "factors"}, {"axis", action.axis}};
                    entry["values"] = writer.add(action.values);
                    break;
                case ServedAction::Do::Put:
                    entry["do"] = "put";
                    entry["places"] = Json::array();
                    for (const auto& places : action.places)
                        entry["places"].push_back(places ? Json(*places) : Json());
                    entry["values"] = writer.add(action.values);
                    break;
            }
            points.push_back({name, std::move(entry)});
        }
        message["points"] = std::move(points);
        if (pass.after)
            message["after"] = {{"block", pass.after->first},
                                {"stream", writer.add(pass.after->second)}};
        if (pass.step) message["weights"] = {{"step", *pass.step}};
        if (pass.fresh) message["weights"] = {{"fresh", *pass.fresh}};
        if (pass.version) message["check"] = *pass.version;
        if (pass.gradients) message["gradients"] = true;
        send(std::move(writer));
        for (;;) {
            const auto given = answer(id);
            const auto what = servedValue<std::string>(given.message, "m");
            if (what == "scores")
                return core::ServedScores{given.tensor(given.message.value("tensor", Json())), id};
            if (what != "point")
                throw FrameError("it answers '" + what + "' where a pass was asked");
            const auto name = servedValue<std::string>(given.message, "name");
            if (!asked.contains(name))
                throw FrameError("it sent the point '" + name + "', which was not asked for");
            const auto tensor = given.tensor(given.message.value("tensor", Json()));
            const bool waits = given.message.value("wait", false);
            std::optional<ServedTensor> result;
            try {
                if (met) result = met(name, tensor, waits);
            } catch (...) {
                takeBack(id);
                throw;
            }
            if (!waits) continue;
            ServedWriter reply(Json{{"m", result ? "put" : "unchanged"}, {"id", id}});
            if (result) reply.message()["tensor"] = reply.add(*result);
            send(std::move(reply));
        }
    });
}

std::map<std::string, ServedTensor> SocketLink::backward(std::uint64_t pass,
                                                         const ServedTensor& gradient) {
    return request([&] {
        ServedWriter writer(Json{{"m", "backward"}, {"pass", pass}});
        writer.message()["gradient"] = writer.add(gradient);
        const auto answer = ask(std::move(writer), "gradients");
        std::map<std::string, ServedTensor> all;
        const auto tensors = answer.message.value("tensors", Json::object());
        if (!tensors.is_object()) throw FrameError("gradients have no names");
        for (const auto& [name, entry] : tensors.items()) all[name] = answer.tensor(entry);
        return all;
    });
}

core::ServedExamples SocketLink::examples(const std::string& split,
                                          std::span<const std::int64_t> indices, bool all) {
    return request([&] {
        Json asked = {{"m", "examples"},
                      {"split", split},
                      {"indices", std::vector<std::int64_t>(indices.begin(), indices.end())}};
        if (!all) asked["only"] = "labels";
        const auto answer = ask(ServedWriter(std::move(asked)), "examples");
        core::ServedExamples examples;
        const auto list = answer.message.value("examples", Json::array());
        if (!list.is_array()) throw FrameError("examples are no list");
        for (const auto& one : list) {
            if (!one.is_object()) throw FrameError("an example is no map");
            core::ServedExamples::About about;
            const auto has = [&](const char* key) {
                return one.contains(key) && !one.at(key).is_null();
            };
            if (has("origin")) about.origin = servedValue<std::string>(one, "origin");
            if (has("length")) about.length = servedValue<std::int64_t>(one, "length");
            if (has("text")) about.text = servedValue<std::string>(one, "text");
            if (has("pieces")) about.pieces = servedValue<std::vector<std::string>>(one, "pieces");
            examples.about.push_back(std::move(about));
        }
        const auto tensors = answer.message.value("tensors", Json::object());
        if (!tensors.is_object()) throw FrameError("tensors of examples have no names");
        for (const auto& [name, entry] : tensors.items())
            examples.tensors[name] = answer.tensor(entry);
        return examples;
    });
}

core::ServedWeights SocketLink::weights() {
    return request([&] {
        const auto answer = ask(ServedWriter(Json{{"m", "checksum"}}), "checksum");
        core::ServedWeights weights;
        weights.crc32 = servedValue<std::uint32_t>(answer.message, "crc32");
        weights.version = servedValue<std::int64_t>(answer.message, "version");
        if (const auto step = answer.message.find("step");
            step != answer.message.end() && step->is_number_integer())
            weights.step = step->get<std::int64_t>();
        weights.steps = answer.message.value("steps", decltype(weights.steps)());
        std::sort(weights.steps.begin(), weights.steps.end());
        return weights;
    });
}

std::int64_t SocketLink::version() {
    return request([&] {
        const auto answer =
            ask(ServedWriter(Json{{"m", "checksum"}, {"version_only", true}}), "checksum");
        return servedValue<std::int64_t>(answer.message, "version");
    });
}

core::ServedLinkPtr openServedDoor(const std::string& name) {
    return std::make_shared<SocketLink>(name, runtimeFolder() + "/" + name + std::string(kDoorEnd));
}

std::vector<FoundDoor> servedDoors(std::stop_token stop) {
    namespace fs = std::filesystem;
    std::vector<FoundDoor> found;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(runtimeFolder(), error)) {
        if (stop.stop_requested()) break;
        const auto file = entry.path().filename().string();
        if (!file.ends_with(kDoorEnd) || !entry.is_socket(error)) continue;
        FoundDoor door;
        door.name = file.substr(0, file.size() - kDoorEnd.size());
        try {
            const auto started = std::chrono::steady_clock::now();
            const ServedWaitScope hurry([&](const std::string&) {
                return !stop.stop_requested() &&
                       std::chrono::steady_clock::now() - started < std::chrono::seconds(2);
            });
            const SocketLink link(door.name, entry.path().string());
            const auto declared = core::declarationFrom(link.declaration());
            door.program = declared.program, door.model = declared.model;
            door.parameters = declared.parameters, door.step = declared.step;
        } catch (const NoDoor&) {
            continue;  // of a process that was killed
        } catch (const Cancelled&) {
            door.problem = "is busy and does not answer now";
        } catch (const Error& problem) {
            door.problem = problem.what();
        }
        found.push_back(std::move(door));
    }
    std::sort(found.begin(), found.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    return found;
}

}  // namespace relascope::wire
