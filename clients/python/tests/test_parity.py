"""`forebay parity`: its figures, its tables, and both sides' pixels of small pictures."""

import importlib.util
import random
import subprocess
import sys

import numpy as np
import pytest
from forebay import DatasetError, _command
from forebay.parity import table
from forebay.parity.command import main
from forebay.parity.dataset import records, shown
from forebay.parity.difference import Difference, Tally, WorstPicture
from forebay.parity.published import LibraryMissing, recipes
from forebay.parity.report import Report
from forebay.parity.versions import Versions


def row(*values):
    return np.array(values, np.uint8).reshape(1, -1, 3)


def between(ours, theirs):
    return Difference.between(row(*ours), row(*theirs))


def test_greatest_mean_and_place_are_those_of_single_values():
    found = between([10, 10, 10, 20, 20, 20], [10, 11, 10, 20, 20, 25])
    assert found == Difference(greatest=5, sum=6, over=1, values=6, at=(1, 0))
    assert found.mean == 1.0


def test_pictures_of_two_sizes_have_no_difference():
    assert between([0] * 3, [0] * 6) is None


def test_a_tally_counts_equal_pictures_and_knows_the_worst():
    tally = Tally()
    assert not tally.add("same", between([7] * 3, [7] * 3))
    assert tally.add("far", between([7] * 3, [7, 7, 13]))
    assert not tally.add("near", between([7] * 3, [7, 7, 10]))
    assert (tally.pictures, tally.equal, tally.greatest, tally.worst) == (3, 1, 6, WorstPicture("far", 2.0))
    assert (tally.mean, tally.share_over) == (1.0, 2 / 9)


@pytest.fixture
def report():
    """The report of three pictures that both sides open, and of some that are refused."""
    report = Report("/data/photos", ["decode: whole", "resize a|b"])
    same, far = between([7] * 3, [7] * 3), between([7] * 6, [7, 7, 7, 7, 7, 8])
    report.tasks["decode: whole"].add("a.jpg", same)
    report.add_whole("a.jpg", "JPEG 4:2:0", False, True, same)
    report.tasks["resize a|b"].add("a.jpg", far)
    report.tasks["resize a|b"].add("b.jpg", between([7] * 3, [7, 7, 10]))
    report.refused_by_us = [(f"{number}.png", "It is damaged.") for number in range(7)]
    report.refused_by_both = 2
    report.other_size = ["c.gif"]
    return report


def test_the_text_of_a_report_is_aligned(report):
    first = (
        "/data/photos\n\n"
        + """\
                                                 pictures  equal  greatest     over 1   mean  worst picture
  decode: whole                                         1      1         0          0  0.000
    of them: turned by EXIF                             0      -         -          -      -
    of them: gray, CMYK, palette, alpha, 16 bit         1      1         0          0  0.000
  resize a|b                                            2      0         3  11.1111 %  0.444  b.jpg (1.000)

                      pictures  equal  greatest  over 1   mean  worst picture
  decode: JPEG 4:2:0         1      1         0       0  0.000

"""
    )
    refused = "; ".join(f"{number}.png (It is damaged)" for number in range(5))
    assert table.text(report) == (
        f"{first}  Pillow opens and Forebay refuses: 7; {refused}; ....\n\n  Refused by both: 2.\n\n"
        "  Of another size than Pillow's: c.gif.\n"
    )


def test_the_page_has_versions_and_a_table_for_each_dataset(report):
    versions = Versions("13.0.0", None, "2.15.0", None, "5.0.0")
    page = table.markdown("0.1.0", versions, [report])
    made_by = "Made by `forebay parity`, version 0.1.0, beside Pillow 13.0.0 with libjpeg-turbo of unknown version, "
    assert f"{made_by}torch 2.15.0 on its CPU, OpenCV 5.0.0.\n" in page
    _, _, tables = page.partition("\n## photos\n")
    head = ["|  | pictures | equal | greatest | over 1 | mean | worst picture |", "|---|--:|--:|--:|--:|--:|---|"]
    assert tables.splitlines()[1:10] == [
        *head,
        "| decode: whole | 1 | 1 | 0 | 0 | 0.000 |  |",
        "|   of them: turned by EXIF | 0 | - | - | - | - |  |",
        "|   of them: gray, CMYK, palette, alpha, 16 bit | 1 | 1 | 0 | 0 | 0.000 |  |",
        "| resize a\\|b | 2 | 0 | 3 | 11.1111 % | 0.444 | b.jpg (1.000) |",
        "",
        *head,
    ]
    assert tables.endswith("\nRefused by both: 2.\n\nOf another size than Pillow's: c.gif.\n")


def test_a_small_mean_is_not_shown_as_none():
    means = [0.0, 0.25, 0.000499, 0.00002]
    assert [table._mean(mean) for mean in means] == ["0.000", "0.250", "0.000499", "0.000020"]


def test_records_are_those_of_a_loader_or_of_a_list(tmp_path):
    for name in ("b/2.PNG", "b/.hidden.png", "a/10.jpg", "a/9.jpg", "a/notes.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert [name for _, name in records(str(tmp_path))] == ["a/10.jpg", "a/9.jpg", "b/2.PNG"]
    paths = [str(tmp_path / "a/9.jpg"), str(tmp_path / "b/2.PNG")]
    for name, content in (
        ("list.txt", "a/9.jpg\n\nb/2.PNG\n"),
        ("bare.csv", "a/9.jpg,0\nb/2.PNG,1\n"),
        ("headed.CSV", "label,File\n0,a/9.jpg\n1,b/2.PNG\n"),
    ):
        (tmp_path / name).write_text(content)
        assert records(str(tmp_path / name)) == [(path, path) for path in paths], name
    (tmp_path / "empty.txt").touch()
    for name in ("empty.txt", "a/9.jpg"):
        with pytest.raises(DatasetError, match=name):
            records(str(tmp_path / name))
    with pytest.raises(FileNotFoundError):
        records(str(tmp_path / "nowhere"))


def test_a_name_commands_no_terminal():
    assert shown("cat\x1b[2J\n\udcff é.jpg") == "cat\\u{1b}[2J\\n\\xff é.jpg"


def test_without_torchvision_its_recipes_are_refused_and_without_opencv_there_are_fewer_rows():
    with pytest.raises(LibraryMissing, match="--recipe timm compares with torchvision"):
        recipes("timm", Versions("13.0.0"))
    assert [recipe.resize for recipe in recipes("yolo", Versions("13.0.0"))] == ["pillow"] * 2
    assert [recipe.resize for recipe in recipes("yolo", Versions("13.0.0", opencv="5"))] == ["pillow"] * 2 + [
        "opencv"
    ] * 2
    found = [
        recipe for name in ("torchvision", "timm", "dinov2") for recipe in recipes(name, Versions("1", None, "2", "3"))
    ]
    assert len({recipe.name for recipe in found}) == 13
    assert {recipe.name: recipe.magnitudes["bins"] for recipe in found if recipe.magnitudes} == {
        "recipe torchvision_train, RandAugment": 31,
        "recipe torchvision_train, TrivialAugmentWide": 31,
        "recipe torchvision_train, AutoAugment of ImageNet": 10,
        "recipe torchvision_train, AugMix": 10,
    }


def test_an_interpreter_without_pillow_says_what_is_missing(tmp_path):
    program = "import sys; sys.modules['PIL'] = None; from forebay.parity.command import main; main(['/nowhere'])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 1
    for words in (sys.executable, "Pillow", "pip install pillow"):
        assert words in done.stderr


@pytest.mark.parametrize("wrong", [["-o", "sheet.jpg"], ["--limit", "-1"], ["--recipe", "resnet"]])
def test_a_wrong_argument_is_refused(wrong, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["/nowhere", *wrong])
    assert ended.value.code == 2
    assert wrong[0] in capsys.readouterr().err


def test_the_command_of_the_package_has_it_and_the_binary_says_so(binary, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["forebay", "parity", "--help"])
    with pytest.raises(SystemExit) as ended:
        _command.main()
    assert ended.value.code == 0
    assert "usage: forebay parity" in capsys.readouterr().out
    done = subprocess.run([binary, "compare", "pictures"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "`forebay compare` is now `forebay parity`" in done.stderr


@pytest.fixture
def photographs(tmp_path):
    """A folder of two JPEGs, one of them turned, a gray PNG, and a file that neither side opens."""
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    folder = tmp_path / "photographs"
    folder.mkdir()
    coarse = image.frombytes("RGB", (13, 11), random.Random(0).randbytes(13 * 11 * 3))
    picture = coarse.resize((301, 227), image.Resampling.BICUBIC)
    picture.save(folder / "a.jpg", quality=90)
    turned = image.Exif()
    turned[0x0112] = 6
    picture.save(folder / "b.jpg", quality=90, exif=turned)
    picture.convert("L").save(folder / "c.png")
    (folder / "d.png").write_text("neither side opens this")
    return folder


def compared(tmp_path, *arguments):
    """What the command prints, and the cells of the page's rows by their names."""
    page = tmp_path / "page.md"
    command = [sys.executable, "-m", "forebay.parity", *map(str, arguments), "--markdown", str(page)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = [line for line in page.read_text().splitlines() if line.startswith("| ")]
    return done.stdout, {
        cells[1].strip(): [cell.strip() for cell in cells[2:-1]] for cells in (each.split("|") for each in lines)
    }


def has(library):
    return importlib.util.find_spec(library) is not None


def test_both_sides_agree_on_small_pictures_and_the_worst_are_drawn(photographs, tmp_path):
    text, rows = compared(tmp_path, photographs)
    for name in (
        "decode: whole pictures, upright",
        "crop: the middle 224, not resized",
        "training: random part to 224, mirrored by chance",
        "evaluation: shorter side 256, the middle 224",
        *(f"resize to 224 x 224, {name}" for name in ("bilinear", "bicubic", "lanczos3", "nearest")),
    ):
        assert name in text
        assert rows[name][:3] == ["3", "3", "0"], name
    assert rows["of them: turned by EXIF"][0] == "1"
    assert rows["of them: gray, CMYK, palette, alpha, 16 bit"][0] == "1"
    assert rows["decode: JPEG 4:2:0"][0] == "2"
    assert rows["decode: PNG L"][0] == "1"
    # Pillow averages boxes of pixels first. These pictures are too small to be decoded at half their size.
    assert int(rows["reducing_gap 2.0, to 64 x 64, beside Pillow's"][2]) > 0
    assert rows["reducing_gap 2.0, to 64 x 64, beside an exact resize"][2] == "0"
    assert "Refused by both: 1." in text
    assert (tmp_path / "parity.png").read_bytes().startswith(b"\x89PNG")
    assert "parity.png: ours, Pillow's, and the difference" in text
    text, rows = compared(tmp_path, photographs, "--limit", "1")
    assert rows["decode: whole pictures, upright"][0] == "1"
    assert "Refused" not in text


def test_the_pixels_of_yolo_are_pillow_s_with_equal_draws(photographs, tmp_path):
    _, rows = compared(tmp_path, photographs, "--recipe", "yolo", "--recipe", "yolo")
    for name in ("yolo", "yolo_eval"):
        assert rows[f"recipe {name}, with Pillow's resize"][:3] == ["3", "3", "0"]
        if has("cv2"):
            assert rows[f"recipe {name}, with OpenCV's resize"][0] == "3"


@pytest.mark.skipif(not has("torchvision"), reason="torchvision is not installed; `make test-torch` installs it")
def test_the_pixels_of_recipes_are_those_of_torchvision_with_equal_draws(photographs, tmp_path):
    _, rows = compared(tmp_path, photographs, *(f"--recipe={name}" for name in ("torchvision", "timm", "dinov2")))
    equal = [
        *(
            f"torchvision_train, {policy}"
            for policy in ("RandAugment", "TrivialAugmentWide", "AutoAugment of ImageNet")
        ),
        *(f"timm_train, {policy}" for policy in ("colour jitter", "rand-m9-mstd0.5-inc1", "3-Augment")),
        *("torchvision_eval", "timm_eval", "dinov2_eval"),
    ]
    for name in equal:
        assert rows[f"recipe {name}"][:3] == ["3", "3", "0"], name
    # torchvision's Gaussian blur makes a tensor of Pillow's image.
    assert int(rows["recipe dinov2, first global crop"][2]) <= 1
    for name in ("bilinear", "bicubic"):
        assert int(rows[f'resize to 224 x 224, {name}, match = "torch", beside torch\'s'][2]) <= 1


def test_the_window_is_around_the_place_and_inside_the_picture():
    pytest.importorskip("PIL", reason="Pillow is not installed")
    from forebay.parity import contact_sheet as sheet

    assert sheet.first(500, 1000) == 500 - sheet.WINDOW // 2
    assert (sheet.first(3, 1000), sheet.first(990, 1000), sheet.first(50, 100)) == (0, 1000 - sheet.WINDOW, 0)


def test_a_sheet_has_the_last_picture_of_a_comparison_enlarged_and_amplified():
    pytest.importorskip("PIL", reason="Pillow is not installed")
    from forebay.parity.contact_sheet import CAPTION, GAP, WINDOW, Sheet

    sheet = Sheet()
    assert sheet.draw() is None
    ours = row(10, 20, 30, 40, 50, 60)
    for last in (61, 65):
        theirs = row(10, 20, 30, 40, 50, last)
        sheet.keep("/data", "resize", "a.png", ours, theirs, Difference.between(ours, theirs))
    drawn = np.asarray(sheet.draw())
    assert drawn.shape == (WINDOW // 2 + CAPTION + 2 * GAP, 3 * (WINDOW + GAP) + GAP, 3)
    top, right = GAP + CAPTION, WINDOW - 1
    shown_pixels = [drawn[top, GAP + place * (WINDOW + GAP) + right].tolist() for place in range(3)]
    assert shown_pixels == [[40, 50, 60], [40, 50, 65], [0, 0, 255]]
