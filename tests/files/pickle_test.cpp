// SPDX-License-Identifier: GPL-3.0-or-later
// The restricted unpickler: what PyTorch writes, and every attack on unpicklers that we know of.
#include "checkpoint/pickle.h"

#include <gtest/gtest.h>

#include "checkpoint/pickle_json.h"
#include "support/bytes_of.h"
#include "support/rooms.h"

namespace relascope {
namespace {

using namespace testing_support;

std::unique_ptr<Pickle> load(const std::string& bytes) {
    return std::make_unique<Pickle>(std::vector<std::uint8_t>(bytes.begin(), bytes.end()), "f.pt");
}

std::string json(const std::string& value) {
    const auto loaded = load(pickle(value));
    const auto plain = plainJson(*loaded, loaded->root(), "f.pt");
    return plain ? plain->dump() : "not plain";
}

void expectRefused(const std::string& bytes, const std::string& message) {
    try {
        load(bytes);
        FAIL() << "accepted, expected: " << message;
    } catch (const FileError& error) {
        EXPECT_EQ(std::string(error.what()).rfind("f.pt: ", 0), 0u) << error.what();
        EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    }
}

TEST(Pickle, ReadsPlainData) {
    EXPECT_EQ(json("N"), "null");
    EXPECT_EQ(json("\x88"), "true");
    EXPECT_EQ(json("\x89"), "false");
    EXPECT_EQ(json("K\xff"), "255");
    EXPECT_EQ(json(std::string("M\x00\x01", 3)), "256");
    EXPECT_EQ(json("J\xfe\xff\xff\xff"), "-2");
    EXPECT_EQ(json("\x8a" + le(0, 1)), "0");
    EXPECT_EQ(json("\x8a\x01\xff"), "-1");
    EXPECT_EQ(json("\x8a\x06" + le(1ull << 40, 6)), "1099511627776") << "2**40 takes six bytes";
    EXPECT_EQ(json("\x8a\x08" + le(0x8000000000000000, 8)), "-9223372036854775808");
    EXPECT_EQ(json(std::string("G\x3f\xf8\0\0\0\0\0\0", 9)), "1.5") << "the big-endian one";
    EXPECT_EQ(json(text("na\xc3\xafve")), "\"na\xc3\xafve\"");
    EXPECT_EQ(json("(K\x01K\x02t"), "[1,2]");
    EXPECT_EQ(json("K\x01K\x02K\x03\x87"), "[1,2,3]");
    EXPECT_EQ(json(")"), "[]");
    EXPECT_EQ(json("]K\x01"
                   "a"),
              "[1]")
        << "one element is appended";
    EXPECT_EQ(json("](K\x01K\x02"
                   "e"),
              "[1,2]");
    EXPECT_EQ(json("}" + text("a") + "K\x01s"), R"({"a":1})") << "one item is set";
    EXPECT_EQ(json(dict({{"a", "N"}, {"b", "]"}})), R"({"a":null,"b":[]})");
    EXPECT_EQ(json("}(" + text("a") + "K\x01" + text("a") + "K\x02u"), R"({"a":2})");
}

TEST(Pickle, ReadsTheNewerProtocols) {
    const auto value =
        "\x8c\x01"
        "a"
        "\x94\x8c\x02"
        "bc"
        "\x94\x86\x94"
        "0"
        "h" +
        le(0, 1) + "h" + le(1, 1) + std::string("\x86");
    const std::string framed = "\x80\x04\x95" + le(value.size() + 1, 8) + value + ".";
    const auto loaded = load(framed);
    EXPECT_EQ(plainJson(*loaded, loaded->root(), "f")->dump(), R"(["a","bc"])");
    EXPECT_EQ(json("\x8d" + le(2, 8) + "hi"), R"("hi")");
    EXPECT_EQ(json("\x8f(K\x01\x90"), "not plain") << "a set";
    const auto dictionary =
        load(pickle("\x8c\x0b"
                    "collections"
                    "\x8c\x0bOrderedDict\x93)R"));
    EXPECT_EQ(dictionary->root().kind, PickleKind::Dict);
}

TEST(Pickle, SharesMemoisedValues) {
    const auto loaded = load(pickle("]q" + le(7, 1) + "h" + le(7, 1) + "\x86"));
    ASSERT_EQ(loaded->root().items.size(), 2u);
    EXPECT_EQ(loaded->root().items[0], loaded->root().items[1]);
    EXPECT_EQ(json("]r" + le(3, 4) +
                   "K\x05"
                   "aj" +
                   le(3, 4) + "\x86"),
              "[[5],[5]]");
}

TEST(Pickle, ReadsAStateDictionarysClothes) {
    const auto state = global("collections", "OrderedDict") + ")R(" + text("w") + "K\x01u}" +
                       text("_metadata") + "}sb";
    EXPECT_EQ(json(state), R"({"w":1})");
    EXPECT_EQ(json(global("collections", "defaultdict") + global("builtins", "dict") + "\x85R" +
                   text("k") + "K\x01s"),
              R"({"k":1})");
    EXPECT_EQ(json(global("torch", "Size") + "K\x02K\x03\x86\x85R"), "[2,3]");
}

std::string numpyScalar(const std::string& type, const std::string& bytes, char order = '<') {
    return global("numpy._core.multiarray", "scalar") + global("numpy", "dtype") + text(type) +
           "\x89\x88\x87R(K\x03" + text(std::string(1, order)) +
           "NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK" + le(0, 1) + "tb" + "C" + le(bytes.size(), 1) +
           bytes + "\x86R";
}

TEST(Pickle, ReadsNumpyScalars) {
    EXPECT_EQ(json(numpyScalar("f8", le(0x3ff8000000000000, 8))), "1.5");
    EXPECT_EQ(json(numpyScalar("f4", le(0x3fc00000, 4))), "1.5");
    EXPECT_EQ(json(numpyScalar("i4", le(0xfffffffe, 4))), "-2");
    EXPECT_EQ(json(numpyScalar("i4", "\xff\xff\xff\xfe", '>')), "-2");
    EXPECT_EQ(json(numpyScalar("u1", "\xfe")), "254");
    EXPECT_EQ(json(numpyScalar("b1", "\x01")), "true");
    EXPECT_EQ(json(numpyScalar("f8", "\x01")), "not plain") << "too short for its type";
    EXPECT_EQ(json(numpyScalar("O8", le(0, 8))), "not plain");
    // Protocol 2 has no bytes: they are text, encoded by a call.
    const auto encoded = global("_codecs", "encode") +
                         text(
                             "\xc2\xff"
                             "a") +
                         text("latin1");
    EXPECT_THROW(load(pickle(encoded + "\x86R")), FileError) << "that is not UTF-8";
    const auto good = load(pickle(global("_codecs", "encode") +
                                  text("\xc3\xbf"
                                       "a") +
                                  text("latin1") + "\x86R"));
    EXPECT_EQ(good->root().kind, PickleKind::Bytes);
    EXPECT_EQ(good->root().text,
              "\xff"
              "a");
}

TEST(Pickle, LeavesOutWhatIsNotPlain) {
    EXPECT_EQ(json(dict({{"a", "K\x01"},
                         {"device", global("torch", "device") + text("cpu") + "\x85R"},
                         {"nan", std::string("G\x7f\xf8\0\0\0\0\0\0", 9)},
                         {"huge", "\x8a\x09" + std::string(9, '\x7f')},
                         {"list", "]" + global("torch", "float32") + "a"}})),
              R"({"a":1})");
}

TEST(Pickle, RefusesNamesOffTheLists) {
    expectRefused(pickle(global("os", "system") + text("true") + "\x85R"), "refers to 'os.system'");
    expectRefused(pickle(global("os", "system") + "0N"), "refers to 'os.system'");
    expectRefused(pickle(text("posix") + text("system") + "\x93"), "refers to 'posix.system'");
    for (const char* name :
         {"eval", "exec", "getattr", "open", "__import__", "compile", "setattr"}) {
        expectRefused(pickle(global("builtins", name)), std::string("'builtins.") + name + "'");
        expectRefused(pickle(global("__builtin__", name)), name);
    }
    expectRefused(pickle(global("torch", "load")), "'torch.load'");
    expectRefused(pickle(global("torch._utils", "_import_dotted_name")), "_import_dotted_name");
    expectRefused(pickle(global("torch.distributed.tensor", "DTensor")), "full_state_dict=True");
    expectRefused(pickle(global("torch.optimism", "X")), "torch.optimism.X");
    expectRefused(pickle(global("torch.nn.modules.linear", "Linear")), "state_dict()");
    expectRefused(pickle(global("collections.abc", "X")), "collections.abc.X");
    expectRefused(pickle(global("", "")), "refers to '.'");
    expectRefused(pickle(global(std::string(100000, 'x'), "y")), "refers to 'xxx");
    for (const char* name : {"GPTConfig", "Config.Nested", "_x1"})
        EXPECT_NO_THROW(load(pickle(global("__main__", name) + ")R"))) << name;
    expectRefused(pickle(global("o\x1bs", "\xffx")), "refers to 'o?s.?x'");
}

TEST(Pickle, KeepsListedObjectsUnread) {
    const auto loaded =
        load(pickle(global("argparse", "Namespace") + ")\x81}" + text("a") + "K\x01sb"));
    EXPECT_EQ(loaded->root().kind, PickleKind::Object);
    EXPECT_EQ(loaded->callee(loaded->root()), "argparse.Namespace");
    EXPECT_NO_THROW(
        load(pickle(global("pytorch_lightning.callbacks", "X") + ")\x81" + text("k") + "Ns")));
}

TEST(Pickle, RefusesMisplacedOpcodes) {
    for (const char* value : {"R", "b", "s", "u", "a", "e", "t", "\x85", "\x87", "0", "2", "Q",
                              "\x81", "\x93", "\x90", "q\x01", "\x94", "1"})
        expectRefused(pickle(value), "in an unexpected place");
    expectRefused(pickle("]K\x01K\x02s"), "SETITEM in an unexpected place");  // CVE-2026-24747
    expectRefused(pickle("K\x01K\x02K\x03s"), "SETITEM");
    expectRefused(pickle("](K\x01K\x02u"), "SETITEMS");
    expectRefused(pickle("}(K\x01u"), "SETITEMS");
    expectRefused(pickle("}K\x01"
                         "a"),
                  "APPEND");
    expectRefused(pickle(")K\x01"
                         "a"),
                  "APPEND");
    expectRefused(pickle("}}b"), "BUILD");
    expectRefused(pickle("K\x01}b"), "BUILD");
    expectRefused(pickle(text("f") + ")R"), "REDUCE");
    expectRefused(pickle(global("collections", "OrderedDict") + "NR"), "REDUCE");
    expectRefused(pickle(global("collections", "OrderedDict") + ")RK\x01"
                                                                "b"),
                  "BUILD");
    expectRefused(pickle("(NN00000"), "POP");
    expectRefused(pickle("N(ua"), "in an unexpected place");
}

TEST(Pickle, RefusesOddEnds) {
    expectRefused("", "not a pickle");
    expectRefused("\x80", "not a pickle");
    expectRefused("\x80\x01N.", "not a pickle");
    expectRefused("\x80\x06N.", "not a pickle");
    expectRefused("N.", "not a pickle");
    expectRefused(pickle(""), "0 values");
    expectRefused(pickle("NN"), "2 values");
    expectRefused(pickle("(N"), "instead of one");
    expectRefused(pickle("N") + "junk", "4 bytes after its end");
    expectRefused("\x80\x02N", "truncated");
    for (const std::string value :
         {"I01\n", "S'a'\n", "i", "o", "P1\n", "g0\n", "\x82\x01", "\x97"})
        expectRefused(pickle(value), "which PyTorch does not write");
    const auto good = pickle(dict({{"a", tensor()}}));
    for (std::size_t length = 0; length < good.size(); ++length)
        EXPECT_THROW(load(good.substr(0, length)), FileError) << length;
}

TEST(Pickle, RefusesLengthsBeyondItsEnd) {
    for (const std::string start :
         {"X\xff\xff\xff\xff", "T\xff\xff\xff\xff", "B\xff\xff\xff\x7f", "\x8b\xff\xff\xff\xff",
          "\x8b\xff\xff\xff\x7f", "\x8a\xff", "\x8c\x09", "C\x09"})
        expectRefused("\x80\x04" + start + "abc.", "truncated");
    for (const std::string start : {"\x8d", "\x8e", "\x96", "\x95"})
        expectRefused("\x80\x04" + start + le(~0ull, 8) + "abc.", "truncated");
    expectRefused(pickle("cos"), "truncated");
    // A number of a million digits is only looked at from afar.
    EXPECT_EQ(json("\x8b" + le(1'000'000, 4) + std::string(1'000'000, '\x7f')), "not plain");
}

TEST(Pickle, RefusesBadMemos) {
    expectRefused(pickle("h" + le(0, 1)), "never set");
    expectRefused(pickle("j" + le(0xffffffff, 4)), "never set");
    expectRefused(pickle("Nr" + le(0xfffffffe, 4)), "refers to memo 4294967294");
    expectRefused(pickle("Nq" + le(3, 1) + "h" + le(2, 1) + "0"), "never set");
}

TEST(Pickle, RefusesTextThatIsNot) {
    for (const std::string bytes : {"\xff", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc3"})
        expectRefused(pickle(text(bytes)), "UTF-8");
}

TEST(Pickle, IsNoDeeperThanItsBytes) {
    // Walking is bounded, parsing and forgetting take no stack.
    const std::string deep = std::string(100'000, ']') + std::string(99'999, 'a');
    EXPECT_THROW(json(deep), FileError);
    EXPECT_NO_THROW(json(std::string(65, ']') + std::string(64, 'a')));
    EXPECT_THROW(json(std::string(66, ']') + std::string(65, 'a')), FileError);
    std::string tuples = "N";
    for (int i = 0; i < 100'000; ++i) tuples += "\x85";
    EXPECT_THROW(json(tuples), FileError);
    expectRefused(pickle(std::string(20'000, '(')), "nested too deep");
}

TEST(Pickle, BoundsValuesWithinThemselves) {
    const std::string itself = "]q" + le(0, 1) + "h" + le(0, 1) + "a";
    EXPECT_NO_THROW(load(pickle(itself)));
    EXPECT_THROW(json(itself), FileError);
    EXPECT_THROW(json("}q" + le(0, 1) + text("a") + "h" + le(0, 1) + "s"), FileError);
}

TEST(Pickle, SharesABillionLaughs) {
    // Forty levels, each twice the one before: 2**40 leaves if they were copied.
    std::string laughs = "]q" + le(0, 1);
    for (int level = 1; level <= 40; ++level)
        laughs += "](h" + le(static_cast<unsigned>(level - 1), 1) + "h" +
                  le(static_cast<unsigned>(level - 1), 1) + "eq" +
                  le(static_cast<unsigned>(level), 1);
    EXPECT_THROW(json("(" + laughs + "t"), FileError);
    // The same with text: a megabyte, mentioned a thousand times.
    std::string repeated = "](" + text(std::string(1 << 20, 'x')) + "q" + le(0, 1);
    for (int i = 0; i < 1000; ++i) repeated += "h" + le(0, 1);
    EXPECT_NO_THROW(load(pickle(repeated + "e")));
    EXPECT_THROW(json(repeated + "e"), FileError);
}

}  // namespace
}  // namespace relascope
