"""What broke, in one sentence, when python-docx changes below us."""

import docx
from docx.oxml import parse_xml

from insides.docx import identity, text_boxes

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def test_the_paragraphs_of_a_text_box_are_found() -> None:
    paragraph = docx.Document().add_paragraph("Around it")
    paragraph._p.append(
        parse_xml(f"<w:txbxContent {W}><w:p><w:r><w:t>Inside</w:t></w:r></w:p></w:txbxContent>")
    )
    found = [[inner.text for inner in box] for box in text_boxes(paragraph)]
    assert found == [["Inside"]], (
        "python-docx hides a paragraph's XML, and with it what stands in text boxes."
    )


def test_a_merged_cell_is_one() -> None:
    table = docx.Document().add_table(1, 3)
    table.cell(0, 0).merge(table.cell(0, 1))
    cells = [identity(cell) for cell in table.rows[0].cells]
    assert len(set(cells)) == 2, "python-docx hides a cell's XML: what is merged would be read twice."
