// SPDX-License-Identifier: GPL-3.0-or-later
// Python pickles as a tree of plain values: nothing is imported, called or built (formats.md
// section 2). No torch here, so that it can be fuzzed.
//
// Understood: the binary opcodes of protocols 2 to 5 that hold data. The name of a class or
// function must be in one of two lists (pickle_names.cpp); a call becomes an Object node with the
// callee and its arguments. Memory is bounded by the length of the pickle: each opcode makes at
// most one node, memoised values are shared and strings point into the bytes.
#pragma once

#include <bit>
#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "types/error.h"

namespace relascope::core::pickle_opcode {

// The opcodes of pickle protocols 2 to 5 that hold data (Python's Lib/pickletools.py).

enum Opcode : std::uint8_t {
    kMark = '(',
    kStop = '.',
    kPop = '0',
    kPopMark = '1',
    kDup = '2',
    kBinFloat = 'G',
    kBinInt = 'J',
    kBinInt1 = 'K',
    kBinInt2 = 'M',
    kNoneOp = 'N',
    kBinPersId = 'Q',
    kReduce = 'R',
    kBinString = 'T',
    kShortBinString = 'U',
    kBinUnicode = 'X',
    kBinBytes = 'B',
    kShortBinBytes = 'C',
    kAppend = 'a',
    kBuild = 'b',
    kGlobal = 'c',
    kAppends = 'e',
    kBinGet = 'h',
    kLongBinGet = 'j',
    kBinPut = 'q',
    kLongBinPut = 'r',
    kSetItem = 's',
    kTuple = 't',
    kSetItems = 'u',
    kEmptyDict = '}',
    kEmptyList = ']',
    kEmptyTupleOp = ')',
    kProto = 0x80,
    kNewObj = 0x81,
    kTuple1 = 0x85,
    kTuple2 = 0x86,
    kTuple3 = 0x87,
    kNewTrue = 0x88,
    kNewFalse = 0x89,
    kLong1 = 0x8a,
    kLong4 = 0x8b,
    kShortBinUnicode = 0x8c,
    kBinUnicode8 = 0x8d,
    kBinBytes8 = 0x8e,
    kEmptySet = 0x8f,
    kAddItems = 0x90,
    kFrozenSet = 0x91,
    kNewObjEx = 0x92,
    kStackGlobal = 0x93,
    kMemoize = 0x94,
    kFrame = 0x95,
    kByteArray8 = 0x96
};

}  // namespace relascope::core::pickle_opcode

namespace relascope::core {

// The Python names that a checkpoint may refer to.

enum class GlobalUse {
    Refused,
    Read,   ///< interpreted: tensors, storages, ordered dictionaries, numpy scalars
    Opaque  ///< allowed in the file (Lightning, optimizers), but neither read nor executed
};

/// How a model that FSDP or DTensor has split is saved whole, as the end of a sentence.
constexpr const char* kGather =
    "get_model_state_dict(model, options=StateDictOptions(full_state_dict=True, cpu_offload=True)) "
    "of torch.distributed.checkpoint.state_dict";

/// How a global may be used; `name` is "module.name".
GlobalUse globalUse(std::string_view name);

/// Which names a pickle may refer to, and where others are not allowed, for the message.
struct PickleNames {
    GlobalUse (*use)(std::string_view name) = globalUse;
    const char* refused =
        "in a checkpoint: only tensors and plain data are read; save the model's state_dict() "
        "instead";
};

enum class PickleKind : std::uint8_t {
    None,
    Bool,
    Integer,
    BigInteger,  ///< beyond 64 bits
    Real,
    String,  ///< UTF-8
    Bytes,
    List,
    Tuple,
    Set,
    Dict,
    Global,
    Object,
    Persistent  ///< PyTorch's storages
};

struct PickleValue {
    PickleKind kind = PickleKind::None;
    bool called = false;       ///< Dict: an OrderedDict, which takes a state
    std::int64_t integer = 0;  ///< Bool, Integer; Real as its bits
    std::string_view text;     ///< String, Bytes; Global: "module.name"
    /// List, Tuple, Set: the values; Dict: key, value, key, value, ...; Object: what is called, its
    /// arguments (a Tuple), its state if any; Persistent: its id.
    std::vector<std::uint32_t> items;

    double real() const { return std::bit_cast<double>(integer); }
};

class Pickle {
public:
    /// Throws FileError: `path` and, for a name off the lists, "refers to 'os.system', ...".
    Pickle(std::vector<std::uint8_t> bytes, const std::string& path, PickleNames names = {});
    Pickle(const Pickle&) = delete;
    Pickle& operator=(const Pickle&) = delete;

    const PickleValue& root() const { return m_values[m_root]; }
    const PickleValue& operator[](std::uint32_t index) const { return m_values[index]; }
    /// The value of a Dict's key (the last one), or nullptr.
    const PickleValue* find(const PickleValue& dict, std::string_view key) const;
    /// An Object's callee as "module.name", else "".
    std::string_view callee(const PickleValue& value) const;
    /// An Object's arguments, else none.
    const std::vector<std::uint32_t>& arguments(const PickleValue& value) const;
    /// A value in words for messages: "a dict", "torch.device(...)".
    std::string describe(const PickleValue& value) const;

private:
    friend class PickleReader;
    std::vector<std::uint8_t> m_bytes;
    std::vector<PickleValue> m_values;
    std::set<std::string, std::less<>> m_names;  // the text of each Global, stored once
    std::deque<std::string> m_decoded;           // bytes that protocol 2 writes as text
    std::uint32_t m_root = 0;
};

}  // namespace relascope::core
