"""Genomes and variants come out the same from every file, URL and container, and damage is named."""

from __future__ import annotations

import gc
import gzip
import os

import fsspec
import numpy as np
import pytest
from primabench_task_genome import Genome, get_sequences, read_variants
from primabench_task_genome.windows import fasta as fasta_files

import primabench_core as pb

pysam = pytest.importorskip("pysam")

RNG = np.random.default_rng(1)
SEQUENCES = {name: "".join(RNG.choice(list("ACGTNacgt"), n)) for name, n in (("chr1", 1234), ("2", 60), ("chrM", 61))}


def wrapped(line=60, end="\n", last="\n"):
    parts = []
    for name, text in SEQUENCES.items():
        parts.append(f">{name} something")
        parts += [text[i : i + line] for i in range(0, len(text), line)]
    return (end.join(parts) + last).encode()


def write(path, content):
    path.write_bytes(content)
    return path


@pytest.fixture(params=["plain", "windows", "no_last_end", "one_line", "bgzip", "memory", "memory_indexed", "file_url"])
def place(request, tmp_path):
    kind = request.param
    if kind == "plain":
        return write(tmp_path / "g.fa", wrapped())
    if kind == "windows":
        return write(tmp_path / "g.fa", wrapped(end="\r\n", last="\r\n"))
    if kind == "no_last_end":
        return write(tmp_path / "g.fa", wrapped(70, last=""))
    if kind == "one_line":
        return write(tmp_path / "g.fa", wrapped(10_000))
    if kind == "bgzip":
        pysam.tabix_compress(str(write(tmp_path / "g.fa", wrapped())), str(tmp_path / "g.fa.gz"))
        return tmp_path / "g.fa.gz"
    if kind == "file_url":
        return f"file://{write(tmp_path / 'g.fa', wrapped())}"
    fs = fsspec.filesystem("memory")
    fs.pipe(f"/{tmp_path.name}/g.fa", wrapped())
    if kind == "memory_indexed":
        write(tmp_path / "g.fa", wrapped())
        Genome(tmp_path / "g.fa")
        fs.pipe(f"/{tmp_path.name}/g.fa.fai", (tmp_path / "g.fa.fai").read_bytes())
    return f"memory://{tmp_path.name}/g.fa"


def test_every_genome_gives_the_same_bases(place):
    genome = Genome(place)
    assert dict(genome.lengths) == {"chr1": 1234, "2": 60, "chrM": 61}
    for name, text in SEQUENCES.items():
        for start, end in ((0, len(text)), (0, 1), (len(text) - 1, len(text)), (7, 60), (59, 60), (5, 5)):
            assert genome.text(name, start, end) == text[start:end].upper()
        assert genome.text(name, -3, len(text) + 2) == f"NNN{text.upper()}NN"
    assert Genome(place, circular="MT").text("M", -61, 122) == SEQUENCES["chrM"].upper() * 3
    with pytest.raises(pb.UsageError, match="chromosome"):
        genome.text("chr3", 0, 1)


def test_windows_from_every_genome(place):
    text = SEQUENCES["chr1"].upper()
    pos = [p for p in range(1, 1235, 37) if text[p - 1] != "N"]
    table = {
        "chrom": ["1"] * len(pos),
        "pos": pos,
        "ref": [text[p - 1] for p in pos],
        "alt": ["A" if text[p - 1] != "A" else "G" for p in pos],
    }
    from_file = get_sequences(table, place, 90, encoding="codes")
    from_text = get_sequences(table, SEQUENCES, 90, encoding="codes")
    assert np.array_equal(from_file.ref_seq, from_text.ref_seq)
    assert np.array_equal(from_file.alt_seq, from_text.alt_seq)


def test_a_stale_index_is_made_again(tmp_path):
    path = write(tmp_path / "g.fa", b">a\nAAAA\n")
    assert Genome(path).lengths == {"a": 4}
    os.utime(tmp_path / "g.fa.fai", (0, 0))
    write(path, b">b\nCCCCCC\n")
    assert Genome(path).lengths == {"b": 6}


def bgzip(path, content):
    plain = write(path.with_name("uncompressed.fa"), content)
    pysam.tabix_compress(str(plain), str(path), force=True)
    plain.unlink()
    return path


@pytest.mark.parametrize("older", [".fai", ".gzi"])
def test_a_stale_index_of_a_compressed_file_is_made_again(tmp_path, older):
    path = bgzip(tmp_path / "g.fa.gz", b">a\nAAAA\n")
    assert Genome(path).lengths == {"a": 4}
    time = path.stat().st_mtime_ns
    bgzip(path, b">b\nCCCCCC\n>c\nGG\n")
    for end in (".fai", ".gzi"):
        os.utime(f"{path}{end}", ns=(0, 0 if end == older else time + 10**12))
    genome = Genome(path)
    assert genome.lengths == {"b": 6, "c": 2}
    assert genome.text("c", 0, 2) == "GG"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["g.fa.gz", "g.fa.gz.fai", "g.fa.gz.gzi"]


def test_an_index_of_another_compressed_file_is_noticed(tmp_path):
    path = bgzip(tmp_path / "g.fa.gz", wrapped())
    Genome(path)
    write(tmp_path / "g.fa.gz.fai", b"chr1\t1234\t3\t60\t61\n")
    with pytest.raises(pb.CorruptDataError, match=r"does not fit its index.*") as caught:
        Genome(path).text("chr1", 0, 1234)
    assert "g.fa.gz.gzi" in str(caught.value)
    write(tmp_path / "g.fa.gz.fai", b"chr1\tmany\n")
    with pytest.raises(pb.CorruptDataError, match=r"index of .* is damaged in line 1"):
        Genome(path)


def test_a_temporary_index_goes_with_its_genome_and_not_with_a_forked_one(tmp_path, monkeypatch):
    (tmp_path / "temporary").mkdir()
    path = bgzip(tmp_path / "g.fa.gz", wrapped())
    monkeypatch.setattr(fasta_files, "_writable", lambda folder: False)
    monkeypatch.setattr(fasta_files.tempfile, "tempdir", str(tmp_path / "temporary"))
    genome = Genome(path)
    assert len(list((tmp_path / "temporary").iterdir())) == 1
    child = os.fork()
    if not child:
        same = False
        try:
            same = genome.text("2", 0, 60) == SEQUENCES["2"].upper()
            del genome
            gc.collect()
        finally:
            os._exit(int(not same))
    assert os.waitpid(child, 0)[1] == 0
    assert len(list((tmp_path / "temporary").iterdir())) == 1
    del genome
    gc.collect()
    assert list((tmp_path / "temporary").iterdir()) == []


def test_forked_processes_do_not_share_their_place_in_a_file(tmp_path):
    """Workers of a loader are forked from a process that has the genome open already."""
    rng = np.random.default_rng(3)
    text = "".join(rng.choice(list("ACGT"), 300_000))
    write(tmp_path / "g.fa", f">1\n{text}\n".encode())
    pysam.tabix_compress(str(tmp_path / "g.fa"), str(tmp_path / "g.fa.gz"))
    genome = Genome(tmp_path / "g.fa.gz")
    starts = rng.integers(0, 299_000, 400).tolist()
    workers = []
    for worker in range(4):
        child = os.fork()
        if not child:
            wrong = True
            try:
                places = starts[worker::4] * 3
                wrong = any(genome.text("1", start, start + 900) != text[start : start + 900] for start in places)
            finally:
                os._exit(int(wrong))
        workers.append(child)
    assert [os.waitpid(child, 0)[1] for child in workers] == [0, 0, 0, 0]


def test_a_folder_that_cannot_be_written_to(tmp_path, monkeypatch):
    path = write(tmp_path / "g.fa", wrapped())
    pysam.tabix_compress(str(path), str(tmp_path / "g.fa.gz"))
    monkeypatch.setattr(fasta_files, "_writable", lambda folder: False)
    for place in (path, tmp_path / "g.fa.gz"):
        assert Genome(place).text("2", 0, 60) == SEQUENCES["2"].upper()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["g.fa", "g.fa.gz"]


def test_an_index_of_another_file_is_noticed(tmp_path):
    path = write(tmp_path / "g.fa", wrapped())
    write(tmp_path / "g.fa.fai", b"chr1\t1234\t3\t60\t61\n")
    with pytest.raises(pb.CorruptDataError, match="does not fit its index"):
        Genome(path).text("chr1", 0, 1234)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("g.fa", b"ACGT\n", "does not begin"),
        ("g.fa", b">a\nACGT\nAC\nACGT\n", "cannot be indexed"),
        ("g.fa.gz", gzip.compress(b">a\nACGT\n", mtime=0), "compressed in blocks"),
    ],
)
def test_files_that_cannot_be_read_from_the_middle(tmp_path, name, content, said):
    with pytest.raises(pb.CorruptDataError, match=said):
        Genome(write(tmp_path / name, content))


@pytest.mark.parametrize("fai", [b"", b"a\t1\n", b"a\t1\t2\t3\tx\n", b"a\t4\t3\t4\t5\na\t4\t3\t4\t5\n"])
def test_damaged_indices(tmp_path, fai):
    write(tmp_path / "g.fa", b">a\nACGT\n")
    write(tmp_path / "g.fa.fai", fai)
    with pytest.raises(pb.CorruptDataError):
        Genome(tmp_path / "g.fa")


def test_absent_files(tmp_path):
    for place in (tmp_path / "no.fa", f"memory://{tmp_path.name}/no.fa", f"memory://{tmp_path.name}/no.fa.gz"):
        with pytest.raises(pb.MissingDataError):
            Genome(place)
    for place in (tmp_path / "no.vcf", f"memory://{tmp_path.name}/no.vcf", tmp_path / "no.zarr"):
        with pytest.raises(pb.MissingDataError):
            read_variants(str(place))


VCF = """##fileformat=VCFv4.2
#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO
1\t3\tx\tA\tC,AT\t.\t.\t.
2\t5\ty\tGT\tG\t.\t.\t.
2\t9\tz\tG\t<DEL>\t.\t.\t.
2\t9\tz\tG\t.\t.\t.\t.
"""
EXPECTED = ["1:3:A:C", "1:3:A:AT", "2:5:GT:G", "2:9:G:<DEL>", "2:9:G:"]


def test_vcf_files_compressed_or_not_here_or_there(tmp_path, capfd):
    path = write(tmp_path / "v.vcf", VCF.encode())
    pysam.tabix_compress(str(path), str(tmp_path / "v.vcf.gz"))
    fsspec.filesystem("memory").pipe(f"/{tmp_path.name}/v.vcf.gz", (tmp_path / "v.vcf.gz").read_bytes())
    for place in (path, tmp_path / "v.vcf.gz", f"memory://{tmp_path.name}/v.vcf.gz"):
        found = read_variants(place)
        assert [found.name(i) for i in range(found.n)] == EXPECTED
        assert found.row.tolist() == [0, 0, 1, 2, 3]
    assert capfd.readouterr().err == ""


def test_a_file_that_is_no_vcf(tmp_path):
    with pytest.raises(pb.CorruptDataError, match="VCF"):
        read_variants(write(tmp_path / "v.vcf", b"hello\n"))
    with pytest.raises(pb.UsageError, match="neither"):
        read_variants(write(tmp_path / "v.txt", b"hello\n"))


COLUMNS = {"chrom": ["1", "2"], "pos": [3, 5], "ref": ["A", "GT"], "alt": ["C", "G"]}


def texts(values):
    return np.asarray(values, np.dtypes.StringDType())


def test_tables_and_stores_of_every_layout(tmp_path):
    zarr = pytest.importorskip("zarr")
    pd = pytest.importorskip("pandas")
    from primabench_core.store.zarr_io import write as write_zarr

    data = pb.EvalData(
        {k: np.asarray(v, object if k != "pos" else np.int64) for k, v in COLUMNS.items()}, ids=["a", "b"]
    )
    write_zarr(data, tmp_path / "own.zarr")
    plain = zarr.open_group(str(tmp_path / "plain.zarr"), mode="w")
    for name, values in COLUMNS.items():
        plain.create_array(name, data=texts(values) if name != "pos" else np.asarray(values))
    vcf = zarr.open_group(str(tmp_path / "vcf.zarr"), mode="w")
    vcf.create_array("contig_id", data=texts(["1", "2"]))
    vcf.create_array("variant_contig", data=np.asarray([0, 1]))
    vcf.create_array("variant_position", data=np.asarray([3, 5]))
    vcf.create_array("variant_allele", data=texts([["A", "C", ""], ["GT", "G", ""]]))
    for given in (COLUMNS, pd.DataFrame(COLUMNS), data, tmp_path / "own.zarr", tmp_path / "plain.zarr",
                  str(tmp_path / "vcf.zarr")):  # fmt: skip
        found = read_variants(given)
        assert [found.name(i) for i in range(found.n)] == ["1:3:A:C", "2:5:GT:G"]
    vcf["variant_contig"][1] = -1
    nowhere = read_variants(tmp_path / "vcf.zarr")
    assert nowhere.chrom == ("1", None)
    with pytest.raises(pb.ContractError, match="no text in 1 row"):
        get_sequences(nowhere, {"1": "GGA", "2": "CCCCG"}, 3)
    with pytest.raises(pb.UsageError, match="no column 'alt'"):
        read_variants(pd.DataFrame(COLUMNS).drop(columns="alt"))


def test_the_strand_may_be_a_column():
    found = get_sequences({**COLUMNS, "strand": ["+", "-"]}, {"1": "GGAGG", "2": "CCCCGTAA"}, 4, strand="strand")
    assert found.ref_seq.tolist() == ["GGAG", "ACGG"]
    assert found.variant_index.tolist() == [2, 1]
