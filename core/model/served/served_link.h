// SPDX-License-Identifier: GPL-3.0-or-later
// The conversation with a process that serves a model (formats.md section 24), without saying how
// it travels. Does not include torch.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/served/served_declaration.h"

namespace relascope::core {

/// Numbers on their way: contiguous, little endian.
struct ServedTensor {
    std::string type;  ///< "float32", "float64", "float16", "bfloat16", "int64", "int32", "uint8",
                       ///< "bool"
    std::vector<std::int64_t> sizes;
    std::span<const std::uint8_t> bytes;
    std::shared_ptr<const void> owner;  ///< owner of the memory of `bytes`
};

/// What happens at a point.
struct ServedAction {
    enum class Do {
        Read,      ///< the tensor is sent, and the pass continues
        Exchange,  ///< the tensor is sent, and the pass waits for another, or for "unchanged"
        Multiply,  ///< entries along `axis` are multiplied by `values`
        Put        ///< `places` get `values`
    };
    Do what = Do::Read;
    bool gradient = false;  ///< backward() gives the gradient of what was read or exchanged
    std::string axis = {};
    /// The chosen places of each axis; none: all of it.
    std::vector<std::optional<std::vector<std::int64_t>>> places = {};
    ServedTensor values = {};
};

/// One forward pass.
struct ServedPass {
    /// The examples, by number; or an input that was typed or dropped.
    std::string split = {};
    std::vector<std::int64_t> indices = {};
    std::optional<ServedTensor> input = {};
    /// In the order of the pass; those of one point are carried out one after another.
    std::vector<std::pair<std::string, ServedAction>> points = {};
    /// The block that ends with that stream: it and those before it are not run.
    std::optional<std::pair<std::string, ServedTensor>> after = {};
    std::optional<std::int64_t> step = {};     ///< kept weights of that step
    std::optional<std::uint64_t> fresh = {};   ///< weights drawn by that seed
    std::optional<std::int64_t> version = {};  ///< other weights than these are an error
    bool gradients = false;
};

/// Gets a tensor that was read, or with `wait` is exchanged; returns the tensor that the pass
/// continues with, or none where it is unchanged.
using ServedPointMet = std::function<std::optional<ServedTensor>(
    const std::string& name, const ServedTensor& value, bool wait)>;

struct ServedScores {
    ServedTensor scores;  ///< [b, classes] or [b, n, vocabulary], float32
    std::uint64_t pass = 0;
};

struct ServedWeights {
    std::uint32_t crc32 = 0;
    std::int64_t version = 0, step = -1;
    /// The steps whose weights the program has kept, ascending, with their checksums.
    std::vector<std::pair<std::int64_t, std::uint32_t>> steps = {};
};

/// Examples as people see them; an absent tensor has no sizes.
struct ServedExamples {
    struct About {
        std::string origin = {}, text = {};
        std::vector<std::string> pieces = {};
        std::int64_t length = -1;  ///< -1: as long as the others
    };
    std::vector<About> about;
    std::map<std::string, ServedTensor> tensors;  ///< "pictures", "tokens", "vectors", "labels",
                                                  ///< "attribute/NAME"
};

/// Which examples have which tokens: batches of tokens go by the numbers of their examples, too.
class ServedTokenRows {
public:
    struct Place {
        std::int64_t index = 0;
        std::int64_t other = -1;  ///< another example with the same tokens; -1: there is none
    };
    using Places = std::map<std::string, Place>;  ///< by split
    void note(std::span<const std::int64_t> tokens, const std::string& split, std::int64_t index);
    /// The examples with these tokens, padding (negative numbers) at the end left aside; none: they
    /// were typed.
    Places find(std::span<const std::int64_t> tokens) const;

private:
    mutable std::mutex m_mutex;
    std::map<std::vector<std::int64_t>, Places> m_rows;
};

/// Every function throws Error with a sentence for the user: what the process answered, or that it
/// has ended. May be called from any thread; one request at a time.
class ServedLink {
public:
    virtual ~ServedLink() = default;
    /// The message `declare`, as servedOptions() takes it: of the process that is there now.
    virtual nlohmann::json declaration() const = 0;
    virtual ServedScores forward(const ServedPass& pass, const ServedPointMet& met) = 0;
    /// The gradients of a number of which `gradient` is that of the scores of pass number `pass`,
    /// by points.
    virtual std::map<std::string, ServedTensor> backward(std::uint64_t pass,
                                                         const ServedTensor& gradient) = 0;
    /// `all`: else the labels alone are needed.
    virtual ServedExamples examples(const std::string& split, std::span<const std::int64_t> indices,
                                    bool all) = 0;
    virtual ServedWeights weights() = 0;
    /// ServedWeights::version alone, which takes no reading of the weights.
    virtual std::int64_t version() = 0;

    ServedTokenRows tokenRows;
};
using ServedLinkPtr = std::shared_ptr<ServedLink>;

/// Called several times a second while an answer is waited for, with what is waited for, as
/// "waiting for the cell, 12 s", or an empty text: at first, and after another one once the answer
/// has come. Returns false to cancel.
using ServedWait = std::function<bool(const std::string& text)>;

/// What `wait` returns while it exists is asked on this thread. Inline, since programs that do not
/// link the models wait, too.
class ServedWaitScope {
public:
    explicit ServedWaitScope(ServedWait wait)
        : m_wait(std::move(wait)), m_previous(std::exchange(current, &m_wait)) {}
    ~ServedWaitScope() { current = m_previous; }
    ServedWaitScope(const ServedWaitScope&) = delete;
    ServedWaitScope& operator=(const ServedWaitScope&) = delete;

    static inline thread_local const ServedWait* current = nullptr;

private:
    ServedWait m_wait;
    const ServedWait* m_previous;
};
/// That of this thread, for threads that ask in its place; empty without one.
inline ServedWait servedWait() {
    return ServedWaitScope::current ? *ServedWaitScope::current : ServedWait();
}

/// How doors are found, by their names; set by the programs once they start. core does not know how
/// messages travel.
void setServedLinks(std::function<ServedLinkPtr(const std::string& door)> open);
/// The link to a door, one for each that this thread uses. Throws Error where there is no such
/// door.
ServedLinkPtr servedLink(const std::string& door);

}  // namespace relascope::core
