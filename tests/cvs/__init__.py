"""CVs made for the tests, in different layouts, languages and formats, with what a reader finds in each."""
