"""CVs: what kind of file one is (kinds), and what can be read from it (reading).

Reading happens in a process of its own with limits on time, memory and pages: the libraries that read PDF and
Word files meet whatever strangers send, and must take nothing else down with them.
"""
