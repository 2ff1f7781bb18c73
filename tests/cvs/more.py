"""More CVs: layouts that the reader met only after it was written."""

from tests.cvs.expected import NOW, Cv, expected
from tests.cvs.makers import Page, paragraphs, pdf, word


def italian_docx():
    def build(document):
        document.add_heading("Curriculum Vitae", 0)
        table = document.add_table(rows=0, cols=2)
        for a, b in (
            ("Nome", "Giulia Bianchi"),
            ("Telefono", "+39 347 123 4567"),
            ("E-mail", "giulia.bianchi@example.it"),
            ("Data di nascita", "14/02/1990"),
        ):
            row = table.add_row()
            row.cells[0].text, row.cells[1].text = a, b
        document.add_heading("Esperienza lavorativa", 1)
        table = document.add_table(rows=0, cols=2)
        for a, b in (
            (
                "gennaio 2020 – oggi",
                "Sviluppatrice software\nOfficine Digitali S.r.l., Torino\nSviluppo di API con Node.js e MongoDB\nRilascio con GitLab CI",
            ),
            (
                "2015 – 2019",
                "Analista programmatore\nBanca Adriatica\nManutenzione di applicazioni Java e COBOL",
            ),
        ):
            row = table.add_row()
            row.cells[0].text = a
            row.cells[1].text = ""
            for i, line in enumerate(b.split("\n")):
                (row.cells[1].paragraphs[0] if not i else row.cells[1].add_paragraph()).add_run(line)
        document.add_heading("Istruzione e formazione", 1)
        document.add_paragraph(
            "2009 – 2014\tLaurea magistrale in Ingegneria informatica, Politecnico di Torino"
        )
        document.add_heading("Competenze tecniche", 1)
        document.add_paragraph("Node.js, MongoDB, Java, Git, Docker")

    return Cv(
        "Italian, Europass, DOCX",
        word(build),
        expected(
            "Giulia Bianchi",
            emails=["giulia.bianchi@example.it"],
            phones=["+393471234567"],
            skills=["Node.js", "MongoDB", "GitLab CI", "Java", "COBOL", "Git", "Docker"],
            positions=[
                ("Sviluppatrice software", "Officine Digitali S.r.l", "2020-01", NOW),
                ("Analista programmatore", "Banca Adriatica", "2015-01", "2018-12"),
            ],
            years="10.92",
            education=[("master", "Politecnico di Torino")],
        ),
    )


def american_pdf():
    p = Page()
    p.line("MARCUS T. HOLLOWAY", 18, align="C")
    p.line(
        "Austin, TX 78701 | (512) 555-0143 | marcus.holloway@example.com | github.com/mholloway", align="C"
    )
    p.line("")

    def two(a, b):
        y = p.get_y()
        p.set_font("body", size=10)
        p.text(10, y + 4, a)
        p.text(200 - p.get_string_width(b), y + 4, b)
        p.set_y(y + 6)

    p.line("PROFESSIONAL EXPERIENCE", 12)
    two("Lone Star Robotics", "Austin, TX")
    two("Staff Software Engineer", "Jan 2022 – Present")
    p.line("• Led the migration of 14 services from Ruby on Rails to Rust")
    p.line("• Mentored five engineers and ran incident response on AWS")
    two("Pecan Health, Inc.", "Dallas, TX")
    two("Software Engineer II", "Jul 2018 – Dec 2021")
    p.line("• Implemented HIPAA-compliant APIs in Node.js and PostgreSQL")
    p.line("EDUCATION", 12)
    two("The University of Texas at Austin", "Austin, TX")
    two("Bachelor of Science in Computer Engineering", "May 2018")
    p.line("TECHNICAL SKILLS", 12)
    p.line("Languages: Rust, Ruby, TypeScript, SQL")
    p.line("Infrastructure: AWS, Terraform, Kubernetes")
    return Cv(
        "American, dates to the right, PDF",
        p.bytes(),
        expected(
            "MARCUS T. HOLLOWAY",
            emails=["marcus.holloway@example.com"],
            phones=["+15125550143"],
            links=["https://github.com/mholloway"],
            skills=[
                "Rust",
                "Ruby",
                "TypeScript",
                "SQL",
                "AWS",
                "Terraform",
                "Kubernetes",
                "Ruby on Rails",
                "Node.js",
                "PostgreSQL",
                "HIPAA",
            ],
            positions=[
                ("Staff Software Engineer", "Lone Star Robotics", "2022-01", NOW),
                ("Software Engineer II", "Pecan Health, Inc", "2018-07", "2021-12"),
            ],
            years="8.42",
            education=[("bachelor", "The University of Texas at Austin")],
        ),
    )


def linkedin_txt():
    t = """Contato
www.linkedin.com/in/rafael-souza (LinkedIn)
Principais competências
Python
Machine Learning
AWS
Rafael Souza
Engenheiro de Machine Learning na Ipê Dados
São Paulo, Brasil
Resumo
Trabalho com modelos em produção.
Experiência
Ipê Dados
Engenheiro de Machine Learning
fevereiro de 2021 - Present (5 anos 10 meses)
São Paulo
Modelos de crédito com PyTorch.
Rio Claro Seguros
Cientista de dados
março de 2017 - janeiro de 2021 (3 anos 11 meses)
Rio de Janeiro
Formação acadêmica
Universidade de São Paulo
Bacharelado, Ciência da Computação · (2012 - 2016)
"""
    return Cv(
        "Portuguese, profile export, text",
        t.encode(),
        expected(
            "Rafael Souza",
            links=["https://www.linkedin.com/in/rafael-souza"],
            skills=["Python", "Machine learning", "AWS", "PyTorch"],
            positions=[
                ("Engenheiro de Machine Learning", "Ipê Dados", "2021-02", NOW),
                ("Cientista de dados", "Rio Claro Seguros", "2017-03", "2021-01"),
            ],
            years="9.75",
            education=[("bachelor", "Universidade de São Paulo")],
        ),
    )


def polish_pdf():
    return Cv(
        "Polish, bars, PDF",
        pdf(
            [
                "Agnieszka Wójcik",
                "agnieszka.wojcik@example.pl, tel. 501 234 567",
                "",
                "Doświadczenie",
                "",
                "Programistka .NET | Wisła Software Sp. z o.o. | Kraków",
                "04.2019 - obecnie",
                "- Tworzenie aplikacji w C# i Angular",
                "- Azure DevOps, SQL Server",
                "",
                "Stażystka | Bank Tatrzański | Kraków",
                "07.2018 - 03.2019",
                "",
                "Wykształcenie",
                "",
                "Akademia Górniczo-Hutnicza, Informatyka, magister inżynier",
                "2013 - 2018",
                "",
                "Umiejętności",
                "C#, .NET, Angular, Azure, SQL Server, Git",
            ],
            {0: 18},
        ),
        expected(
            "Agnieszka Wójcik",
            emails=["agnieszka.wojcik@example.pl"],
            phones=["+48501234567"],
            skills=[
                "C#",
                ".NET",
                "Angular",
                "Microsoft Azure",
                "Azure DevOps",
                "Microsoft SQL Server",
                "Git",
            ],
            positions=[
                ("Programistka .NET", "Wisła Software Sp. z o.o", "2019-04", NOW),
                ("Stażystka", "Bank Tatrzański", "2018-07", "2019-03"),
            ],
            years="8.42",
            education=[("master", "Akademia Górniczo-Hutnicza")],
        ),
    )


def ukrainian_docx():
    ls = [
        "Олена Шевченко",
        "Бізнес-аналітик",
        "+380 67 123 45 67 | olena.shevchenko@example.ua",
        "# Досвід роботи",
        "Бізнес-аналітик",
        "ТОВ «Дніпро Софт», Київ",
        "травень 2021 – теперішній час",
        "* Вимоги, BPMN, Jira, Confluence",
        "Молодший аналітик",
        "Банк «Південний Берег»",
        "вересень 2018 – квітень 2021",
        "# Освіта",
        "Київський політехнічний інститут",
        "Бакалавр, комп'ютерні науки",
        "2014 – 2018",
        "# Навички",
        "SQL, BPMN, Jira, Confluence, Figma",
    ]
    return Cv(
        "Ukrainian, DOCX",
        word(lambda d: paragraphs(d, ls)),
        expected(
            "Олена Шевченко",
            emails=["olena.shevchenko@example.ua"],
            phones=["+380671234567"],
            skills=["Business process modeling", "Jira", "Confluence", "SQL", "Figma"],
            titles=["Бізнес-аналітик", "Молодший аналітик"],
            positions=[
                ("Бізнес-аналітик", "ТОВ «Дніпро Софт»", "2021-05", NOW),
                ("Молодший аналітик", "Банк «Південний Берег»", "2018-09", "2021-04"),
            ],
            years="8.25",
            education=[("bachelor", "Київський політехнічний інститут")],
        ),
    )


def plain_txt():
    t = """Ingrid Solheim
ingrid.solheim@example.no
+47 912 34 567

2019-present: Product Manager, Fjordline Apps AS
2014-2019: Business Analyst, Nordhav Shipping
2009-2014: Master of Science, Industrial Economics, University of Bergen

I work with Jira, Figma and SQL. I speak Norwegian, English and German.
"""
    return Cv(
        "English, no headings, text",
        t.encode(),
        expected(
            "Ingrid Solheim",
            emails=["ingrid.solheim@example.no"],
            phones=["+4791234567"],
            skills=["Jira", "Figma", "SQL"],
            positions=[
                ("Product Manager", "Fjordline Apps AS", "2019-01", NOW),
                ("Business Analyst", "Nordhav Shipping", "2014-01", "2018-12"),
            ],
            years="12.92",
            education=[("master", "University of Bergen")],
        ),
    )


def academic_pdf():
    return Cv(
        "Academic, PDF",
        pdf(
            [
                "Dr. Samuel Adeyemi",
                "Department of Physics, University of Ibadan",
                "s.adeyemi@example.edu",
                "",
                "ACADEMIC APPOINTMENTS",
                "",
                "2018–        Senior Lecturer, University of Ibadan",
                "2014–2018   Postdoctoral Researcher, Max Planck Institute for Plasma Physics",
                "",
                "EDUCATION",
                "",
                "2014   PhD in Physics, University of Manchester",
                "2010   MSc in Physics, University of Lagos",
                "",
                "PUBLICATIONS",
                "",
                "Adeyemi S. (2016–2017) Waves in cold plasma. Journal of Plasma, 12, 2017.",
                "",
                "TEACHING",
                "",
                "Electromagnetism, 2018–2022",
                "",
                "COMPUTING SKILLS",
                "",
                "Fortran, Python, MATLAB, LaTeX",
            ],
            {0: 16},
        ),
        expected(
            "Samuel Adeyemi",
            emails=["s.adeyemi@example.edu"],
            skills=["Fortran", "Python", "MATLAB", "LaTeX", "Teaching"],
            positions=[
                ("Senior Lecturer", "University of Ibadan", "2018-01", NOW),
                ("Postdoctoral Researcher", "Max Planck Institute for Plasma Physics", "2014-01", "2017-12"),
            ],
            years="12.92",
            education=[("doctorate", "University of Manchester"), ("master", "University of Lagos")],
        ),
    )
