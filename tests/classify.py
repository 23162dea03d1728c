# SPDX-License-Identifier: Apache-2.0
"""Classifies reads by brute force, for t_classify.sh: dictionaries of strings, and nothing of Heddle.

    classify.py table K BY REFERENCE...            a line per taxon: name, k-mers; then "ambiguous" and their number
    classify.py reads K BY MIN READS REFERENCE...  what `heddle classify --reads` writes
    classify.py strain RATE SEED FILE              the genome of FILE with that share of its bases changed
    classify.py origins READS.tsv                  reads, right, wrong, unclassified; a read's name begins with "TAXON:"

BY is file or record; files are plain FASTA or FASTQ.
"""

import collections
import os
import random
import sys

TURNED = str.maketrans("ACGT", "TGCA")


def records(path):
    """Pairs of a name and its bases, in upper case; anything that is no base becomes N."""
    lines = [line.strip() for line in open(path, newline="\n")]
    lines = [line for line in lines if line]
    fastq, i = lines[0][0] == "@", 0
    while i < len(lines):
        name, bases, i = (lines[i][1:].split() or [""])[0], "", i + 1
        while i < len(lines) and not lines[i].startswith("+" if fastq else ">"):
            bases, i = bases + lines[i], i + 1
        if fastq:
            left, i = len(bases), i + 1
            while left > 0:
                left, i = left - len(lines[i]), i + 1
        yield name, "".join(b if b in "ACGT" else "N" for b in bases.upper())


def words(bases, k):
    """The k-mers, each as the lesser of itself and its reverse complement."""
    for i in range(len(bases) - k + 1):
        word = bases[i : i + k]
        if "N" not in word:
            yield min(word, word.translate(TURNED)[::-1])


def taxon_of_file(path):
    name = os.path.basename(path)
    for ending in (".fa", ".fq"):
        name = name.removesuffix(ending)
    return name


def table(k, by, paths):
    """The taxa of each k-mer: sets of names."""
    taxa, names = collections.defaultdict(set), []
    for path in paths:
        for name, bases in records(path):
            taxon = name if by == "record" else taxon_of_file(path)
            if taxon not in names:
                names.append(taxon)
            for word in words(bases, k):
                taxa[word].add(taxon)
    return taxa, names


def print_table(k, by, *paths):
    taxa, names = table(int(k), by, paths)
    own = collections.Counter(next(iter(of)) for of in taxa.values() if len(of) == 1)
    for name in names:
        print(name, own[name])
    print("ambiguous", sum(len(of) > 1 for of in taxa.values()))


def print_reads(k, by, least, reads, *paths):
    k, taxa = int(k), table(int(k), by, paths)[0]
    print("read", "taxon", "votes", "next", "kmers", "found", "ambiguous", sep="\t")
    for name, bases in records(reads):
        of = [taxa.get(word, ()) for word in words(bases, k)]
        votes = collections.Counter(next(iter(x)) for x in of if len(x) == 1).most_common(2) + [("", 0), ("", 0)]
        (best, most), (_, second) = votes[0], votes[1]
        taxon = best if most > second and most >= int(least) else ""
        print(name, taxon, most, second, len(of), sum(map(bool, of)), sum(len(x) > 1 for x in of), sep="\t")


def print_strain(rate, seed, path):
    chance = random.Random(int(seed))
    for name, bases in records(path):
        bases = "".join(chance.choice("ACGT".replace(b, "")) if chance.random() < float(rate) else b for b in bases)
        print(f">{name}", *(bases[i : i + 70] for i in range(0, len(bases), 70)), sep="\n")


def print_origins(path):
    rows = [line.rstrip("\n").split("\t") for line in open(path)][1:]
    right = sum(row[1] == row[0].split(":")[0] for row in rows)
    silent = sum(row[1] == "" for row in rows)
    print(len(rows), right, len(rows) - right - silent, silent)


{"table": print_table, "reads": print_reads, "strain": print_strain, "origins": print_origins}[sys.argv[1]](*sys.argv[2:])
