"""letters of candidates

What three letters may ask for is cut by functions that take a tenth of the time, and accents and signs count for nothing.
One index of them takes the place of that over one, two and three letters. The functions `parts` and `searched` stay: a
version that ran before may still ask by them.
"""

import sqlalchemy as sa
from alembic import op

from store.migrations import gently

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None

# In small letters, without accents; as most are written, so that NFD and NFC are one.
FOLDED = r"""
    CREATE OR REPLACE FUNCTION folded(words text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
    BEGIN
        RETURN replace(translate(
            normalize(regexp_replace(normalize(lower(words), NFD), '[\u0300-\u036f]', '', 'g'), NFC),
            'łøđıħς', 'lodihσ'
        ), 'ß', 'ss');
    END $$
"""
# A function of one expression, which PostgreSQL writes in its place; most words have no accent to be taken away.
SPACED = """
    CREATE OR REPLACE FUNCTION spaced(words text) RETURNS text IMMUTABLE PARALLEL SAFE
    RETURN translate(
        CASE WHEN octet_length(words) = length(words) THEN lower(words) ELSE folded(words) END, '@._+-''', '      '
    )
"""
# Every third three letters by one replacement, from each of three beginnings.
TRIGRAMS = r"""
    CREATE OR REPLACE FUNCTION trigrams(words text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
    DECLARE size int := length(words);
    BEGIN
        RETURN string_to_array(rtrim(
            regexp_replace(substr(words, 1, size / 3 * 3), '(...)', E'\\1\x01', 'g')
            || regexp_replace(substr(words, 2, (size - 1) / 3 * 3), '(...)', E'\\1\x01', 'g')
            || regexp_replace(substr(words, 3, (size - 2) / 3 * 3), '(...)', E'\\1\x01', 'g'), E'\x01'), E'\x01');
    END $$
"""
INITIALS = r"""
    CREATE OR REPLACE FUNCTION initials(words text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
    BEGIN
        RETURN string_to_array(rtrim(regexp_replace(words, ' +([^ ])[^ ]*', E'\\1\x01', 'g'), E' \x01'), E'\x01');
    END $$
"""
# Fewer than three letters are asked for at the beginning of a word; null where signs are all there is.
WANTED = """
    CREATE OR REPLACE FUNCTION wanted(words text) RETURNS text IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN length(spaced(words)) < 3 THEN ' ' || nullif(btrim(spaced(words)), '') ELSE spaced(words) END
"""
LETTERS = """
    CREATE OR REPLACE FUNCTION letters(full_name text, email text, tags text[]) RETURNS text[] IMMUTABLE PARALLEL SAFE
    RETURN trigrams(' ' || spaced(full_name || ' ' || email)) || initials(' ' || spaced(full_name || ' ' || email)) || tags
"""


def upgrade() -> None:
    for function in (FOLDED, SPACED, TRIGRAMS, INITIALS, WANTED, LETTERS):
        op.execute(function)
    gently.create_index(
        "ix_candidates_letters",
        "candidates",
        [sa.text("letters(full_name, email, tags)")],
        postgresql_using="gin",
    )
    with gently.outside():  # how frequent each element is decides by which index a search is answered
        op.execute("ANALYZE candidates")
    gently.drop_index("ix_candidates_parts", "candidates")


def downgrade() -> None:
    gently.create_index(
        "ix_candidates_parts",
        "candidates",
        [sa.text("parts(searched(full_name, email, tags), 1)")],
        postgresql_using="gin",
    )
    gently.drop_index("ix_candidates_letters", "candidates")
    op.execute("DROP FUNCTION IF EXISTS letters(text, text, text[])")
    for function in ("wanted", "initials", "trigrams", "spaced", "folded"):
        op.execute(f"DROP FUNCTION IF EXISTS {function}(text)")
