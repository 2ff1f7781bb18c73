"""Every CV of the tests."""

from tests.cvs import latin, more, scripts

MAKERS = (
    latin.english_pdf,
    latin.two_columns_pdf,
    latin.interleaved_pdf,
    latin.table_docx,
    latin.header_docx,
    latin.overlapping_txt,
    latin.scanned_pdf,
    latin.german_docx,
    latin.french_txt,
    latin.spanish_pdf,
    scripts.russian_pdf,
    scripts.greek_pdf,
    scripts.chinese_docx,
    scripts.japanese_txt,
    scripts.korean_docx,
    scripts.hebrew_pdf,
    scripts.arabic_docx,
    more.italian_docx,
    more.american_pdf,
    more.linkedin_txt,
    more.polish_pdf,
    more.ukrainian_docx,
    more.plain_txt,
    more.academic_pdf,
)
