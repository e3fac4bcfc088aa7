// SPDX-License-Identifier: GPL-3.0-or-later
// PyTorch's archives: views of storages, and what no archive may make us do.
#include "checkpoint/torch_archive.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "support/bytes_of.h"
#include "support/rooms.h"

namespace relascope {
namespace {

using namespace testing_support;

std::unique_ptr<TorchArchive> open(const std::string& bytes) {
    return std::make_unique<TorchArchive>(
        memoryBytes({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, "f.pt"));
}

void expectRefused(const std::string& bytes, const std::string& message) {
    try {
        open(bytes);
        FAIL() << "accepted, expected: " << message;
    } catch (const FileError& error) {
        EXPECT_EQ(std::string(error.what()).rfind("f.pt: ", 0), 0u) << error.what();
        EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    }
}

std::string counting(std::size_t bytes) {
    std::string text;
    for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>(i);
    return text;
}

std::string read(const TorchArchive& archive, std::size_t index, std::size_t piece = SIZE_MAX) {
    const auto& t = archive.tensors()[index];
    std::string out(t.bytes, '?');
    for (std::size_t at = 0; at < out.size(); at += std::min(piece, out.size() - at))
        archive.readPart(
            t, at,
            {reinterpret_cast<std::uint8_t*>(out.data()) + at, std::min(piece, out.size() - at)});
    return out;
}

TEST(TorchArchive, ReadsABareState) {
    const auto bytes = archive(dict({{"w", tensor()}}), {{"0", counting(16)}});
    const auto file = open(bytes);
    ASSERT_EQ(file->tensors().size(), 1u);
    const auto& t = file->tensors()[0];
    EXPECT_EQ(t.name, "w");
    EXPECT_EQ(t.dtype, "F32");
    EXPECT_EQ(t.shape, (std::vector<std::int64_t>{2, 2}));
    EXPECT_EQ(read(*file, 0), counting(16));
    EXPECT_TRUE(file->config().empty());
}

TEST(TorchArchive, KnowsTheSchemas) {
    const std::string state = dict({{"w", tensor()}});
    const auto config = [&](const std::string& root) {
        const auto bytes = archive(root);
        const auto file = open(bytes);
        EXPECT_EQ(file->tensors().size(), 1u);
        return file->configFrom() + file->config().substr(0, file->config().find('\n')) +
               (file->config().find("\"d\": 3") != std::string::npos ? "d" : "");
    };
    EXPECT_EQ(config(dict({{"model", state}, {"config", dict({{"d", "K\x03"}})}})), "config{d");
    EXPECT_EQ(config(dict({{"model", state},
                           {"config", dict({{"lr", "K\x01"}})},
                           {"model_args", dict({{"d", "K\x03"}})}})),
              "model_args{d");
    EXPECT_EQ(config(dict({{"epoch", "K\x01"},
                           {"state_dict", state},
                           {"loops", global("pytorch_lightning.loops", "Loop") + ")\x81"}})),
              "");
    EXPECT_EQ(config(dict({{"model", state}, {"config", text("small")}})), "") << "no dictionary";
}

TEST(TorchArchive, ReadsEveryStorage) {
    const std::pair<const char*, const char*> types[] = {
        {"FloatStorage", "F32"},     {"DoubleStorage", "F64"}, {"HalfStorage", "F16"},
        {"BFloat16Storage", "BF16"}, {"LongStorage", "I64"},   {"IntStorage", "I32"},
        {"ShortStorage", "I16"},     {"CharStorage", "I8"},    {"ByteStorage", "U8"},
        {"BoolStorage", "BOOL"}};
    for (const auto& [storage, dtype] : types) {
        TestTensor t;
        t.storage = storage;
        const auto bytes = archive(dict({{"w", tensor(t)}}), {{"0", counting(32)}});
        EXPECT_EQ(open(bytes)->tensors()[0].dtype, dtype);
    }
    const std::string v3 = global("torch._utils", "_rebuild_tensor_v3") + "((" + text("storage") +
                           global("torch.storage", "UntypedStorage") + text("0") + text("cpu") +
                           number(4) + "tQK" + le(1, 1) + numbers({3}) + numbers({1}) + "\x89N" +
                           global("torch", "float8_e4m3fn") + "tR";
    const auto bytes = archive(dict({{"w", v3}}), {{"0", "abcd"}});
    const auto file = open(bytes);
    EXPECT_EQ(file->tensors()[0].dtype, "F8_E4M3");
    EXPECT_EQ(read(*file, 0), "bcd");
    const auto parameter = archive(
        dict({{"w", global("torch._utils", "_rebuild_parameter") + tensor() + "\x88N\x87R"}}));
    EXPECT_EQ(open(parameter)->tensors()[0].bytes, 16u);
}

TEST(TorchArchive, GathersStridedViews) {
    TestTensor whole{"0", 6, {2, 3}, {3, 1}, 0, "ByteStorage"}, turned = whole, column = whole;
    turned.shape = {3, 2}, turned.stride = {1, 3};
    column.shape = {2}, column.stride = {3}, column.offset = 1;
    TestTensor one = whole;  // dimensions of one element may have any stride
    one.shape = {1, 6, 1}, one.stride = {99, 1, 7};
    const auto bytes = archive(dict({{"whole", tensor(whole)},
                                     {"turned", tensor(turned)},
                                     {"column", tensor(column)},
                                     {"one", tensor(one)}}),
                               {{"0", "abcdef"}});
    const auto file = open(bytes);
    for (const std::size_t piece : {std::size_t{1}, std::size_t{4}, SIZE_MAX}) {
        EXPECT_EQ(read(*file, 0, piece), "abcdef");
        EXPECT_EQ(read(*file, 1, piece), "adbecf");
        EXPECT_EQ(read(*file, 2, piece), "be");
        EXPECT_EQ(read(*file, 3, piece), "abcdef");
    }
    EXPECT_TRUE(file->tensors()[3].contiguous);
    EXPECT_FALSE(file->tensors()[1].contiguous);
    std::uint8_t out[2];
    EXPECT_THROW(file->readPart(file->tensors()[2], 1, out), FileError);
}

TEST(TorchArchive, NamesSharedViewsOnce) {
    TestTensor other;
    other.shape = {4}, other.stride = {1};
    const auto bytes = archive(dict({{"a", tensor()}, {"b", tensor()}, {"c", tensor(other)}}));
    const auto file = open(bytes);
    EXPECT_EQ(file->tensors()[0].sameAs, ArchiveTensor::kItself);
    EXPECT_EQ(file->tensors()[1].sameAs, 0u);
    EXPECT_EQ(file->tensors()[2].sameAs, ArchiveTensor::kItself) << "different shape";
}

TEST(TorchArchive, RefusesViewsThatLeaveTheStorage) {
    const auto refuse = [](TestTensor t, const char* message) {
        expectRefused(archive(dict({{"w", tensor(t)}})), message);
    };
    TestTensor t;
    t.offset = 1, refuse(t, "tensor 'w' reaches to byte 20 of a storage of 16");
    t = {}, t.offset = -1, refuse(t, "negative number in its offset: -1");
    t = {}, t.stride = {-2, 1}, refuse(t, "negative number in its strides: -2");
    t = {}, t.stride = {3, 1}, refuse(t, "reaches to byte 20");
    t = {}, t.shape = {-2, 2}, refuse(t, "negative number in its shape");
    t = {}, t.shape = {3, 2}, refuse(t, "reaches to byte 24");
    t = {}, t.shape = {2}, refuse(t, "1 dimensions but 2 strides");
    t = {}, t.shape = {1'000'000'000'000}, t.stride = {0}, refuse(t, "contiguous() copy");
    t = {}, t.offset = std::numeric_limits<std::int64_t>::max(), refuse(t, "overflow");
    const std::int64_t half = std::int64_t{1} << 32;
    t = {}, t.shape = {half, half}, t.stride = {0, 0}, refuse(t, "overflow");
    t = {}, t.shape = {half, half}, t.stride = {half, 1}, refuse(t, "overflow");
    t = {}, t.shape = {2, 2}, t.stride = {std::int64_t{1} << 62, 1}, refuse(t, "overflow");
    t = {}, t.shape.assign(65, 1), t.stride.assign(65, 1), refuse(t, "more than 64");
}

TEST(TorchArchive, RefusesStoragesLargerThanTheirRecords) {
    const auto refuse = [](std::int64_t elements, const char* message) {
        TestTensor t;
        t.elements = elements;
        expectRefused(archive(dict({{"w", tensor(t)}})), message);
    };
    // 226 GB asked for by 1.6 KB (pytorch#185443), and sizes that wrap (pytorch#181310).
    refuse(56'500'000'000, "a storage of 226000000000 bytes, but its record has 16");
    refuse(5, "a storage of 20 bytes");
    refuse((std::int64_t{1} << 62) + 4, "overflows");
    refuse(-4, "negative number in its storage size");
}

TEST(TorchArchive, RefusesStoragesThatAreNone) {
    for (const char* key : {"", ".", "..", "../data.pkl", "/etc/passwd", "a\\b"}) {
        TestTensor t;
        t.key = key;
        expectRefused(archive(dict({{"w", tensor(t)}})), "points outside");
    }
    TestTensor t;
    t.key = "7";
    expectRefused(archive(dict({{"w", tensor(t)}})), "'archive/data/7', which is missing");
    t = {}, t.storage = "ComplexDoubleStorage";
    expectRefused(archive(dict({{"w", tensor(t)}})), "ComplexDoubleStorage");
    const auto call = global("torch._utils", "_rebuild_tensor_v2");
    expectRefused(archive(dict({{"w", call + ")R"}})), "too few values");
    expectRefused(archive(dict({{"w", call + "(K\x01K\x01))tR"}})), "an integer as storage");
    expectRefused(archive(dict({{"w", call + "(K\x01QK\x01))tR"}})), "PyTorch does not write");
    expectRefused(archive(dict({{"w", call + "()QK\x01))tR"}})), "PyTorch does not write");
    std::string nested = tensor();
    for (int i = 0; i < 9; ++i)
        nested = global("torch._utils", "_rebuild_parameter") + nested + "\x85R";
    expectRefused(archive(dict({{"w", nested}})), "damaged parameter");
    // A parameter of itself, by way of a memo.
    expectRefused(archive(dict({{"w", global("torch._utils", "_rebuild_parameter") + "]q" +
                                          le(0, 1) + "h" + le(0, 1) + "a\x85R"}})),
                  "is a list");
}

TEST(TorchArchive, RefusesAStateThatIsNone) {
    expectRefused(archive("N"), "holds None and no state dictionary");
    expectRefused(archive("]"), "a list");
    expectRefused(archive("}"), "contains no weights");
    expectRefused(archive(dict({{"epoch", "K\x01"}})), "its keys: epoch");
    expectRefused(archive(dict({{"w", tensor()}, {"w", tensor()}})), "appears twice");
    expectRefused(archive("}(K\x01" + tensor() + "u"), "an integer among the names");
}

// What metrics and Lightning keep beside the tensors of a state.
TEST(TorchArchive, LeavesOutWhatIsNoTensor) {
    const auto state = dict(
        {{"w", tensor()}, {"x", "K\x01"}, {"y", "]"}, {"z", global("torch", "device") + ")R"}});
    for (const auto& root : {state, dict({{"model", state}, {"best", tensor()}})}) {
        const auto opened = open(archive(root));
        ASSERT_EQ(opened->tensors().size(), 1u);
        EXPECT_EQ(opened->tensors()[0].name, "w");
        EXPECT_EQ(opened->others(),
                  (std::map<std::string, std::string>{{"x", "is no tensor: an integer"},
                                                      {"y", "is no tensor: a list"},
                                                      {"z", "is no tensor: a torch.device"}}));
    }
}

// A mask or a table beside the weights must not refuse these.
TEST(TorchArchive, LeavesOutTensorsOfOtherKinds) {
    const auto call = [](const char* module, const char* name, const std::string& arguments) {
        return global(module, name) + arguments + "R";
    };
    const auto layout =
        call("torch.serialization", "_get_layout", text("torch.sparse_coo") + "\x85");
    TestTensor wide;
    wide.shape = {100, 4}, wide.stride = {0, 1};
    const auto state =
        dict({{"w", tensor()},
              {"sparse", call("torch._utils", "_rebuild_sparse_tensor",
                              layout + "(" + tensor() + tensor() + "t\x86")},
              {"packed", call("torch._utils", "_rebuild_qtensor",
                              "(" + global("torch", "QInt8Storage") +
                                  global("torch", "per_tensor_affine") + "t")},
              {"meta", call("torch._utils", "_rebuild_meta_tensor_no_storage",
                            "(" + global("torch", "float32") + "t")},
              {"own", call("torch._tensor", "_rebuild_from_type_v2",
                           "(" + global("torch.masked.maskedtensor.core", "MaskedTensor") + "t")},
              {"expanded", tensor(wide)}});
    const auto opened = open(archive(state));
    ASSERT_EQ(opened->tensors().size(), 1u);
    const auto why = [&](const char* name, const char* words) {
        const auto& said = opened->others().at(name);
        EXPECT_NE(said.find(words), std::string::npos) << said;
    };
    why("sparse", "is a sparse tensor; save it with to_dense()");
    why("packed", "is a quantised tensor; save it with dequantize()");
    why("meta", "'meta'");
    why("own", "another class than torch.Tensor");
    why("expanded", "is expanded: it needs 1600 bytes, its storage has 16; save a contiguous()");
    expectRefused(archive(dict({{"w", global("torch._utils", "_rebuild_qtensor") + ")R"}})),
                  "tensor 'w' is a quantised tensor");
    expectRefused(archive(dict({{"w", global("torch.distributed.tensor", "DTensor") + ")R"}})),
                  "is spread over processes");
    expectRefused(archive(dict({{"ds_version", text("0.16")}})), "zero_to_fp32.py");
}

TEST(TorchArchive, RefusesCodeWhereverItStands) {
    const auto evil = global("os", "system") + text("true") + "\x85R";
    for (const auto& root : {dict({{"model", dict({{"w", evil}})}}),
                             dict({{"model", dict({{"w", tensor()}})}, {"optimizer", evil}}),
                             dict({{"w", tensor()}}) + "0" + evil, evil})
        expectRefused(archive(root), "refers to 'os.system', which is not allowed");
}

TEST(TorchArchive, BoundsWhatTensorsShare) {
    // Many views of one storage, none like another: a bomb for memory and disk.
    std::vector<std::pair<std::string, std::string>> many;
    for (int i = 0; i < 40; ++i) {
        TestTensor t;
        t.storage = "ByteStorage", t.elements = 16'384;
        t.shape = {16'384 - i}, t.stride = {1};
        many.push_back({"w" + std::to_string(i), tensor(t)});
    }
    expectRefused(archive(dict(many), {{"0", std::string(16'384, 'x')}}), "the file stores");
    many.resize(3);
    const auto few = archive(dict(many), {{"0", std::string(16'384, 'x')}});
    EXPECT_EQ(open(few)->tensors().size(), 3u);
}

TEST(TorchArchive, RefusesOtherArchives) {
    expectRefused(zipOf({}), "empty ZIP");
    expectRefused(zipOf({{"images.npy", "x"}}), "is an .npz archive of NumPy");
    expectRefused(zipOf({{"x/readme", "x"}}), "not a PyTorch checkpoint");
    expectRefused(zipOf({{"archive/data.pkl", pickle(dict({{"w", tensor()}}))},
                         {"archive/byteorder", "big"},
                         {"archive/data/0", std::string(16, '\0')}}),
                  "big-endian");
    auto entries = std::vector<TestEntry>{{"x/data.pkl", pickle(dict({{"w", tensor()}}))},
                                          {"x/data/0", counting(16)}};
    EXPECT_EQ(open(zipOf(entries))->tensors().size(), 1u) << "any name, and no other entries";
    // Unpacked and packed again, as the Finder of macOS does.
    const std::vector<TestEntry> packed = {
        {"model/", ""},
        {"__MACOSX/model/._archive", "x"},
        {"model/archive/data.pkl", pickle(dict({{"w", tensor()}}))},
        {"__MACOSX/model/archive/._data.pkl", "x"},
        {"__MACOSX/model/archive/data.pkl", "x"},
        {"model/archive/data/0", counting(16)}};
    const auto again = zipOf(packed);
    EXPECT_EQ(read(*open(again), 0), counting(16));
    auto two = packed;
    two.push_back({"other/data.pkl", "x"});
    expectRefused(zipOf(two), "not a PyTorch checkpoint");
    entries[0].crc = 7;
    expectRefused(zipOf(entries), "its CRC differs");
    entries[0].method = 8;
    expectRefused(zipOf(entries), "zip -0 -r");
}

TEST(TorchArchive, NoticesADamagedRecord) {
    std::vector<TestEntry> entries = {{"a/data.pkl", pickle(dict({{"w", tensor()}}))},
                                      {"a/data/0", counting(16)}};
    entries[1].crc = 7;
    const auto bytes = zipOf(entries);
    const auto file = open(bytes);
    EXPECT_THROW(read(*file, 0), FileError);
    EXPECT_THROW(read(*file, 0, 4), FileError) << "in pieces as well";
    std::uint8_t part[4];
    EXPECT_NO_THROW(file->readPart(file->tensors()[0], 8, part)) << "a part cannot be checked";
}

TEST(TorchArchive, AcceptsTensorsWithoutElements) {
    TestTensor t;
    t.shape = {0, 5}, t.stride = {5, 1}, t.elements = 0;
    const auto bytes = archive(dict({{"a", tensor(t)}, {"b", tensor(t)}}), {{"0", ""}});
    const auto file = open(bytes);
    EXPECT_EQ(file->tensors()[1].bytes, 0u);
    EXPECT_EQ(file->tensors()[1].sameAs, ArchiveTensor::kItself);
    EXPECT_EQ(read(*file, 1), "");
}

}  // namespace
}  // namespace relascope
