// SPDX-License-Identifier: GPL-3.0-or-later
// Tables as spreadsheets, R and pandas write them.
#include <gtest/gtest.h>

#include <cmath>

#include "files/csv.h"
#include "support/rooms.h"

namespace relascope {
namespace {

using CsvRows = std::vector<std::vector<std::string>>;

CsvRows rowsOfCsv(const std::string& text) {
    CsvReader csv(text, "t.csv");
    CsvRows rows{csv.columns()};
    while (csv.next()) rows.push_back(csv.fields());
    return rows;
}

std::string csvRefusal(const std::string& text, bool numbers = false) {
    try {
        CsvReader csv(text, "t.csv");
        while (csv.next())
            for (std::size_t c = 0; numbers && c < csv.columns().size(); ++c) csv.number(c);
    } catch (const FileError& error) {
        return std::string(error.what()).substr(7);
    }
    return "";
}

double onlyNumber(const std::string& text) {
    CsvReader csv(text, "t.csv");
    EXPECT_TRUE(csv.next()) << text;
    return csv.number(csv.columns().size() - 1);
}

TEST(Csv, EveryProgramsFormIsTheSameTable) {
    const CsvRows plain = {{"example", "i", "size"}, {"0", "1", "2.5"}, {"1", "2", "0.25"}};
    for (const std::string text :
         {"example,i,size\n0,1,2.5\n1,2,0.25\n", "example,i,size\n0,1,2.5\n1,2,0.25",
          "example,i,size\r\n0,1,2.5\r\n1,2,0.25\r\n", "example,i,size\r0,1,2.5\r1,2,0.25\r",
          "\xEF\xBB\xBF\"example\",\"i\",\"size\"\n0,1,\"2.5\"\n\n1,2,0.25\n,,\n",
          "\"\",\"example\",\"i\",\"size\"\n\"1\",0,1,2.5\n\"2\",1,2,0.25\n",
          ",example,i,size\n0,0,1,2.5\n1,1,2,0.25\n",
          "Unnamed: 0,example,i,size\n0,0,1,2.5\n1,1,2,0.25\n",
          "...1,example,i,size\n1,0,1,2.5\n2,1,2,0.25\n",
          "\"example\",\"i\",\"size\"\n\"1\",0,1,2.5\n\"2\",1,2,0.25\n",
          "example;i;size\n0;1;2.5\n1;2;0.25\n", "example\ti\tsize\n0\t1\t2.5\n1\t2\t0.25\n",
          "sep=;\nexample;i;size\n0;1;2.5\n1;2;0.25\n",
          "example , i, \"size\"\n 0, 1 ,2.5 \n1,2, \"0.25\" \n",
          "example,i,size,,\n0,1,2.5,,\n1,2,0.25,,\n", "\n\nexample,i,size\n0,1,2.5\n1,2,0.25\n"})
        EXPECT_EQ(rowsOfCsv(text), plain) << text;
}

TEST(Csv, WhatIsNoTableSaysWhatItIs) {
    EXPECT_NE(csvRefusal(std::string("PK\x03\x04....", 8)).find("is a workbook"),
              std::string::npos);
    EXPECT_NE(csvRefusal("PAR1....").find("is a Parquet"), std::string::npos);
    EXPECT_NE(csvRefusal("\x1f\x8b\x08").find("is compressed"), std::string::npos);
    EXPECT_NE(csvRefusal("<html></html>").find("is a web page"), std::string::npos);
}

TEST(Csv, TheTableSaysWhatItsPointsAre) {
    EXPECT_EQ(onlyNumber("a;b\n1,5;1.234\n"), 1234);
    EXPECT_EQ(onlyNumber("a;b\n5;1.234,5\n"), 1234.5);
    EXPECT_EQ(onlyNumber("a;b\n5;-1.234.567,25\n"), -1234567.25);
    EXPECT_EQ(onlyNumber("a;b\n5;1.234.567\n"), 1234567);
    EXPECT_EQ(onlyNumber("a\tb\n1,5\t1.234\n"), 1234) << "a table of a spreadsheet with tabs";
    EXPECT_EQ(onlyNumber("a;b\n0.5;1.234\n"), 1.234);
    EXPECT_EQ(onlyNumber("a;b\n1.25;1.234\n"), 1.234);
    EXPECT_EQ(onlyNumber("a;b\n1,5;0.125\n"), 0.125);
    EXPECT_EQ(onlyNumber("a,b\n7,1.234\n"), 1.234);
    // What a later row says counts for the first one, too.
    CsvReader csv("a;b\n1.234;x\n2;y\n2,5;z\n", "t.csv");
    EXPECT_TRUE(csv.next());
    EXPECT_EQ(csv.number(0), 1234);
    EXPECT_EQ(csvRefusal("a;b\n1.234;2\n", true),
              "line 2, column a: '1.234' may have a decimal point or one of thousands, and no "
              "other number of the table says which; write 1234, or one number with a decimal "
              "comma");
    EXPECT_EQ(csvRefusal("a;b\n1.234;0.5\n1,5;2\n", true),
              "line 2, column a: '1.234' stands in a table with decimal points and with '1,5'; "
              "write every number with a decimal point and without thousands");
    for (const char* text : {"12.3456,5", "1.23,5", ".234,5", "1.2.3"})
        EXPECT_NE(csvRefusal(std::string("a;b\n1;") + text + "\n", true), "") << text;
}

TEST(Csv, QuotedFieldsHoldAnything) {
    EXPECT_EQ(rowsOfCsv("a,\"b, \"\"c\"\"\nd\"\n\"1;\t2\",\"x\r\ny\"\n"),
              (CsvRows{{"a", "b, \"c\"\nd"}, {"1;\t2", "x\r\ny"}}));
    CsvReader csv("a,b\n\"1\n2\",3\n4,5\n", "t.csv");
    EXPECT_TRUE(csv.next());
    EXPECT_EQ(csv.line(), 2);
    EXPECT_TRUE(csv.next());
    EXPECT_EQ(csv.line(), 4) << "line ends within quotes count";
}

TEST(Csv, NumbersAreReadAsTheyAreMeant) {
    EXPECT_EQ(onlyNumber("a;b\n1;2,5\n"), 2.5);
    EXPECT_EQ(onlyNumber("a;b\n1;0,125\n"), 0.125) << "semicolons part where commas are decimal";
    EXPECT_EQ(onlyNumber("a\tb\n1\t2,5\n"), 2.5);
    EXPECT_EQ(onlyNumber("a,b\n1,\"2,5\"\n"), 2.5);
    EXPECT_EQ(onlyNumber("a,b\n1,+3e2\n"), 300);
    EXPECT_EQ(onlyNumber("a,b\n1,-.5\n"), -0.5);
    EXPECT_EQ(onlyNumber("a,b\n1,TRUE\n"), 1);
    EXPECT_EQ(onlyNumber("a,b\n1,False\n"), 0);
    for (const char* absent : {"", "NA", "NaN", "nan", "null", "#N/A"})
        EXPECT_TRUE(std::isnan(onlyNumber(std::string("a,b\n1,") + absent + "\n"))) << absent;
    CsvReader csv("a\n3.0\n", "t.csv");
    EXPECT_TRUE(csv.next());
    EXPECT_EQ(csv.whole(0), 3);
    EXPECT_EQ(csvRefusal("a,b\n1,\"1,234\"\n", true),
              "line 2, column b: '1,234' may be a decimal comma or thousands; write a decimal "
              "point");
    for (const char* word : {"much", "1.5x", "1.234.5", "1,2,3", "0x10", "inf", "1 2"})
        EXPECT_EQ(csvRefusal(std::string("a;b\n1;") + word + "\n", true),
                  std::string("line 2, column b: '") + word + "' is not a number");
}

TEST(Csv, WhatIsNoTableIsNamedWithItsLine) {
    EXPECT_EQ(csvRefusal("a,b\n1,2\n3\n"), "line 3 has 1 columns, the first line 2");
    EXPECT_EQ(csvRefusal("a,b\n1,2,3\n"), "line 2 has 3 columns, the first line 2");
    EXPECT_EQ(csvRefusal("a,b\n1,\"2\n"), "line 2 opens a quote that is never closed");
    EXPECT_NE(csvRefusal("a,b\n1,\"2\"x\n").find("line 2 has text behind a closing quote"),
              std::string::npos);
    EXPECT_EQ(csvRefusal("a,b,a\n"), "line 1 has the column 'a' twice");
    EXPECT_EQ(csvRefusal("a,,b\n"), "line 1 has a column without a name between two others");
    EXPECT_NE(csvRefusal(std::string("\xFF\xFE"
                                     "a\0,\0",
                                     6))
                  .find("UTF-16"),
              std::string::npos);
    // As R's write.csv(fileEncoding = "UTF-16LE") writes it, without a mark.
    EXPECT_NE(csvRefusal(std::string("\"\0i\0\"\0,\0j\0", 10)).find("UTF-16LE"), std::string::npos);
    EXPECT_NE(csvRefusal("gr\xF6\xDF"
                         "e,b\n")
                  .find("iconv"),
              std::string::npos);
    EXPECT_EQ(csvRefusal(std::string(20'000, ',')), "line 1 has more than 10000 columns");
    EXPECT_EQ(rowsOfCsv(""), CsvRows{{}});
}

}  // namespace
}  // namespace relascope
