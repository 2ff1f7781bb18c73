"""Letters as PDF, in any script that its fonts have.

A letter's HTML becomes blocks of plain data (blocks), which a template of ours sets (letter.typ): nothing that a letter
says is ever read as markup. That happens in a process of its own with limits on time and memory (printing).
"""
