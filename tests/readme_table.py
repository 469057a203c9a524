"""tools/readme_table on a small record: cells, bold, the peers' better layout, goals, --check, faults."""
import copy
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parent.parent / "tools" / "readme_table"
README = "# Title\n\nbefore\n\n<!-- bench:begin -->\nstale\n<!-- bench:end -->\n\nafter\n"


def row(name, us, precision="fp32", target="cuda", **more):
    out = {"name": name, "target": target, "precision": precision, "floor": "copy" in name, **more}
    if us is None:
        return out | {"refused": "in words"}
    return out | {"streaming": {"median_us": us, "gb_s": 58000 / us, "limit": "memory"}, "hot": {"median_us": us / 2}}


TILED = {"kernel": "register_tiled", "count": 1, "grid": [1020, 1, 1], "block": [32, 4, 1], "registers": 128,
         "shared_bytes": 1536, "occupancy": 0.25, "limited_by": "registers"}
COLUMNS = TILED | {"kernel": "im2col", "count": 8}


def workload(name, rows, precision="fp32"):
    return {"name": name, "precision": precision, "about": f"shape of {name}", "bytes": 58e6, "multiply_adds": 223e6,
            "values": 1000000, "rows": rows}


BENCH = {
    "what": "convscope bench", "date": "2026-12-01T10:00:00Z", "device": "NVIDIA H200", "driver": "580.1", "cuda": "13.0",
    "rounds": 25, "interrupted": False,
    "workloads": [
        workload("A", [
            row("copy of the same bytes", 20.0), row("cudaMemcpy of the same bytes", 16.0), row("direct", 260.5),
            row("register_tiled", 18.4, bytes=58e6, multiply_adds=27e6, kernels=[COLUMNS, TILED]),
            row("im2col_gemm", 64.0, bytes=174e6), row("im2col_chunked", 80.0), row("separable", None), row("looped", None),
            row("implicit_gemm_tf32", 37.0), row("implicit_gemm_3xtf32", 46.0), row("cudnn", 93.0),
            row("cudnn_tf32", 95.0), row("onednn", 3000.0, target="cpu")]),
        workload("A", [row("register_tiled", 90.0, "fp64")], "fp64"),
        workload("B5", [row("register_tiled", 130.0), row("implicit_gemm_3xtf32", 80.0), row("cudnn", 520.0)]),
        workload("L", [row("looped", 18432.0, launches=9216), row("register_tiled", 1000.0), row("cudnn", 1500.0)])]}
PEERS = {"device": "NVIDIA H200", "torch": "2.11", "cudnn": 91900, "cases": {
    "A_seed_1080p_3to16_s2": {"fp32_nchw": 89.5, "fp32_nhwc": 91.1, "tf32_nchw": 89.4, "tf32_nhwc": 79.75,
                              "fp64_nchw": 364.2, "fp64_nhwc": "out of memory"}}}


class ReadmeTable(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)
        self.write("README.md", README)
        self.write("bench.json", BENCH)
        self.write("peers.json", PEERS)

    def tearDown(self):
        self.temporary.cleanup()

    def write(self, name, content):
        (self.folder / name).write_text(content if isinstance(content, str) else json.dumps(content))

    def tool(self, *arguments):
        return subprocess.run([sys.executable, TOOL, *arguments], cwd=self.folder, capture_output=True, text=True,
                              check=False)

    def made(self, *arguments):
        result = self.tool("bench.json", *arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return (self.folder / "README.md").read_text()

    def test_table(self):
        text = self.made("--peers", "peers.json")
        self.assertTrue(text.startswith("# Title\n\nbefore\n\n<!-- bench:begin -->\n"))
        self.assertTrue(text.endswith("<!-- bench:end -->\n\nafter\n"))
        self.assertNotIn("stale", text)
        for line in ("| | A | B5 | L |", "|---|---:|---:|---:|", "| copy of the same bytes fp32 | 20.0 |  |  |",
                     "| `direct` fp32 | 260 |  |  |", "| `register_tiled` fp32 | **18.4** | **130** | **1000** |",
                     "| `implicit_gemm_tf32` TF32 | **37.0** |  |  |", "| `implicit_gemm_3xtf32` 3xTF32 | **46.0** | **80.0** |  |",
                     "| `register_tiled` fp64 | **90.0** |  |  |", "| `onednn` fp32, cpu | 3000 |  |  |",
                     "| `cudnn` fp32 | 93.0 | 520 | 1500 |", "| cuDNN through PyTorch fp32 | 89.5 |  |  |",
                     "| cuDNN through PyTorch TF32 | 79.8 |  |  |", "| cuDNN through PyTorch fp64 | 364 |  |  |"):
            self.assertIn(line + "\n", text)
        self.assertNotIn("separable` fp32", text)
        self.assertLess(text.index("| `looped` fp32 |"), text.index("| `implicit_gemm_tf32`"))  # the record's order

    def test_what_the_letters_stand_for(self):
        text = self.made()
        self.assertEqual(text.count("| A | shape of A | 58 MB | 0.22 G |\n"), 1)  # not again for fp64
        self.assertIn("| L | shape of L | 58 MB | 0.22 G |\n", text)

    def test_launches(self):
        text = self.made("--peers", "peers.json")
        self.assertIn("| `register_tiled` fp32 | A | 58.0 | 27 | im2col (8 times) | 1020 x 32,4 | 128 | 1.5 KiB | 25 % | "
                      "registers | memory |\n| | | | | register_tiled | 1020 x 32,4 | 128 | 1.5 KiB | 25 % | registers |  |\n", text)

    def test_goals(self):
        text = self.made("--peers", "peers.json")
        for line in ("| A: `register_tiled` / copy of the same bytes | at most 1.15 | 1.15 | reached |",
                     "| A: cuDNN fp32 / `register_tiled` | at least 4.5 | 4.86 | reached |",
                     "| A: cuDNN TF32 / `register_tiled` | at least 3.5 | 4.33 | reached |",
                     # 174 MB at the copy's 58 MB in 16 us are 48 us
                     "| A: `im2col_gemm` / its bytes at the copy's rate | at most 1.5 | 1.33 | reached |",
                     "| A: `im2col_chunked` / `im2col_gemm` | at most 1 | 1.25 | not reached |",
                     "| B5: cuDNN fp32 / `register_tiled` | at least 5 | 4.00 | not reached |",
                     "| B5: cuDNN fp32 / `implicit_gemm_3xtf32` | at least 5 | 6.50 | reached |",
                     "| L: cuDNN fp32 / `register_tiled` | at least 2 | 1.50 | not reached |"):
            self.assertIn(line + "\n", text)
        self.assertNotIn("| B: ", text)
        self.assertIn("`looped` on L: 9216 launches of 2.00 us each, 18 times `register_tiled`.\n", text)

    def test_without_peers(self):
        text = self.made()
        self.assertNotIn("PyTorch", text)
        self.assertIn("| A: cuDNN fp32 / `register_tiled` | at least 4.5 | 5.05 | reached |\n", text)

    def test_check(self):
        self.assertEqual(self.tool("--check").returncode, 1)  # names no record: nothing would guard the table
        self.made("--peers", "peers.json")
        self.assertEqual(self.tool("--check").returncode, 0)
        text = (self.folder / "README.md").read_text()
        self.write("README.md", text.replace("**18.4**", "**18.3**"))
        self.assertEqual(self.tool("--check").returncode, 1)
        self.write("README.md", text.replace("before", "something else"))
        self.assertEqual(self.tool("--check").returncode, 0)
        changed = copy.deepcopy(BENCH)
        changed["workloads"][0]["rows"][2]["streaming"]["median_us"] = 250
        self.write("bench.json", changed)
        self.assertEqual(self.tool("--check").returncode, 1)
        self.assertEqual(self.tool().returncode, 0)  # written again from the record it names
        self.assertEqual(self.tool("--check").returncode, 0)

    def test_faults(self):
        interrupted = BENCH | {"interrupted": True}
        other_machine = PEERS | {"device": "NVIDIA A100"}
        table = [(("none.json",), {}, "none.json: No such file"),
                 (("bench.json",), {"bench.json": "{"}, "bench.json: is not JSON"),
                 (("bench.json",), {"bench.json": {"workloads": {}}}, "is no record"),
                 (("bench.json",), {"bench.json": interrupted}, "interrupted"),
                 (("bench.json", "--peers", "peers.json"), {"peers.json": other_machine}, "NVIDIA A100"),
                 (("bench.json",), {"README.md": "no marks"}, "bench:begin"),
                 ((), {}, "names no record")]
        for arguments, files, words in table:
            with self.subTest(words):
                self.write("README.md", README)
                self.write("bench.json", BENCH)
                for name, content in files.items():
                    self.write(name, content)
                before = (self.folder / "README.md").read_text()
                result = self.tool(*arguments)
                self.assertEqual(result.returncode, 1)
                self.assertIn(words, result.stderr)
                self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
                self.assertEqual((self.folder / "README.md").read_text(), before)


if __name__ == "__main__":
    unittest.main()
