"""Skills found in running text, and no false friends."""

import pytest

from rules import skills


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "Python, Go, R, C, C++, C#, .NET, Node.js",
            ["Python", "Go", "R", "C", "C++", "C#", ".NET", "Node.js"],
        ),
        ("C/C++, Objective-C, R", ["C", "C++", "Objective-C", "R"]),
        ("ASP.NET/C#", ["ASP.NET", "C#"]),
        ("React.js NodeJS node js", ["React", "Node.js"]),
        ("TCP/IP, CI/CD, PL/SQL", ["TCP/IP", "CI/CD", "PL/SQL"]),
        ("python3 and POSTGRES", ["Python", "PostgreSQL"]),
        ("C++17, C# 8", ["C++", "C#"]),
        ("使用Python和Django开发", ["Python", "Django"]),
        ("机器学习、深度学习", ["Machine learning", "Deep learning"]),
        ("Machine  learning\nengineer", ["Machine learning"]),
        ("JavaScript is no Javanese", ["JavaScript"]),
        ("Built microservices in Go, deployed with Docker", ["Microservices", "Go", "Docker"]),
        ("5 years of Go experience", ["Go"]),
        ("Experienced Go developer", ["Go"]),
        ("Python and R", ["Python", "R"]),
        ("Proficient in R", ["R"]),
        ("• C\n• Java\n• SQL", ["C", "Java", "SQL"]),
        ("Jest, Mocha, Cypress", ["Jest", "Mocha", "Cypress"]),
        ("Word, Excel, Outlook", ["Microsoft Word", "Microsoft Excel", "Microsoft Outlook"]),
        ("Java, Spring, Hibernate", ["Java", "Spring", "Hibernate"]),
        ("the rest of the team; REST APIs", ["REST"]),
        ("QA of a spa hotel", ["Quality assurance"]),
        # False friends.
        ("I go to work. Go to page 3.", []),
        ("Dr. R. Smith, Vitamin C, R&D, C-level, Series C", []),
        ("Spring 2019; we excel at sales and express our views", []),
        ("Ruby Smith met Julia and a chef in a bamboo grove", []),
        ("Go", []),
        ("THE REST OF THE TEAM", []),
        ("github.com/ada, https://gitlab.com/x, me@python.org, linkedin.com/in/java", []),
        ("", []),
    ],
)
def test_skills_are_found_as_whole_words_and_in_company(text, found):
    assert skills.find(text) == found


@pytest.mark.parametrize(
    ("name", "canonical"),
    [
        ("golang", "Go"), ("Go", "Go"), ("k8s", "Kubernetes"),
        ("JS", "JavaScript"), ("c#", "C#"), ("C", "C"), ("c++", "C++"),
        (".net", ".NET"), ("node.js", "Node.js"), ("Postgres", "PostgreSQL"), ("scikit-learn", "scikit-learn"),
        ("Forklift licence", "Forklift operation"), ("basket weaving", None), ("", None),
    ],
)  # fmt: skip
def test_a_skill_has_one_name_whatever_it_is_called(name, canonical):
    assert skills.canonical(name) == canonical


def test_the_vocabulary_is_large_and_each_name_leads_to_itself():
    names = skills.names()
    assert len(names) >= 800
    assert len({name.casefold() for name in names}) == len(names)
    assert [name for name in names if skills.canonical(name) != name] == []


def test_each_mention_has_its_place():
    text = "Knows Python, and python."
    assert [text[one.start : one.end] for one in skills.spot(text)] == ["Python", "python"]
