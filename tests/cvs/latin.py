"""CVs in Latin letters."""

from tests.cvs.expected import NOW, Cv, expected
from tests.cvs.makers import Page, paragraphs, pdf, word


def english_pdf():
    lines = [
        "Eleanor Whitfield",
        "Senior Backend Engineer",
        "London, UK | +44 20 7946 0958 | eleanor.whitfield@example.com",
        "linkedin.com/in/eleanorwhitfield | https://github.com/ewhitfield",
        "",
        "Summary",
        "Backend engineer with ten years of experience in payments and logistics.",
        "",
        "Experience",
        "Senior Backend Engineer, Northwind Payments Ltd        March 2019 – Present",
        "• Designed event-driven services in Go and Python on Kubernetes",
        "• Moved 40 million rows from Oracle to PostgreSQL without downtime in 2021",
        "",
        "Software Engineer, Harbour Logistics        June 2015 – February 2019",
        "• Built REST APIs with Django and Celery",
        "• Introduced CI/CD with Jenkins and Docker",
        "",
        "Education",
        "BSc Computer Science, University of Leeds, 2012 – 2015",
        "",
        "Skills",
        "Python, Go, PostgreSQL, Docker, Kubernetes, Django, Kafka, REST, Git",
    ]
    return Cv(
        "English, one column, PDF",
        pdf(lines, {0: 20, 5: 13, 8: 13, 17: 13, 20: 13}),
        expected(
            "Eleanor Whitfield",
            emails=["eleanor.whitfield@example.com"],
            phones=["+442079460958"],
            links=["https://linkedin.com/in/eleanorwhitfield", "https://github.com/ewhitfield"],
            skills=[
                "Python",
                "Go",
                "PostgreSQL",
                "Docker",
                "Kubernetes",
                "Django",
                "Kafka",
                "REST",
                "Git",
                "CI/CD",
                "Jenkins",
            ],
            positions=[
                ("Senior Backend Engineer", "Northwind Payments Ltd", "2019-03", NOW),
                ("Software Engineer", "Harbour Logistics", "2015-06", "2019-02"),
            ],
            years="11.50",
            education=[("bachelor", "University of Leeds")],
        ),
    )


SIDEBAR = [
    "Contact",
    "j.okafor@example.org",
    "+1 415 555 2671",
    "San Francisco, CA",
    "",
    "Skills",
    "React",
    "TypeScript",
    "Node.js",
    "GraphQL",
    "CSS",
    "Jest",
    "",
    "Languages",
    "English",
    "French",
]
MAIN = [
    "James Okafor",
    "Front-end Developer",
    "",
    "Work Experience",
    "Front-end Developer",
    "Bluebird Studio",
    "2020 - present",
    "Built a design system used by eleven teams.",
    "",
    "Junior Web Developer",
    "Cactus Media Inc",
    "08/2017 - 12/2019",
    "Wrote single page applications with Redux and Webpack.",
    "",
    "Education",
    "B.A. Graphic Design",
    "California College of the Arts",
    "2013 - 2017",
]


def _two_columns(content, name):
    return Cv(
        name,
        content,
        expected(
            "James Okafor",
            emails=["j.okafor@example.org"],
            phones=["+14155552671"],
            skills=["React", "TypeScript", "Node.js", "GraphQL", "CSS", "Jest", "Redux", "Webpack"],
            positions=[
                ("Front-end Developer", "Bluebird Studio", "2020-01", NOW),
                ("Junior Web Developer", "Cactus Media Inc", "2017-08", "2019-12"),
            ],
            years="9.33",
            education=[("bachelor", "California College of the Arts")],
        ),
    )


def two_columns_pdf():
    page = Page()
    page.column(12, 15, 55, SIDEBAR)
    page.column(78, 15, 120, MAIN, {0: 20, 1: 13})
    return _two_columns(page.bytes(), "English, two columns, PDF")


def interleaved_pdf():
    """Written row by row, as some programs do: the order in the file is no reading order."""
    page = Page()
    for row in range(max(len(SIDEBAR), len(MAIN))):
        for x, lines in ((12, SIDEBAR), (90, MAIN)):
            if row < len(lines) and lines[row]:
                page.set_font("body", size=18 if x == 90 and not row else 10)
                page.text(x, 20 + row * 6, lines[row])
    return _two_columns(page.bytes(), "English, two columns written row by row, PDF")


def german_docx():
    lines = [
        "Lebenslauf",
        "Jürgen Müller-Lüdenscheidt",
        "Musterstraße 12, 10115 Berlin",
        "Telefon: 030 901820",
        "E-Mail: juergen.mueller@beispiel.de",
        "# Berufserfahrung",
        "03/2018 – heute\tSoftwareentwickler, Rheinwerk GmbH",
        "* Entwicklung von Microservices mit Java und Spring Boot",
        "* Betrieb auf AWS, Terraform",
        "10/2014 – 02/2018\tWerkstudent, Fraunhofer Institut",
        "* Datenanalyse mit Python und pandas",
        "# Ausbildung",
        "2011 – 2014\tMaster Informatik, Technische Universität Berlin",
        "# Kenntnisse",
        "Java, Spring Boot, Python, SQL, Docker, Scrum",
        "# Sprachen",
        "Deutsch (Muttersprache), Englisch (C1)",
    ]
    return Cv(
        "German, dates first, DOCX",
        word(lambda document: paragraphs(document, lines)),
        expected(
            "Jürgen Müller-Lüdenscheidt",
            emails=["juergen.mueller@beispiel.de"],
            phones=["+4930901820"],
            skills=[
                "Java",
                "Spring Boot",
                "Microservices",
                "AWS",
                "Terraform",
                "Python",
                "pandas",
                "SQL",
                "Docker",
                "Scrum",
            ],
            positions=[
                ("Softwareentwickler", "Rheinwerk GmbH", "2018-03", NOW),
                ("Werkstudent", "Fraunhofer Institut", "2014-10", "2018-02"),
            ],
            years="12.17",
            education=[("master", "Technische Universität Berlin")],
        ),
    )


def table_docx():
    def build(document):
        document.add_heading("Amara Diallo", level=0)
        document.add_paragraph("Data Analyst")
        document.add_paragraph("amara.diallo@example.net · +33 1 42 68 53 00 · www.amaradiallo.example")
        document.add_heading("Professional Experience", level=1)
        table = document.add_table(rows=0, cols=3)
        for cells in (
            ("Position", "Company", "Period"),
            ("Data Analyst", "Crédit Lémanique", "Sept 2021 – Aug 2024"),
            ("Junior Analyst", "Observatoire du Climat", "Jan. 2019 to June 2021"),
            ("Intern", "Mairie de Lyon", "2018"),
        ):
            for cell, text in zip(table.add_row().cells, cells, strict=True):
                cell.text = text
        document.add_heading("Education", level=1)
        table = document.add_table(rows=1, cols=2)
        table.rows[0].cells[0].text = "2016 – 2018"
        table.rows[0].cells[1].text = "MSc Statistics, Université Lyon 1"
        document.add_heading("Technical Skills", level=1)
        table = document.add_table(rows=0, cols=2)
        for label, text in (("Languages", "SQL, R, Python"), ("Tools", "Tableau, Power BI, Excel, Airflow")):
            row = table.add_row()
            row.cells[0].text, row.cells[1].text = label, text

    return Cv(
        "English, tables, DOCX",
        word(build),
        expected(
            "Amara Diallo",
            emails=["amara.diallo@example.net"],
            phones=["+33142685300"],
            links=["https://www.amaradiallo.example"],
            skills=["SQL", "R", "Python", "Tableau", "Power BI", "Microsoft Excel", "Apache Airflow"],
            positions=[
                ("Data Analyst", "Crédit Lémanique", "2021-09", "2024-08"),
                ("Junior Analyst", "Observatoire du Climat", "2019-01", "2021-06"),
                ("Intern", "Mairie de Lyon", "2018-01", "2018-12"),
            ],
            years="6.50",
            education=[("master", "Université Lyon 1")],
        ),
    )


def french_txt():
    text = """Hélène Lefèvre
Développeuse Full Stack
12 rue des Lilas, 69003 Lyon
Tél : 04 72 00 00 00
helene.lefevre@exemple.fr

EXPÉRIENCE PROFESSIONNELLE

Développeuse Full Stack chez Alpage Numérique
Depuis janvier 2021
- Vue.js, Symfony, PostgreSQL

Ingénieure logiciel chez Orée SARL
Août 2016 à décembre 2020
- PHP, MySQL, jQuery

FORMATION

Diplôme d'ingénieur informatique, INSA Lyon, École d'ingénieurs, 2013-2016

COMPÉTENCES

Vue.js, Symfony, PHP, PostgreSQL, Git, Docker

LANGUES
Français, anglais
"""
    return Cv(
        "French, Windows text",
        text.encode("cp1252"),
        expected(
            "Hélène Lefèvre",
            emails=["helene.lefevre@exemple.fr"],
            phones=["+33472000000"],
            skills=["Vue.js", "Symfony", "PostgreSQL", "PHP", "MySQL", "jQuery", "Git", "Docker"],
            positions=[
                ("Développeuse Full Stack", "Alpage Numérique", "2021-01", NOW),
                ("Ingénieure logiciel", "Orée SARL", "2016-08", "2020-12"),
            ],
            years="10.33",
            education=[("master", "École d'ingénieurs")],
        ),
    )


def spanish_pdf():
    page = Page()
    page.line("Lucía Fernández Gómez", 20)
    page.line("Ingeniera de datos · Madrid, España · lucia.fernandez@example.es · +34 912 345 678")
    page.line("")
    page.line("Experiencia laboral", 13)
    with page.table(borders_layout="NONE", first_row_as_headings=False, col_widths=(45, 45, 50)) as table:
        for cells in (
            ("Ingeniera de datos", "Telecor Analítica S.L.", "enero de 2020 - actualidad"),
            ("Analista de datos", "Banco del Sur", "mayo de 2016 - diciembre de 2019"),
            ("Becaria", "Aguas de Castilla", "sept. 2015 - abril 2016"),
        ):
            row = table.row()
            for cell in cells:
                row.cell(cell)
    page.line("")
    page.line("Formación", 13)
    page.line("Grado en Matemáticas, Universidad Complutense de Madrid, 2011 - 2015")
    page.line("")
    page.line("Conocimientos", 13)
    page.line("Python · Spark · Airflow · SQL · Snowflake · dbt · AWS")
    return Cv(
        "Spanish, table, PDF",
        page.bytes(),
        expected(
            "Lucía Fernández Gómez",
            emails=["lucia.fernandez@example.es"],
            phones=["+34912345678"],
            skills=["Python", "Apache Spark", "Apache Airflow", "SQL", "Snowflake", "dbt", "AWS"],
            positions=[
                ("Ingeniera de datos", "Telecor Analítica S.L", "2020-01", NOW),
                ("Analista de datos", "Banco del Sur", "2016-05", "2019-12"),
                ("Becaria", "Aguas de Castilla", "2015-09", "2016-04"),
            ],
            years="11.25",
            education=[("bachelor", "Universidad Complutense de Madrid")],
        ),
    )


def overlapping_txt():
    text = """CURRICULUM VITAE

Priya Raghunathan
Bengaluru, India | Mobile: 098450 12345 | priya.r@example.in

PROFESSIONAL EXPERIENCE:

Lead Data Scientist at Zenith Analytics Pvt Ltd
(Apr '21 – Present)
* Led a team of six; deployed models with SageMaker and MLflow.

Adjunct Lecturer at Presidency College
2022-24
* Taught statistics.

Data Scientist at Kaveri Insurance
01.06.2016 - 31.03.2021
* Built fraud models in Python, scikit-learn and XGBoost.

EDUCATION:

Ph.D. Statistics, Indian Institute of Science, 2012 to 2016
M.Sc. Statistics, University of Madras, 2010 to 2012

SKILLS: Python, R, scikit-learn, XGBoost, TensorFlow, SQL, AWS SageMaker
"""
    return Cv(
        "English, overlapping positions, text",
        text.encode(),
        expected(
            "Priya Raghunathan",
            emails=["priya.r@example.in"],
            phones=["+919845012345"],
            skills=["Python", "R", "scikit-learn", "XGBoost", "TensorFlow", "SQL", "SageMaker", "MLflow"],
            positions=[
                ("Lead Data Scientist", "Zenith Analytics Pvt Ltd", "2021-04", NOW),
                ("Adjunct Lecturer", "Presidency College", "2022-01", "2023-12"),
                ("Data Scientist", "Kaveri Insurance", "2016-06", "2021-03"),
            ],
            years="10.50",
            education=[("doctorate", "Indian Institute of Science"), ("master", "University of Madras")],
        ),
    )


def header_docx():
    def build(document):
        document.sections[0].header.paragraphs[
            0
        ].text = "Tomás Novák\tnovak.tomas@example.cz\t+420 601 123 456"
        document.add_heading("Profile", level=1)
        document.add_paragraph("QA engineer who automates what can be automated.")
        document.add_heading("Employment History", level=1)
        document.add_paragraph("Vltava Software s.r.o., Prague")
        document.add_paragraph("QA Engineer, 2017/05 – 2023/09")
        document.add_paragraph(
            "Playwright, Cypress and Postman; test plans for 14 releases.", style="List Bullet"
        )
        document.add_paragraph("Orlice Systems")
        document.add_paragraph("Manual Tester, since October 2023")
        document.add_heading("Certifications", level=1)
        document.add_paragraph("ISTQB Foundation Level, 2018")
        document.add_heading("Core Skills", level=1)
        document.add_paragraph("Test automation | Playwright | Cypress | Jira | SQL | Java")

    return Cv(
        "English, contact in the header, DOCX",
        word(build),
        expected(
            "Tomás Novák",
            emails=["novak.tomas@example.cz"],
            phones=["+420601123456"],
            skills=["Playwright", "Cypress", "Postman", "Test automation", "Jira", "SQL", "Java", "ISTQB"],
            positions=[
                ("QA Engineer", "Vltava Software s.r.o", "2017-05", "2023-09"),
                ("Manual Tester", "Orlice Systems", "2023-10", NOW),
            ],
            years="9.58",
        ),
    )


def scanned_pdf():
    page = Page()
    page.set_fill_color(90, 90, 90)
    for row in range(40):
        page.rect(20, 20 + row * 6, 150 - (row * 37) % 60, 3, style="F")
    return Cv("Scanned, no text, PDF", page.bytes(), error="no text")
