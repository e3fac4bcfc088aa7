#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Small pictures of every kind, and what Pillow makes of them.

PYTHON tests/make_picture_golden.py [OUT] [COUNT] writes the pictures and pictures.json into OUT (tests/fixtures/pictures), with a
Python that has Pillow and NumPy. With COUNT, that many random ones of other sizes are added:

    PYTHON tests/make_picture_golden.py /tmp/pictures 500
    RELASCOPE_PICTURES=/tmp/pictures build/bin/datasets_tests --gtest_filter='PictureFiles.*'

pictures.json has for every picture its width, its height and the pixels of ImageOps.exif_transpose(im).convert("RGB") as
hexadecimal digits. Of 16-bit grey the pixels are the upper bytes, which Pillow cuts off at 255.
"""
import io
import json
import os
import random
import struct
import sys
import zlib

import numpy as np
from PIL import Image, ImageCms, ImageOps, PngImagePlugin

OUT = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "fixtures", "pictures")
COUNT = int(sys.argv[2]) if len(sys.argv) > 2 else 0
pictures = {}


def add(name, data, pixels=None):
    """`pixels`: what is expected where Pillow is not followed."""
    with open(os.path.join(OUT, name), "wb") as file:
        file.write(data)
    if pixels is None:
        pixels = np.asarray(ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert("RGB"))
    if pixels.ndim == 2:
        pixels = np.stack([pixels] * 3, -1)
    high, wide = pixels.shape[:2]
    pictures[name] = {"width": wide, "height": high, "pixels": pixels.astype(np.uint8).tobytes().hex()}


def motif(high, wide, channels, depth=8, seed=0):
    """Ramps with some noise: no two sides, corners or channels are alike."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:high, 0:wide]
    planes = [(x / max(1, wide - 1) * (0.9 - 0.2 * c) + y / max(1, high - 1) * 0.1 * (c + 1)) for c in range(channels)]
    values = np.clip(np.stack(planes, -1) + rng.normal(0, 0.05, (high, wide, channels)), 0, 1)
    return np.round(values * (2**depth - 1)).astype(np.uint16 if depth == 16 else np.uint8)


# PNG, written here chunk by chunk: Pillow writes few of its forms.

def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def packed_rows(array, depth):
    raw = b""
    for row in array:
        if depth == 16:
            line = row.astype(">u2").tobytes()
        elif depth == 8:
            line = row.astype(np.uint8).tobytes()
        else:
            bits = "".join(format(int(v), f"0{depth}b") for v in row.ravel())
            bits += "0" * (-len(bits) % 8)
            line = bytes(int(bits[i : i + 8], 2) for i in range(0, len(bits), 8))
        raw += b"\0" + line
    return raw


ADAM7 = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))


def png(array, kind, depth=8, interlaced=False, before=b"", after=b""):
    """`array` [h, w, channels]; kind: 0 grey, 2 RGB, 3 palette, 4 grey and alpha, 6 RGB and alpha."""
    high, wide = array.shape[:2]
    raw = packed_rows(array, depth)
    if interlaced:
        parts = [array[y::dy, x::dx] for x, y, dx, dy in ADAM7]
        raw = b"".join(packed_rows(p, depth) for p in parts if p.size)
    head = struct.pack(">IIBBBBB", wide, high, depth, kind, 0, 0, int(interlaced))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + before + chunk(b"IDAT", zlib.compress(raw)) + after + chunk(b"IEND", b"")


def tiff(orientation, order="<", type_=3, others=()):
    entries = [struct.pack(order + "HHI", tag, 3, 1) + struct.pack(order + "HH", value, 0) for tag, value in others]
    value = struct.pack(order + "HH", orientation, 0) if type_ == 3 else struct.pack(order + "I", orientation)
    entries.append(struct.pack(order + "HHI", 0x0112, type_, 1) + value)
    mark = b"II*\0" if order == "<" else b"MM\0*"
    return mark + struct.pack(order + "I", 8) + struct.pack(order + "H", len(entries)) + b"".join(entries) + b"\0\0\0\0"


def xmp(orientation, element=False):
    inside = f"<tiff:Orientation>{orientation}</tiff:Orientation>" if element else ""
    attribute = "" if element else f' tiff:Orientation="{orientation}"'
    return ('<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
            f'<rdf:Description xmlns:tiff="http://ns.adobe.com/tiff/1.0/"{attribute}>{inside}</rdf:Description>'
            "</rdf:RDF></x:xmpmeta>").encode()


def palette_chunk(count, seed=3):
    return chunk(b"PLTE", np.random.default_rng(seed).integers(0, 256, 3 * count).astype(np.uint8).tobytes())


PROFILE = ImageCms.ImageCmsProfile(ImageCms.createProfile("XYZ")).tobytes()
COLOURS = {
    "gama_linear": chunk(b"gAMA", struct.pack(">I", 100000)),
    "gama": chunk(b"gAMA", struct.pack(">I", 45455)),
    "gama_dark": chunk(b"gAMA", struct.pack(">I", 25000)),
    "srgb": chunk(b"sRGB", b"\0"),
    "iccp": chunk(b"iCCP", b"profile\0\0" + zlib.compress(PROFILE)),
    "chrm": chunk(b"cHRM", struct.pack(">8I", 31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000)),
    "sbit_bkgd": chunk(b"sBIT", b"\5\6\5") + chunk(b"bKGD", struct.pack(">3H", 9, 200, 77)),
}


def grey16(name, array, kind, **more):
    add(name, png(array, kind, 16, **more), array[..., 0] >> 8)


def all_png():
    w, h = 13, 9
    for depth in (1, 2, 4, 8):
        grey = motif(h, w, 1, depth)
        add(f"grey{depth}.png", png(grey, 0, depth))
        add(f"grey{depth}_interlaced.png", png(grey, 0, depth, True))
        index = np.random.default_rng(depth).integers(0, 2**depth, (h, w, 1))
        add(f"palette{depth}.png", png(index, 3, depth, before=palette_chunk(2**depth)))
        see_through = chunk(b"tRNS", bytes(i * 37 % 256 for i in range(2**depth)))
        add(f"palette{depth}_trns_interlaced.png", png(index, 3, depth, True, palette_chunk(2**depth) + see_through))
    add("grey8_trns.png", png(motif(h, w, 1), 0, before=chunk(b"tRNS", struct.pack(">H", int(motif(h, w, 1)[4, 4, 0])))))
    add("rgb8_trns.png", png(motif(h, w, 3), 2, before=chunk(b"tRNS", struct.pack(">3H", *map(int, motif(h, w, 3)[4, 4])))))
    grey16("grey16.png", motif(h, w, 1, 16), 0)
    grey16("grey16_interlaced_gama.png", motif(h, w, 1, 16), 0, interlaced=True, before=COLOURS["gama_linear"])
    grey16("grey16_trns.png", motif(h, w, 1, 16), 0, before=chunk(b"tRNS", struct.pack(">H", 1000)))
    for depth in (8, 16):
        for kind, name in ((2, "rgb"), (4, "grey_alpha"), (6, "rgb_alpha")):
            array = motif(h, w, {2: 3, 4: 2, 6: 4}[kind], depth)
            for interlaced in (False, True):
                add(f"{name}{depth}{'_interlaced' if interlaced else ''}.png", png(array, kind, depth, interlaced))
    for name, colour in COLOURS.items():
        add(f"rgb16_{name}.png", png(motif(h, w, 3, 16), 2, 16, before=colour))
        add(f"rgb8_{name}.png", png(motif(h, w, 3), 2, before=colour))
    add("palette4_gama.png", png(np.random.default_rng(1).integers(0, 16, (h, w, 1)), 3, 4, before=COLOURS["gama_linear"] + palette_chunk(16)))
    add("grey_alpha16_gama.png", png(motif(h, w, 2, 16), 4, 16, before=COLOURS["gama_dark"]))
    for turn in range(1, 9):
        add(f"exif{turn}.png", png(motif(h, w, 3), 2, before=chunk(b"eXIf", tiff(turn, "<>"[turn % 2]))))
    add("exif_behind.png", png(motif(h, w, 3), 2, after=chunk(b"eXIf", tiff(6, ">"))))
    add("exif_grey16.png", png(motif(h, w, 1, 16), 0, 16, before=chunk(b"eXIf", tiff(8))),
        np.rot90(motif(h, w, 1, 16)[..., 0] >> 8))
    text = b"XML:com.adobe.xmp\0\0\0\0\0"
    add("xmp.png", png(motif(h, w, 3), 2, before=chunk(b"iTXt", text + xmp(5))))
    data = tiff(7)
    add("raw_profile.png", png(motif(h, w, 3), 2, before=chunk(
        b"zTXt", b"Raw profile type exif\0\0" + zlib.compress(b"\nexif\n%8d\n%s\n" % (len(data), data.hex().encode())))))
    frames = [Image.fromarray(motif(h, w, 3, seed=s)) for s in range(3)]
    for default in (False, True):
        out = io.BytesIO()
        frames[0].save(out, "PNG", save_all=True, append_images=frames[1:], duration=50, default_image=default)
        add(f"animated{'_default' if default else ''}.png", out.getvalue())
    out = io.BytesIO()
    Image.fromarray(motif(64, 48, 3)).quantize(7).save(out, "PNG", optimize=True)
    add("quantized.png", out.getvalue())
    add("one.png", png(motif(1, 1, 3), 2))


def jpeg(array, mode=None, **options):
    out = io.BytesIO()
    Image.fromarray(array[..., 0] if array.shape[2] == 1 else array, mode).save(out, "JPEG", **options)
    return out.getvalue()


def segments(data):
    """The marker segments of a JPEG up to its first scan, and the rest."""
    found, at = [], 2
    while data[at + 1] != 0xDA:
        (length,) = struct.unpack(">H", data[at + 2 : at + 4])
        found.append(data[at : at + 2 + length])
        at += 2 + length
    return found, data[at:]


def with_segment(data, marker, content):
    return data[:2] + struct.pack(">BBH", 0xFF, marker, len(content) + 2) + content + data[2:]


def all_jpeg():
    w, h = 21, 13
    rgb, grey, cmyk = motif(h, w, 3), motif(h, w, 1), motif(h, w, 4)
    for sampling, name in ((0, "444"), (1, "422"), (2, "420")):
        add(f"rgb_{name}.jpg", jpeg(rgb, quality=85, subsampling=sampling))
        add(f"rgb_{name}_progressive.jpg", jpeg(rgb, quality=60, subsampling=sampling, progressive=True))
    add("grey.jpg", jpeg(grey))
    add("grey_progressive.jpg", jpeg(grey, progressive=True, optimize=True))
    add("kept_rgb.jpg", jpeg(rgb, keep_rgb=True))
    add("restarts.jpg", jpeg(rgb, restart_marker_blocks=1))
    add("profile.jpg", jpeg(rgb, icc_profile=PROFILE))
    four = jpeg(cmyk, "CMYK", quality=90)
    add("cmyk.jpg", four)
    parts, rest = segments(four)
    adobe = next(p for p in parts if p[1] == 0xEE)
    ycck = adobe[:-1] + b"\2"
    add("ycck.jpg", b"\xff\xd8" + b"".join(ycck if p is adobe else p for p in parts) + rest)
    add("cmyk_without_adobe.jpg", b"\xff\xd8" + b"".join(p for p in parts if p is not adobe) + rest)
    add("cmyk_turned.jpg", with_segment(four, 0xE1, b"Exif\0\0" + tiff(6)))
    for turn in range(1, 9):
        add(f"exif{turn}.jpg", with_segment(jpeg(rgb), 0xE1, b"Exif\0\0" + tiff(turn, "><"[turn % 2], others=((0x0100, 5),))))
    add("exif_long.jpg", with_segment(jpeg(rgb), 0xE1, b"Exif\0\0" + tiff(6, ">", 4)))
    add("exif_grey.jpg", with_segment(jpeg(grey), 0xE1, b"Exif\0\0" + tiff(8)))
    add("exif_invalid.jpg", with_segment(jpeg(rgb), 0xE1, b"Exif\0\0" + tiff(9)))
    mark = b"http://ns.adobe.com/xap/1.0/\0"
    add("xmp.jpg", with_segment(jpeg(rgb), 0xE1, mark + xmp(3)))
    add("xmp_element.jpg", with_segment(jpeg(rgb), 0xE1, mark + xmp(8, True)))
    both = with_segment(with_segment(jpeg(rgb), 0xE1, mark + xmp(3)), 0xE1, b"Exif\0\0" + tiff(6))
    add("exif_and_xmp.jpg", both)
    add("junk_before_end.jpg", jpeg(rgb)[:-2] + b"\x12\x34\x56" + b"\xff\xd9")
    add("junk_behind.jpg", jpeg(rgb) + b"\0" * 100)
    out = io.BytesIO()
    Image.fromarray(rgb).save(out, "MPO", save_all=True, append_images=[Image.fromarray(motif(h, w, 3, seed=1))])
    add("mpo.jpg", out.getvalue())


def random_ones(count):
    rng = random.Random(5)
    for i in range(count):
        high, wide = rng.randint(1, 70), rng.randint(1, 70)
        if rng.random() < 0.5:
            kind, channels = rng.choice(((0, 1), (2, 3), (4, 2), (6, 4)))
            depth = rng.choice((8, 16))
            array = motif(high, wide, channels, depth, i)
            before = rng.choice([b""] + list(COLOURS.values())[:-1])
            data = png(array, kind, depth, rng.random() < 0.5, before)
            add(f"random{i}.png", data, array[..., 0] >> 8 if kind == 0 and depth == 16 else None)
        else:
            channels = rng.choice((1, 3, 4))
            data = jpeg(motif(high, wide, channels, seed=i), "CMYK" if channels == 4 else None, quality=rng.randint(1, 100),
                        subsampling=rng.randint(0, 2), progressive=rng.random() < 0.5)
            add(f"random{i}.jpg", with_segment(data, 0xE1, b"Exif\0\0" + tiff(rng.randint(1, 8))))


os.makedirs(OUT, exist_ok=True)
for old in os.listdir(OUT):
    os.remove(os.path.join(OUT, old))
all_png()
all_jpeg()
random_ones(COUNT)
with open(os.path.join(OUT, "pictures.json"), "w", encoding="utf-8") as file:
    json.dump(pictures, file, indent=1)
    file.write("\n")
print(len(pictures), "pictures in", OUT)
