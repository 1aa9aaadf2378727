"""The papers behind the measures, as BibTeX, by the key that a declaration cites."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["REFERENCES", "bibliography"]

REFERENCES = {
    "buckley2004": """@inproceedings{buckley2004,
  author = {Chris Buckley and Ellen M. Voorhees},
  title = {Retrieval Evaluation with Incomplete Information},
  booktitle = {Proceedings of SIGIR},
  pages = {25--32},
  year = {2004},
  doi = {10.1145/1008992.1009000}
}""",
    "chapelle2009": """@inproceedings{chapelle2009,
  author = {Olivier Chapelle and Donald Metzler and Ya Zhang and Pierre Grinspan},
  title = {Expected Reciprocal Rank for Graded Relevance},
  booktitle = {Proceedings of CIKM},
  pages = {621--630},
  year = {2009},
  doi = {10.1145/1645953.1646033}
}""",
    "clarke2021": """@article{clarke2021,
  author = {Charles L. A. Clarke and Alexandra Vtyurina and Mark D. Smucker},
  title = {Assessing Top-k Preferences},
  journal = {ACM Transactions on Information Systems},
  volume = {39},
  number = {3},
  year = {2021},
  doi = {10.1145/3451161}
}""",
    "cleverdon1966": """@techreport{cleverdon1966,
  author = {Cyril W. Cleverdon and Jack Mills and Michael Keen},
  title = {Factors Determining the Performance of Indexing Systems},
  institution = {ASLIB Cranfield Research Project},
  year = {1966}
}""",
    "harman1992": """@article{harman1992,
  author = {Donna Harman},
  title = {Evaluation Issues in Information Retrieval},
  journal = {Information Processing \\& Management},
  volume = {28},
  number = {4},
  pages = {439--440},
  year = {1992}
}""",
    "ir_measures": """@inproceedings{ir_measures,
  author = {Sean MacAvaney and Craig Macdonald and Iadh Ounis},
  title = {Streamlining Evaluation with ir-measures},
  booktitle = {Proceedings of ECIR},
  pages = {305--310},
  year = {2022},
  doi = {10.1007/978-3-030-99739-7_38}
}""",
    "jarvelin2002": """@article{jarvelin2002,
  author = {Kalervo J{\\"a}rvelin and Jaana Kek{\\"a}l{\\"a}inen},
  title = {Cumulated Gain-Based Evaluation of {IR} Techniques},
  journal = {ACM Transactions on Information Systems},
  volume = {20},
  number = {4},
  pages = {422--446},
  year = {2002},
  doi = {10.1145/582415.582418}
}""",
    "kantor2000": """@article{kantor2000,
  author = {Paul B. Kantor and Ellen M. Voorhees},
  title = {The {TREC-5} Confusion Track: Comparing Retrieval Methods for Scanned Text},
  journal = {Information Retrieval},
  volume = {2},
  pages = {165--176},
  year = {2000},
  doi = {10.1023/A:1009902609570}
}""",
    "manning2008": """@book{manning2008,
  author = {Christopher D. Manning and Prabhakar Raghavan and Hinrich Sch{\\"u}tze},
  title = {Introduction to Information Retrieval},
  publisher = {Cambridge University Press},
  year = {2008}
}""",
    "mcsherry2008": """@inproceedings{mcsherry2008,
  author = {Frank McSherry and Marc Najork},
  title = {Computing Information Retrieval Performance Measures Efficiently in the Presence of Tied Scores},
  booktitle = {Proceedings of ECIR},
  pages = {414--421},
  year = {2008},
  doi = {10.1007/978-3-540-78646-7_38}
}""",
    "moffat2008": """@article{moffat2008,
  author = {Alistair Moffat and Justin Zobel},
  title = {Rank-Biased Precision for Measurement of Retrieval Effectiveness},
  journal = {ACM Transactions on Information Systems},
  volume = {27},
  number = {1},
  year = {2008},
  doi = {10.1145/1416950.1416952}
}""",
    "robertson2006": """@inproceedings{robertson2006,
  author = {Stephen Robertson},
  title = {On {GMAP}: and Other Transformations},
  booktitle = {Proceedings of CIKM},
  pages = {78--83},
  year = {2006},
  doi = {10.1145/1183614.1183630}
}""",
    "sakai2004": """@inproceedings{sakai2004,
  author = {Tetsuya Sakai},
  title = {New Performance Metrics Based on Multigrade Relevance: Their Application to Question Answering},
  booktitle = {Proceedings of NTCIR-4},
  year = {2004}
}""",
    "trec_eval": """@misc{trec_eval,
  author = {Chris Buckley and Ellen M. Voorhees and Ian Soboroff},
  title = {trec\\_eval},
  howpublished = {https://github.com/usnistgov/trec_eval},
  year = {2024}
}""",
    "vanrijsbergen1979": """@book{vanrijsbergen1979,
  author = {C. J. van Rijsbergen},
  title = {Information Retrieval},
  edition = {2nd},
  publisher = {Butterworths},
  year = {1979}
}""",
    "webber2008": """@inproceedings{webber2008,
  author = {William Webber and Alistair Moffat and Justin Zobel},
  title = {Score Standardization for Inter-Collection Comparison of Retrieval Systems},
  booktitle = {Proceedings of SIGIR},
  pages = {51--58},
  year = {2008},
  doi = {10.1145/1390334.1390346}
}""",
    "yilmaz2006": """@inproceedings{yilmaz2006,
  author = {Emine Yilmaz and Javed A. Aslam},
  title = {Estimating Average Precision with Incomplete and Imperfect Judgments},
  booktitle = {Proceedings of CIKM},
  pages = {102--111},
  year = {2006},
  doi = {10.1145/1183614.1183633}
}""",
}


def bibliography(keys: Iterable[str]) -> str:
    """Return the entries of some keys, sorted, each once; keys without an entry are passed over."""
    return "\n\n".join(REFERENCES[key] for key in sorted(set(keys)) if key in REFERENCES)
