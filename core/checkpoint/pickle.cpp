// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <array>

#include "checkpoint/pickle.h"
#include "files/byte_source.h"
#include "types/text_piece.h"

namespace relascope::core {
using namespace pickle_opcode;

namespace {

// A state dictionary of 10,000 tensors with the state of its optimiser takes about a million.
constexpr std::size_t kMaxValues = 4'000'000;
constexpr std::size_t kMaxMarks = 10'000;
constexpr std::size_t kMaxGlobal = 256;
constexpr std::size_t kMaxEncoded = 64;  // a numpy scalar's bytes
constexpr std::uint32_t kNone = 0, kFalse = 1, kTrue = 2, kEmptyTuple = 3;

}  // namespace

// Reads one opcode after the other: values by index on a stack, with marks, and a memo.
class PickleReader {
public:
    PickleReader(Pickle& out, const std::string& path, const PickleNames& names)
        : m_out(out), m_values(out.m_values), m_path(path), m_names(names), m_rest(out.m_bytes) {}

    void run() {
        m_values.resize(4);  // singletons, shared by all their uses
        m_values[kFalse].kind = m_values[kTrue].kind = PickleKind::Bool;
        m_values[kTrue].integer = 1;
        m_values[kEmptyTuple].kind = PickleKind::Tuple;
        if (m_rest.size() < 2 || m_rest[0] != kProto || m_rest[1] < 2 || m_rest[1] > 5)
            fail("is not a pickle of protocol 2 to 5");
        for (std::uint8_t opcode = 0; (opcode = take(1)[0]) != kStop;) step(opcode);
        if (m_stack.size() != 1 || !m_marks.empty())
            fail("ends with " + std::to_string(m_stack.size()) + " values instead of one");
        if (!m_rest.empty()) fail("has " + std::to_string(m_rest.size()) + " bytes after its end");
        m_out.m_root = m_stack[0];
    }

private:
    [[noreturn]] void fail(const std::string& why) const {
        throw FileError(m_path, "its pickle " + why);
    }
    [[noreturn]] void misplaced(const char* what) const {
        fail(std::string("uses ") + what + " in an unexpected place (byte " +
             std::to_string(m_out.m_bytes.size() - m_rest.size()) + ")");
    }

    // Bytes.
    std::span<const std::uint8_t> take(std::uint64_t count) {
        if (count > m_rest.size()) fail("is truncated");
        const auto taken = m_rest.first(count);
        m_rest = m_rest.subspan(count);
        return taken;
    }
    std::uint64_t number(int bytes) { return littleEndian(take(bytes).data(), bytes); }
    std::string_view text(std::uint64_t count) {
        const auto bytes = take(count);
        return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }
    std::string_view line() {
        const auto all = text(m_rest.size());
        const auto end = all.find('\n');
        if (end == std::string_view::npos) fail("is truncated");
        m_rest = std::span(m_out.m_bytes).last(all.size() - end - 1);
        return all.substr(0, end);
    }

    // Values.
    std::uint32_t add(PickleValue value) {
        if (m_values.size() >= kMaxValues)
            fail("holds more than " + std::to_string(kMaxValues) + " values");
        m_values.push_back(std::move(value));
        return static_cast<std::uint32_t>(m_values.size() - 1);
    }
    void push(std::uint32_t index) { m_stack.push_back(index); }
    void pushNew(PickleKind kind) { push(add({kind})); }
    void pushInteger(std::int64_t value) { push(add({PickleKind::Integer, false, value})); }
    void pushText(PickleKind kind, std::string_view text) {
        if (kind == PickleKind::String && !isUtf8(text)) fail("holds a string that is not UTF-8");
        push(add({kind, false, 0, text}));
    }
    // The values of the stack above the innermost mark.
    std::size_t height() const { return m_stack.size() - (m_marks.empty() ? 0 : m_marks.back()); }
    std::uint32_t pop(const char* what) {
        if (height() == 0) misplaced(what);
        const auto index = m_stack.back();
        m_stack.pop_back();
        return index;
    }
    PickleValue& top(const char* what) {
        if (height() == 0) misplaced(what);
        return m_values[m_stack.back()];
    }
    std::vector<std::uint32_t> popMark(const char* what) {
        if (m_marks.empty()) misplaced(what);
        const auto first = m_stack.begin() + static_cast<std::ptrdiff_t>(m_marks.back());
        std::vector<std::uint32_t> items(first, m_stack.end());
        m_stack.erase(first, m_stack.end());
        m_marks.pop_back();
        return items;
    }
    void pushTuple(std::vector<std::uint32_t> items) {
        if (items.empty()) return push(kEmptyTuple);
        push(add({PickleKind::Tuple, false, 0, {}, std::move(items)}));
    }
    void tuple(std::size_t count) {
        if (height() < count) misplaced("TUPLE");
        const auto first = m_stack.end() - static_cast<std::ptrdiff_t>(count);
        std::vector<std::uint32_t> items(first, m_stack.end());
        m_stack.erase(first, m_stack.end());
        pushTuple(std::move(items));
    }
    void extend(PickleKind kind, const char* what, const std::vector<std::uint32_t>& items) {
        auto& value = top(what);
        // Lightning's own dictionaries and lists are kept without interpretation, like all its
        // objects.
        if (value.kind == PickleKind::Object &&
            m_names.use(m_out.callee(value)) == GlobalUse::Opaque)
            return;
        if (value.kind != kind) misplaced(what);
        if (kind == PickleKind::Dict && items.size() % 2 != 0) misplaced(what);
        value.items.insert(value.items.end(), items.begin(), items.end());
    }

    void step(std::uint8_t opcode);
    void integer(std::uint64_t length);
    void real();
    void memoize(std::uint64_t index);
    void recall(std::uint64_t index);
    void global(std::string_view module, std::string_view name);
    void stackGlobal();
    void reduce();
    bool evaluated(std::string_view callee, const std::vector<std::uint32_t>& arguments);
    void newObject(bool keywords);
    void build();

    Pickle& m_out;
    std::vector<PickleValue>& m_values;
    const std::string& m_path;
    const PickleNames& m_names;
    std::span<const std::uint8_t> m_rest;
    std::vector<std::uint32_t> m_stack, m_memo;
    std::vector<std::size_t> m_marks;
};

void PickleReader::step(std::uint8_t opcode) {
    switch (opcode) {
        case kProto:
            if (number(1) > 5) fail("has a protocol version above 5");
            break;
        case kFrame:
            if (number(8) > m_rest.size()) fail("is truncated");
            break;
        case kMark:
            if (m_marks.size() >= kMaxMarks) fail("is nested too deep");
            m_marks.push_back(m_stack.size());
            break;
        case kPop:
            // Above a mark, POP takes the mark away.
            if (height() == 0 && !m_marks.empty())
                m_marks.pop_back();
            else
                pop("POP");
            break;
        case kPopMark:
            popMark("POP_MARK");
            break;
        case kDup:
            top("DUP");
            push(m_stack.back());
            break;
        case kNoneOp:
            push(kNone);
            break;
        case kNewTrue:
            push(kTrue);
            break;
        case kNewFalse:
            push(kFalse);
            break;
        case kBinInt:
            pushInteger(static_cast<std::int32_t>(number(4)));
            break;
        case kBinInt1:
            pushInteger(static_cast<std::int64_t>(number(1)));
            break;
        case kBinInt2:
            pushInteger(static_cast<std::int64_t>(number(2)));
            break;
        case kLong1:
            integer(number(1));
            break;
        case kLong4:
            integer(number(4));
            break;
        case kBinFloat:
            real();
            break;
        case kShortBinUnicode:
            pushText(PickleKind::String, text(number(1)));
            break;
        case kBinUnicode:
            pushText(PickleKind::String, text(number(4)));
            break;
        case kBinUnicode8:
            pushText(PickleKind::String, text(number(8)));
            break;
        case kShortBinString:
        case kBinString: {  // Python 2's strings: text or not
            const auto bytes = text(number(opcode == kBinString ? 4 : 1));
            pushText(isUtf8(bytes) ? PickleKind::String : PickleKind::Bytes, bytes);
            break;
        }
        case kShortBinBytes:
            pushText(PickleKind::Bytes, text(number(1)));
            break;
        case kBinBytes:
            pushText(PickleKind::Bytes, text(number(4)));
            break;
        case kBinBytes8:
        case kByteArray8:
            pushText(PickleKind::Bytes, text(number(8)));
            break;
        case kEmptyTupleOp:
            push(kEmptyTuple);
            break;
        case kEmptyList:
            pushNew(PickleKind::List);
            break;
        case kEmptyDict:
            pushNew(PickleKind::Dict);
            break;
        case kEmptySet:
            pushNew(PickleKind::Set);
            break;
        case kTuple:
            pushTuple(popMark("TUPLE"));
            break;
        case kTuple1:
        case kTuple2:
        case kTuple3:
            tuple(opcode - kTuple1 + 1u);
            break;
        case kFrozenSet:
            push(add({PickleKind::Set, false, 0, {}, popMark("FROZENSET")}));
            break;
        case kAppend: {
            const auto item = pop("APPEND");
            extend(PickleKind::List, "APPEND", {item});
            break;
        }
        case kAppends:
            extend(PickleKind::List, "APPENDS", popMark("APPENDS"));
            break;
        case kAddItems:
            extend(PickleKind::Set, "ADDITEMS", popMark("ADDITEMS"));
            break;
        case kSetItem: {
            const auto value = pop("SETITEM"), key = pop("SETITEM");
            extend(PickleKind::Dict, "SETITEM", {key, value});
            break;
        }
        case kSetItems:
            extend(PickleKind::Dict, "SETITEMS", popMark("SETITEMS"));
            break;
        case kBinPut:
            memoize(number(1));
            break;
        case kLongBinPut:
            memoize(number(4));
            break;
        case kMemoize:
            memoize(m_memo.size());
            break;
        case kBinGet:
            recall(number(1));
            break;
        case kLongBinGet:
            recall(number(4));
            break;
        case kGlobal: {
            const auto module = line();
            global(module, line());
            break;
        }
        case kStackGlobal:
            stackGlobal();
            break;
        case kBinPersId: {
            const auto id = pop("BINPERSID");
            push(add({PickleKind::Persistent, false, 0, {}, {id}}));
            break;
        }
        case kReduce:
            reduce();
            break;
        case kNewObj:
        case kNewObjEx:
            newObject(opcode == kNewObjEx);
            break;
        case kBuild:
            build();
            break;
        default:
            fail("has opcode " + std::to_string(opcode) +
                 ", which PyTorch does not write; save it again with a current PyTorch");
    }
}

void PickleReader::integer(std::uint64_t length) {
    const auto bytes = text(length);
    if (length > 8) {
        push(add({PickleKind::BigInteger, false, 0, bytes}));
        return;
    }
    std::uint64_t value =
        littleEndian(reinterpret_cast<const std::uint8_t*>(bytes.data()), static_cast<int>(length));
    if (length > 0 && length < 8 && (bytes.back() & 0x80)) value |= ~std::uint64_t{0} << 8 * length;
    pushInteger(static_cast<std::int64_t>(value));
}

void PickleReader::real() {
    std::uint64_t bits = 0;  // the only big-endian number of the format
    for (const auto byte : take(8)) bits = bits << 8 | byte;
    push(add({PickleKind::Real, false, static_cast<std::int64_t>(bits)}));
}

void PickleReader::memoize(std::uint64_t index) {
    top("PUT");
    // Each index follows from one opcode before it, so that none can exceed the bytes.
    if (index >= m_out.m_bytes.size()) fail("refers to memo " + std::to_string(index));
    if (index >= m_memo.size()) m_memo.resize(index + 1, UINT32_MAX);
    m_memo[index] = m_stack.back();
}

void PickleReader::recall(std::uint64_t index) {
    if (index >= m_memo.size() || m_memo[index] == UINT32_MAX)
        fail("refers to memo " + std::to_string(index) + ", which was never set");
    push(m_memo[index]);
}

void PickleReader::global(std::string_view module, std::string_view name) {
    std::string full(module.substr(0, kMaxGlobal));
    full += '.';
    full += name.substr(0, kMaxGlobal);
    const auto use = full.size() > kMaxGlobal ? GlobalUse::Refused : m_names.use(full);
    if (use == GlobalUse::Refused && full.starts_with("torch.distributed."))
        throw FileError(m_path, "holds a part of a model that is spread over processes ('" +
                                    printable(full) +
                                    "'); gather it and save the whole: " + kGather);
    if (use == GlobalUse::Refused)
        throw FileError(
            m_path, "refers to '" + printable(full) + "', which is not allowed " + m_names.refused);
    push(add({PickleKind::Global, false, 0, *m_out.m_names.insert(full).first}));
}

void PickleReader::stackGlobal() {
    const auto name = pop("STACK_GLOBAL"), module = pop("STACK_GLOBAL");
    if (m_values[name].kind != PickleKind::String || m_values[module].kind != PickleKind::String)
        misplaced("STACK_GLOBAL");
    global(m_values[module].text, m_values[name].text);
}

void PickleReader::reduce() {
    const auto arguments = pop("REDUCE"), callee = pop("REDUCE");
    if (m_values[callee].kind != PickleKind::Global ||
        m_values[arguments].kind != PickleKind::Tuple)
        misplaced("REDUCE");
    if (evaluated(m_values[callee].text, m_values[arguments].items)) return;
    push(add({PickleKind::Object, false, 0, {}, {callee, arguments}}));
}

// Handles calls that give plain data; false for all others.
bool PickleReader::evaluated(std::string_view callee, const std::vector<std::uint32_t>& arguments) {
    const auto kindOf = [&](std::size_t i) { return m_values[arguments[i]].kind; };
    const std::size_t count = arguments.size();
    if (callee.starts_with("collections.")) {
        // Entries follow as SETITEMS; the factory of a defaultdict is not needed to read it.
        if (count > 1) misplaced("REDUCE");
        if (count == 1 && kindOf(0) == PickleKind::Dict) {  // Counter({...}), not copied
            m_values[arguments[0]].called = true;
            push(arguments[0]);
        } else if (count == 0 || callee == "collections.defaultdict") {
            push(add({PickleKind::Dict, true}));
        } else {
            misplaced("REDUCE");
        }
        return true;
    }
    if (callee == "torch.Size" && count == 1 && kindOf(0) == PickleKind::Tuple) {
        push(arguments[0]);
        return true;
    }
    if (callee == "_codecs.encode" && count == 2 && kindOf(0) == PickleKind::String &&
        m_values[arguments[1]].text == "latin1" &&
        m_values[arguments[0]].text.size() <= kMaxEncoded) {
        // Protocol 2 writes bytes as text with the bytes as code points.
        const auto encoded = m_values[arguments[0]].text;
        auto& bytes = m_out.m_decoded.emplace_back();
        for (std::size_t i = 0; i < encoded.size(); ++i) {
            const auto lead = static_cast<std::uint8_t>(encoded[i]);
            if (lead >= 0xc4) fail("contains a character outside latin1");
            bytes += lead < 0x80 ? encoded[i]
                                 : static_cast<char>((lead & 3) << 6 | (encoded[++i] & 0x3f));
        }
        push(add({PickleKind::Bytes, false, 0, bytes}));
        return true;
    }
    return false;
}

void PickleReader::newObject(bool keywords) {
    if (keywords) pop("NEWOBJ_EX");
    const auto arguments = pop("NEWOBJ"), callee = pop("NEWOBJ");
    if (m_values[callee].kind != PickleKind::Global ||
        m_values[arguments].kind != PickleKind::Tuple)
        misplaced("NEWOBJ");
    push(add({PickleKind::Object, false, 0, {}, {callee, arguments}}));
}

void PickleReader::build() {
    const auto state = pop("BUILD");
    auto& value = top("BUILD");
    if (value.kind == PickleKind::Object) {
        value.items.resize(2);
        value.items.push_back(state);
        return;
    }
    // state_dict() leaves its version numbers as attributes of the dictionary.
    if (value.kind != PickleKind::Dict || !value.called || m_values[state].kind != PickleKind::Dict)
        misplaced("BUILD");
}

Pickle::Pickle(std::vector<std::uint8_t> bytes, const std::string& path, PickleNames names)
    : m_bytes(std::move(bytes)) {
    PickleReader(*this, path, names).run();
}

const PickleValue* Pickle::find(const PickleValue& dict, std::string_view key) const {
    if (dict.kind != PickleKind::Dict) return nullptr;
    for (std::size_t i = dict.items.size(); i >= 2; i -= 2) {
        const auto& name = m_values[dict.items[i - 2]];
        if (name.kind == PickleKind::String && name.text == key)
            return &m_values[dict.items[i - 1]];
    }
    return nullptr;
}

std::string_view Pickle::callee(const PickleValue& value) const {
    return value.kind == PickleKind::Object ? m_values[value.items[0]].text : std::string_view();
}

const std::vector<std::uint32_t>& Pickle::arguments(const PickleValue& value) const {
    static const std::vector<std::uint32_t> none;
    return value.kind == PickleKind::Object ? m_values[value.items[1]].items : none;
}

std::string Pickle::describe(const PickleValue& value) const {
    static constexpr const char* kNames[] = {
        "None",   "a boolean", "an integer", "an integer", "a number", "a string",  "bytes",
        "a list", "a tuple",   "a set",      "a dict",     "a class",  "an object", "a storage"};
    if (value.kind == PickleKind::Object) return "a " + std::string(callee(value));
    return kNames[static_cast<int>(value.kind)];
}

}  // namespace relascope::core
