r"""What the pages of the measures say in full: the long name of each measure, and its formula in LaTeX.

The declarations have the formula in plain text, for terminals. Here i is a rank, y(i) the gain there, g(i) the grade, R
the number of relevant documents, N the length of the list, P@i precision at i, C(i) the probability of going on after
rank i and V(i) the expected number of visits to it; `KEY` explains on every page those that its formulas use.
"""

from __future__ import annotations

LONG = {
    # users who walk down and stop
    "P": "precision at k",
    "R": "recall at k",
    "AP": "average precision, MAP",
    "GMAP": "geometric mean average precision",
    "RR": "reciprocal rank, MRR",
    "DCG": "discounted cumulative gain",
    "nDCG": "normalised discounted cumulative gain",
    "ERR": "expected reciprocal rank",
    "ESL": "expected search length",
    # users of the C/W/L framework
    "RBP": "rank-biased precision",
    "RBAP": "rank-biased average precision",
    "SDCG": "scaled discounted cumulative gain",
    "GRBP": "rank-biased precision with grades",
    "INSQ": "inverse squares",
    "INST": "inverse squares with a target",
    "CWL": "any user by C, V, W, L or H",
    "BPM": "bejeweled player model, static",
    "BPMD": "bejeweled player model, dynamic",
    "IFTGoal": "information foraging, goal-sensitive",
    "IFTRate": "information foraging, rate-sensitive",
    "IFT": "information foraging, goal and rate",
    "TBG": "time-biased gain",
    "U": "U-measure",
    "NERR8": "ERR as a C/W/L measure, cut at k",
    "NERR9": "ERR as a C/W/L measure, reciprocal ranks",
    "NERR10": "ERR as a C/W/L measure, with RBP's patience",
    "NERR11": "ERR as a C/W/L measure, with INSQ's patience",
    "EBU": "expected browsing utility",
    # users who walk back and forth, and who never stop
    "PH": "P@H, precision of a random walk",
    "MP": "Markov Precision",
    "NCP": "normalised cumulative precision",
    # people who mean different things
    "alpha_DCG": "α-DCG, novelty and diversity",
    "alpha_nDCG": "α-nDCG, novelty and diversity",
    "ERR_IA": "ERR-IA, intent-aware expected reciprocal rank",
    "nERR_IA": "nERR-IA, divided by the ideal's",
    "NRBP": "novelty- and rank-biased precision",
    "nNRBP": "NRBP, divided by the ideal's",
    "MAP_IA": "MAP-IA, intent-aware average precision",
    "P_IA": "P-IA, intent-aware precision",
    "StRec": "subtopic recall, S-recall, I-rec",
    "D_nDCG": "D-nDCG",
    "DSharp_nDCG": "D♯-nDCG",
    "IA": "the intent-aware form of any measure",
    # whole sessions
    "CubeTest": "the Cube Test",
    "ACT": "average Cube Test",
    "ExpectedUtility": "expected utility of a session",
    "MsM": "Markovian session measure",
    "sRBP": "session rank-biased precision",
    "sDCG": "session discounted cumulative gain",
    "nsDCG": "normalised session DCG",
    "sU": "session U-measure",
    "sINSQ": "session INSQ",
    "PerQuery": "a measure of lists, averaged over queries",
    "esP": "expected session precision",
    "esR": "expected session recall",
    "esDCG": "expected session DCG",
    "esnDCG": "expected session nDCG",
    "esRR": "expected session reciprocal rank",
    "esAP": "expected session average precision",
    "esM": "expected session form of any measure",
    # counts and sets
    "NumQ": "number of topics",
    "NumRet": "documents retrieved",
    "NumRel": "relevant documents",
    "NumRelRet": "relevant documents retrieved",
    "NumNonrelRet": "non-relevant documents retrieved",
    "Judged": "share of judged documents at k",
    "Unjudged": "share of unjudged documents at k",
    "F": "F1, the F measure",
    "RelP": "relative precision, capped recall",
    "SetAP": "precision × recall of the set",
    "Success": "success at k, hit rate",
    "Utility": "linear utility",
    # the precision-recall curve
    "Rprec": "R-precision",
    "IPrec": "interpolated precision at a recall",
    "IPrecAvg": "eleven-point average precision",
    "PRAUC": "area under the precision-recall curve",
    # incomplete judgments
    "bpref": "binary preference",
    "GMbpref": "geometric mean bpref",
    "infAP": "inferred average precision",
    "RBPresid": "residual of RBP",
    # graded relevance
    "binG": "binary G",
    "G": "graded G",
    "nDCGrel": "nDCG at relevant ranks",
    "RnDCG": "nDCG at the ideal's levels",
    "Q": "Q-measure",
    "Compat": "compatibility, rank-biased overlap with the ideal",
}

FORMULA = {
    "P": r"\text{P@}k = \frac{1}{k} \sum_{i=1}^{k} y(i)",
    "R": r"\text{R@}k = \frac{1}{R} \sum_{i=1}^{k} y(i)",
    "AP": r"\text{AP} = \frac{1}{R} \sum_{i=1}^{N} y(i) \, \text{P@}i",
    "GMAP": r"\text{GMAP} = \exp\left( \frac{1}{n} \sum_{t=1}^{n} \ln \max(0.00001, \text{AP}_t) \right)",
    "RR": r"\text{RR} = \frac{1}{\min \{ i : y(i) = 1 \}}",
    "DCG": r"\text{DCG@}k = \sum_{i=1}^{k} \frac{y(i)}{\log_2(i+1)}, \quad \text{with base } b: "
    r"\sum_{i=1}^{k} \frac{y(i)}{\max(1, \log_b i)}",
    "nDCG": r"\text{nDCG@}k = \frac{\text{DCG@}k}{\text{DCG@}k \text{ of the ideal list}}",
    "ERR": r"\text{ERR} = \sum_{i=1}^{N} \frac{1}{i} \, s(i) \prod_{j=1}^{i-1} (1 - s(j)), \quad "
    r"s(i) = \frac{2^{g(i)} - 1}{2^{g_{\max}}}",
    "ESL": r"\text{ESL}(n) = \text{documents that are not relevant before the } n\text{-th relevant one}",
    "RBP": r"\text{RBP} = (1-p) \sum_{i=1}^{N} p^{i-1} y(i), \quad C(i) = p",
    "RBAP": r"\text{RBAP} = (1-p) \sum_{h=1}^{\infty} p^{h-1} \, \text{P@}h",
    "SDCG": r"\text{SDCG@}k = \frac{\sum_{i=1}^{k} y(i) / \log_2(i+1)}{\sum_{i=1}^{k} 1 / \log_2(i+1)}",
    "GRBP": r"\text{GRBP} = (1-p) \sum_{i=1}^{N} p^{i-1} y(i), \quad C(i) = p",
    "INSQ": r"C(i) = \left( \frac{i + 2T - 1}{i + 2T} \right)^{\text{power}}",
    "INST": r"C(i) = \left( \frac{i + T + T_i - 1}{i + T + T_i} \right)^2, \quad T_i = T - \sum_{j=1}^{i} y(j)",
    "CWL": r"\frac{\sum_i V(i) \, y(i)}{\sum_i V(i)}, \quad V(i) = \prod_{j=1}^{i-1} C(j)",
    "BPM": r"C(i) = 1 \text{ while } i < k \text{ and } \sum_{j=1}^{i} y(j) < T, \text{ then } 0",
    "BPMD": r"C(i) = 1 \text{ while } i < k + h_c s_i \text{ and } \sum_{j=1}^{i} y(j) < T + h_b s_i, \quad "
    r"s_i = \sum_{j=1}^{i-1} (y(j) - \text{median})",
    "IFTGoal": r"C(i) = 1 - \frac{1}{1 + b \, e^{(T - \sum_{j \le i} y(j)) R}}",
    "IFTRate": r"C(i) = \frac{1}{1 + b \, e^{(A - r_i) R}}, \quad "
    r"r_i = \frac{\sum_{j \le i} y(j)}{\text{cost of the first } i}",
    "IFT": r"C(i) = C_{\text{IFTGoal}}(i) \, C_{\text{IFTRate}}(i)",
    "TBG": r"V(i) = 2^{-t(i) / h}, \quad t(i) = \text{cost of the documents above } i",
    "U": r"V(i) = \max\left(0, 1 - \frac{t(i)}{L} \right), \quad t(i) = \text{cost of the documents above } i",
    "NERR8": r"C(i) = 1 - y(i) \text{ for } i < k, \text{ then } 0",
    "NERR9": r"C(i) = \frac{i}{i+1} (1 - y(i)) \text{ for } i < k, \text{ then } 0",
    "NERR10": r"C(i) = p \, (1 - y(i))",
    "NERR11": r"C(i) = \left( \frac{i + 2T - 1}{i + 2T} \right)^2 (1 - y(i))",
    "EBU": r"\text{EBU} = \sum_{i=1}^{N} V(i) \, c(i) \, y(i), \quad "
    r"C(i) = c(i) \, \text{after}(i) + (1 - c(i)) \, \text{without}(i)",
    "PH": r"\text{E}\left[ \frac{T}{f(H)} \right] \text{ or } \frac{\text{E}[T]}{\text{E}[f(H)]}, \quad "
    r"T = \sum_{h=1}^{H} y(i_h) (1 - \text{loss})^{m_h}",
    "MP": r"\text{MP} = \sum_{i \,:\, y(i) = 1} \pi(i) \, \text{P@}i, \quad \pi = \pi \Pi",
    "NCP": r"\text{NCP} = \sum_{i \,:\, y(i) = 1} p(i) \, \text{P@}i",
    "alpha_DCG": r"\alpha\text{-DCG@}k = \sum_{s} \frac{w_s}{Z_k} \sum_{i=1}^{k} "
    r"\frac{y_s(i) (1-\alpha)^{m_s(i)}}{\log_2(i+1)}, \quad "
    r"Z_k = \sum_{i=1}^{k} \frac{(1-\alpha)^{i-1}}{\log_2(i+1)}",
    "alpha_nDCG": r"\alpha\text{-nDCG@}k = \frac{\alpha\text{-DCG@}k}{\alpha\text{-DCG@}k \text{ of the greedy ideal}}",
    "ERR_IA": r"\text{ERR-IA@}k = \sum_{s} \frac{w_s}{Z_k} \sum_{i=1}^{k} \frac{\alpha \, y_s(i)}{i} "
    r"(1 - \alpha)^{m_s(i)}, \quad Z_k = \sum_{i=1}^{k} \frac{\alpha (1-\alpha)^{i-1}}{i}",
    "nERR_IA": r"\text{nERR-IA@}k = \frac{\text{ERR-IA@}k}{\text{ERR-IA@}k \text{ of the greedy ideal}}",
    "NRBP": r"\text{NRBP} = (1 - (1 - \alpha) \beta) \sum_{s} w_s \sum_{i=1}^{N} "
    r"y_s(i) (1-\alpha)^{m_s(i)} \beta^{i-1}",
    "nNRBP": r"\text{nNRBP} = \frac{\text{NRBP}}{\text{NRBP of the greedy ideal}}",
    "MAP_IA": r"\text{MAP-IA} = \sum_{s} w_s \, \text{AP}_s",
    "P_IA": r"\text{P-IA@}k = \sum_{s} w_s \frac{1}{k} \sum_{i=1}^{k} y_s(i)",
    "StRec": r"\text{StRec@}k = \frac{1}{S} \sum_{s} \max_{i \le k} y_s(i)",
    "D_nDCG": r"\text{D-nDCG@}k = \text{nDCG@}k \text{ of the gains } y(i) = \sum_{s} w_s \, y_s(i)",
    "DSharp_nDCG": r"\text{D}\sharp\text{-nDCG@}k = \gamma \, \text{StRec@}k + (1 - \gamma) \, \text{D-nDCG@}k",
    "IA": r"\text{IA}(M) = \sum_{s} w_s \, M_s",
    "CubeTest": r"\text{CT} = \frac{1}{t} \cdot \frac{1}{F} \sum_{f=1}^{F} \min\left(1, \frac{1}{\text{height}} "
    r"\sum_{d} \gamma^{m_f(d)} y_f(d) \right)",
    "ACT": r"\text{ACT} = \frac{1}{D} \sum_{d=1}^{D} \text{CT after document } d",
    "ExpectedUtility": r"\sum_{x} w_x \frac{1 - \gamma^{m_x}}{1 - \gamma} - a \, \text{E}[\text{documents read}]",
    "MsM": r"\text{MsM} = \sum_{j} \left( \frac{r}{r+s} \right)^{j-1} \sum_{i} \frac{y_j(i)}{1 + e(i) + (j-1) e_Q}",
    "sRBP": r"\text{sRBP} = (1-p) \sum_{j} \left( \frac{p - bp}{1 - bp} \right)^{j-1} \sum_{i} (bp)^{i-1} y_j(i)",
    "sDCG": r"\text{sDCG} = \sum_{j} \frac{1}{1 + \log_{b_q} j} \sum_{i} \frac{y_j(i)}{\max(1, \log_b i)}",
    "nsDCG": r"\text{nsDCG} = \frac{\text{sDCG}}{\text{sDCG of the best session}}",
    "sU": r"\text{sU} = \sum_{j} \sum_{i} y_j(i) \max\left(0, 1 - \frac{t_j(i)}{L} \right), \quad "
    r"t_j(i) = \text{what was read up to the document}",
    "sINSQ": r"\frac{\text{E}[T]}{\text{E}[H]}, \quad C(i) = \left( \frac{i + 2T_i}{i + 2T_i + 1} \right)^2, \quad "
    r"T_i = \max\left(0, T - \text{gain of the session so far} \right)",
    "PerQuery": r"\frac{1}{J} \sum_{j=1}^{J} M(\text{list of query } j)",
    "esP": r"\text{esP@}k = \text{E}\left[ \frac{1}{k} \sum_{m=1}^{k} y(d_m) \right]",
    "esR": r"\text{esR@}k = \frac{1}{R} \, \text{E}\left[ \sum_{m=1}^{k} y(d_m) \right]",
    "esDCG": r"\text{esDCG@}k = \text{E}\left[ \sum_{m=1}^{k} \frac{y(d_m)}{\log_2(m+1)} \right]",
    "esnDCG": r"\text{esnDCG@}k = \frac{\text{esDCG@}k}{\text{DCG@}k \text{ of the ideal list}}",
    "esRR": r"\text{esRR} = \text{E}\left[ \frac{1}{\min \{ m : y(d_m) = 1 \}} \right]",
    "esAP": r"\text{esAP} = \frac{1}{R} \, \text{E}\left[ \sum_{m} y(d_m) \, \text{P@}m \right]",
    "esM": r"\text{E}[M(d_1, d_2, \ldots)]",
    "Judged": r"\text{Judged@}k = \frac{\text{judged documents among the first } k}{\min(k, N)}",
    "Unjudged": r"\text{Unjudged@}k = \frac{\text{unjudged documents among the first } k}{k}",
    "F": r"\text{F@}k = \frac{(1 + \beta^2) \cdot \text{P@}k \cdot \text{R@}k}{\beta^2 \cdot \text{P@}k + \text{R@}k}",
    "RelP": r"\text{RelP@}k = \frac{1}{\min(k, R)} \sum_{i=1}^{k} y(i)",
    "SetAP": r"\text{SetAP} = \text{P} \cdot \text{R}",
    "Success": r"\text{Success@}k = \max_{i \le k} y(i)",
    "Utility": r"a \cdot \text{relevant found} + b \cdot \text{others found} + c \cdot \text{relevant missed} "
    r"+ d \cdot \text{others missed}",
    "Rprec": r"\text{Rprec} = \text{P@}R",
    "IPrec": r"\text{IPrec@}r = \max \{ \text{P@}i : \text{R@}i \ge r \}",
    "IPrecAvg": r"\text{IPrecAvg} = \frac{1}{11} \sum_{r \in \{0, 0.1, \ldots, 1\}} \text{IPrec@}r",
    "PRAUC": r"\text{PRAUC} = \int_0^1 \text{IPrec@}r \, dr",
    "bpref": r"\text{bpref} = \frac{1}{R} \sum_{i \,:\, y(i) = 1} \left( 1 - \frac{\min(n_i, R)}{\min(n, R)} \right)",
    "GMbpref": r"\exp\left( \frac{1}{n} \sum_{t=1}^{n} \ln \max(0.00001, \text{bpref}_t) \right)",
    "infAP": r"\text{infAP} = \frac{1}{R} \sum_{i \,:\, y(i) = 1} \left( \frac{1}{i} + \frac{d_i}{i} \cdot "
    r"\frac{r_i + \epsilon}{r_i + n_i + 2\epsilon} \right)",
    "RBPresid": r"p^N + (1-p) \sum_{i \text{ unjudged}} p^{i-1}",
    "binG": r"\text{binG} = \frac{1}{R} \sum_{i \,:\, y(i) = 1} \frac{1}{\log_2(2 + i - r_i)}",
    "G": r"\text{G} = \frac{1}{Y} \sum_{i=1}^{N} \frac{y(i)}{\log_2(2 + \text{missed}(i))}",
    "nDCGrel": r"\text{nDCGrel} = \frac{1}{R} \left( \sum_{i \,:\, y(i) > 0} \text{nDCG@}i + (R - r) \, \text{nDCG} "
    r"\right)",
    "RnDCG": r"\text{RnDCG} = \frac{1}{|K|} \sum_{k \in K} \text{nDCG@}k",
    "Q": r"\text{Q} = \frac{1}{R} \sum_{i \,:\, y(i) > 0} \frac{r_i + \beta \sum_{j \le i} y(j)}"
    r"{i + \beta \sum_{j \le i} y^*(j)}",
    "Compat": r"\text{Compat} = \frac{\max_{I} \text{RBO}(L, I)}{\text{RBO}(I, I)}, \quad "
    r"\text{RBO}(L, I) = (1-p) \sum_{d} p^{d-1} \frac{|L_{1..d} \cap I_{1..d}|}{d}",
}

# on the page of a family, what the letters of its formulas stand for
KEY = {
    "classic": "$`i`$ is a rank, $`N`$ the length of the list, $`y(i)`$ the gain of the document at rank $`i`$ (1 or 0 "
    "where documents are relevant or not, its grade otherwise), $`g(i)`$ its grade, $`R`$ the number of relevant "
    "documents of the topic, $`n`$ the number of topics.",
    "cwl": "$`C(i)`$ is the probability of going on after rank $`i`$, $`V(i)`$ the probability of reaching it, and "
    "$`y(i)`$ the gain of the document there. Where only $`C`$ or $`V`$ is given, the score is",
    "walks": "$`T`$ is the total gain of a user, $`H`$ the number of visits, $`f`$ the effort, $`i_h`$ the rank of "
    "visit $`h`$, $`y`$ the gain there, and $`m_h`$ the number of earlier visits to the same document.",
    "intents": "$`s`$ is a subtopic (one of $`S`$) and $`w_s`$ its probability, $`y_s(i)`$ the gain of the document at "
    "rank $`i`$ for it, and $`m_s(i)`$ the number of documents above rank $`i`$ that are relevant for it. The greedy "
    "ideal takes, rank by rank, the judged document that adds most.",
    "markov": "$`y(i)`$ is 1 where the document at rank $`i`$ is relevant, $`\\Pi`$ the matrix of transition "
    "probabilities between relevant documents and $`\\pi`$ its stationary distribution, $`p(i)`$ the probability of "
    "being satisfied at rank $`i`$.",
    "sessions": "$`j`$ is a query, $`i`$ a rank in its list, $`y_j(i)`$ the gain there; $`e(i)`$ is the mean number of "
    "steps to rank $`i`$ and $`e_Q`$ that to the next query; $`d_m`$ is the $`m`$-th document that the user sees, "
    "$`R`$ the number of relevant documents. Of the Cube Test, $`f`$ is one of $`F`$ facets, $`y_f(d)`$ the rating of "
    "a document for it, $`m_f(d)`$ the number of documents before that served it, and $`t`$ the time.",
    "sets": "$`y(i)`$ is 1 where the document at rank $`i`$ is relevant, and $`R`$ the number of relevant documents.",
    "curve": "$`\\text{P@}i`$ is precision at rank $`i`$, $`\\text{R@}i`$ recall, $`R`$ the number of relevant "
    "documents (at `mult` other than 1, that many times $`R`$), and $`r`$ a recall.",
    "incomplete": "$`R`$ is the number of relevant documents and $`n`$ that of judged non-relevant ones, $`r_i`$ and "
    "$`n_i`$ how many of each stand above rank $`i`$, $`d_i`$ how many documents above it were in the pool, "
    "$`\\epsilon`$ is 0.00001, and $`N`$ the length of the list.",
    "graded": "$`y(i)`$ is the gain at rank $`i`$, $`y^*(i)`$ that of the ideal list and $`Y`$ the sum of these; $`R`$ "
    "is the number of relevant documents, $`r`$ how many of them the list has, $`r_i`$ how many down to rank $`i`$; "
    "$`K`$ are the ranks where the ideal list changes its grade.",
}
