"""Writes the table of docs/operating.md anew."""

from tests.hostile import BEGIN, END, OPERATING, table

text = OPERATING.read_text(encoding="utf-8")
before, _, rest = text.partition(BEGIN)
OPERATING.write_text(f"{before}{BEGIN}\n{table()}\n{END}{rest.partition(END)[2]}", encoding="utf-8")
