"""Degrees: which level a text names, in the languages CVs come in, and what subject is left of it."""

import re
from functools import lru_cache

from rules.grading import fold

# From low to high; a higher degree meets a requirement of a lower one.
LEVELS = ("secondary", "vocational", "associate", "bachelor", "master", "doctorate")

# Whole words and phrases; the highest level that a text names is its level.
_WRITTEN = {
    "secondary": """high school | secondary school | a-levels | a levels | abitur | baccalauréat | bachillerato
        | maturità | gymnasium | lycée | matura | среднее образование | απολυτήριο | 高中 | 高校 | 고등학교""",
    "vocational": """apprenticeship | vocational | ausbildung | bts | dut | formación profesional | diploma | btec
        | hnd | техникум | колледж | 中专""",
    "associate": "associate degree | associate's degree | associate of | foundation degree | aas | 大专 | 전문학사",
    "bachelor": """bachelor | bachelors | bachelor's | bsc | b.sc | b.sc. | ba | b.a | b.a. | bs | b.s | b.s. | beng
        | b.eng | b.eng. | btech | b.tech | b.tech. | bba | bcom | b.com | llb | licence en | licence de | licence d'
        | licence professionnelle | licence informatique | licenciatura | licenciado | licenciada | grado en | laurea
        | laurea triennale | undergraduate degree | бакалавр | бакалавриат | πτυχίο | 学士 | 本科 | 學士 | 학사
        | bacharelado | bacharel
        | lisans | בוגר | תואר ראשון | بكالوريوس | kandidat | licencjat | inżynier""",
    "master": """master | masters | master's | msc | m.sc | m.sc. | ma | m.a | m.a. | ms | m.s | m.s. | meng | m.eng
        | m.eng. | mtech | m.tech | mba | mphil | llm | diplom | diplom-informatiker | diplom-ingenieur | dipl.-ing
        | dipl.-ing. | dipl.-inf | magister | máster | maestría | mestrado | laurea magistrale | diplôme d'ingénieur
        | postgraduate degree | civilingenjör | civilekonom | cand.mag. | doctorandus | ingeniero superior
        | магистр | магистратура | специалист | специалитет | μεταπτυχιακό
        | 硕士 | 碩士 | 修士 | 석사
        | yüksek lisans | תואר שני | ماجستير""",
    "doctorate": """phd | ph.d | ph.d. | doctorate | doctoral | doctor of | dphil | d.phil | dr.-ing | dr.-ing.
        | dr. rer. nat | dr. rer. nat. | doctorat | doctorado | dottorato | doutorado | кандидат наук | доктор наук
        | аспирантура | διδακτορικό | 博士 | 박사 | doktora | דוקטורט | دكتوراه""",
}
NAMES = {name: tuple(part.strip() for part in text.split("|")) for name, text in _WRITTEN.items()}

# Written without spaces, so never between word boundaries.
_DENSE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")

_SUBJECT_FILLERS = re.compile(
    r"\b(?:degree|level|or (?:higher|above|equivalent|similar)|and above|minimum|at least|in|of|a|an|the)\b|[,()]"
)
_LEADING = re.compile(r"^(?:an? |the )?degree (?:in|of) ")
# "Bachelor of Science" is a level; what it is in comes after.
_GENERAL = re.compile(
    r"\b(?:bachelor|master|doctor)(?:'?s)? of"
    r" (?:science|arts|engineering|technology|philosophy|laws|business administration)\b"
)


def _pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    parts = sorted((fold(name) for name in names), key=len, reverse=True)
    return re.compile(
        "|".join(re.escape(p) if _DENSE.search(p) else rf"(?<![\w.]){re.escape(p)}(?!\w)" for p in parts)
    )


_PATTERNS = {name: _pattern(names) for name, names in NAMES.items()}


@lru_cache(maxsize=4096)
def level(text: str) -> str | None:
    """Return the highest level that a text names; None if it names none."""
    folded = _plain(text)
    return next((name for name in reversed(LEVELS) if _PATTERNS[name].search(folded)), None)


@lru_cache(maxsize=4096)
def subject(text: str) -> str:
    """Return what a degree is in: the text without the words for the level, folded."""
    folded = _plain(text)
    if level(text) is None:
        return _LEADING.sub("", folded)
    for pattern in (_GENERAL, *reversed(_PATTERNS.values())):
        folded = pattern.sub(" ", folded)
    return " ".join(_SUBJECT_FILLERS.sub(" ", folded).replace("'s", " ").split())


def reaches(held: str | None, wanted: str) -> bool:
    """Say whether one level is at least another."""
    return held in LEVELS and LEVELS.index(str(held)) >= LEVELS.index(wanted)


def _plain(text: str) -> str:
    return fold(text).replace("’", "'")
