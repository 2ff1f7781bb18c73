"""Still more CVs, by which the reader was measured before it was taught them."""

from tests.cvs.expected import NOW, Cv, expected
from tests.cvs.makers import Page, pdf, word


def dutch_docx():
    def build(document):
        left, right = document.add_table(1, 2).rows[0].cells
        left.text = "Sanne de Vries"
        for x in (
            "Utrecht",
            "06 12345678",
            "sanne.devries@example.nl",
            "",
            "Vaardigheden",
            "Salesforce",
            "HubSpot",
            "SEO",
            "Google Ads",
            "",
            "Talen",
            "Nederlands",
            "Engels",
        ):
            left.add_paragraph(x)
        right.text = "Profiel"
        for x in (
            "Marketeer met oog voor cijfers.",
            "",
            "Werkervaring",
            "Marketing Manager bij Polder Media BV",
            "maart 2019 - heden",
            "Verantwoordelijk voor campagnes.",
            "",
            "Marketing Specialist bij De Tulp",
            "sep 2015 - feb 2019",
            "E-mailcampagnes met Mailchimp",
            "",
            "Opleiding",
            "Bachelor Communicatie, Hogeschool Utrecht",
            "2011 - 2015",
        ):
            right.add_paragraph(x)

    return Cv(
        "Dutch, two cells, DOCX",
        word(build),
        expected(
            "Sanne de Vries",
            emails=["sanne.devries@example.nl"],
            phones=["+31612345678"],
            skills=["Salesforce", "HubSpot", "SEO", "Google Ads", "Mailchimp"],
            positions=[
                ("Marketing Manager", "Polder Media BV", "2019-03", NOW),
                ("Marketing Specialist", "De Tulp", "2015-09", "2019-02"),
            ],
            years="11.25",
            education=[("bachelor", "Hogeschool Utrecht")],
        ),
    )


def right_sidebar_pdf():
    p = Page()
    p.column(
        12,
        15,
        120,
        [
            "ANNA KOWALSKI",
            "P R O D U C T   D E S I G N E R",
            "",
            "E X P E R I E N C E",
            "Lead Product Designer",
            "Meridian Health",
            "2021 – now",
            "Design systems in Figma for three teams.",
            "",
            "Product Designer",
            "Orbit Labs",
            "2018 – 2021",
            "Prototyping, user research.",
            "",
            "E D U C A T I O N",
            "M.A. Interaction Design",
            "Royal College of Art",
            "2016 – 2018",
        ],
        {0: 22},
    )
    p.column(
        145,
        15,
        55,
        [
            "C O N T A C T",
            "anna@kowalski.example",
            "+44 7700 900123",
            "www.kowalski.example",
            "",
            "S K I L L S",
            "Figma",
            "User research",
            "Prototyping",
            "HTML & CSS",
        ],
    )
    return Cv(
        "English, sidebar to the right, PDF",
        p.bytes(),
        expected(
            "ANNA KOWALSKI",
            emails=["anna@kowalski.example"],
            phones=["+447700900123"],
            links=["https://www.kowalski.example"],
            skills=["Figma", "User research", "Prototyping", "HTML", "CSS", "Design systems"],
            titles=["Lead Product Designer", "Product Designer"],
            positions=[
                ("Lead Product Designer", "Meridian Health", "2021-01", NOW),
                ("Product Designer", "Orbit Labs", "2018-01", "2020-12"),
            ],
            years="8.92",
            education=[("master", "Royal College of Art")],
        ),
    )


def markdown_txt():
    t = """# Wei Zhang

**Site Reliability Engineer** — Singapore — wei.zhang@example.sg — +65 8123 4567

## Experience

### Site Reliability Engineer · Lion City Cloud (2022-01 → present)

- On call for 300 services, Kubernetes, Prometheus and Terraform

### Systems Administrator · Temasek Polytechnic (2017-06 → 2021-12)

- Linux, Ansible, VMware

## Education

- **B.Eng. Computer Engineering**, National University of Singapore, 2013–2017

## Skills

`Kubernetes` `Terraform` `Go` `Python` `Linux`
"""
    return Cv(
        "English, Markdown",
        t.encode(),
        expected(
            "Wei Zhang",
            emails=["wei.zhang@example.sg"],
            phones=["+6581234567"],
            skills=["Kubernetes", "Terraform", "Go", "Python", "Linux", "Prometheus", "Ansible", "VMware"],
            positions=[
                ("Site Reliability Engineer", "Lion City Cloud", "2022-01", NOW),
                ("Systems Administrator", "Temasek Polytechnic", "2017-06", "2021-12"),
            ],
            years="9.50",
            education=[("bachelor", "National University of Singapore")],
        ),
    )


def swedish_pdf():
    return Cv(
        "Swedish, PDF",
        pdf(
            [
                "Erik Lindqvist",
                "Systemutvecklare",
                "erik.lindqvist@example.se | 070-123 45 67 | Göteborg",
                "",
                "ARBETSLIVSERFARENHET",
                "",
                "Västkust Data AB – Systemutvecklare",
                "augusti 2018 – pågående",
                "Utveckling i Java och Kotlin. Drift i Azure.",
                "",
                "Göteborgs Energi – Junior utvecklare",
                "juni 2015 – juli 2018",
                "PHP, MySQL",
                "",
                "UTBILDNING",
                "",
                "Chalmers tekniska högskola, Civilingenjör datateknik, 2010–2015",
                "",
                "KUNSKAPER",
                "",
                "Java, Kotlin, Azure, PHP, MySQL, Git",
            ],
            {0: 20},
        ),
        expected(
            "Erik Lindqvist",
            emails=["erik.lindqvist@example.se"],
            phones=["+46701234567"],
            skills=["Java", "Kotlin", "Microsoft Azure", "PHP", "MySQL", "Git"],
            titles=["Systemutvecklare", "Junior utvecklare"],
            positions=[
                ("Systemutvecklare", "Västkust Data AB", "2018-08", NOW),
                ("Junior utvecklare", "Göteborgs Energi", "2015-06", "2018-07"),
            ],
            years="11.50",
            education=[("master", "Chalmers tekniska högskola")],
        ),
    )


def sales_pdf():
    return Cv(
        "English, care work, PDF",
        pdf(
            [
                "CURRICULUM VITAE",
                "",
                "Name:        Deborah Owusu",
                "Address:     14 Hill Road, Leeds LS6 2AB",
                "Phone:       0113 496 0123",
                "Email:       d.owusu@example.co.uk",
                "",
                "PERSONAL STATEMENT",
                "A warm and organised carer with eight years in residential homes.",
                "",
                "EMPLOYMENT HISTORY",
                "",
                "Sept 2018 - date      Senior Care Assistant",
                "                      Oakfield Care Home, Leeds",
                "                      Medication, care plans, supervising four carers",
                "",
                "Jan 2016 - Aug 2018   Care Assistant",
                "                      Sunrise Nursing Home, Bradford",
                "",
                "QUALIFICATIONS",
                "",
                "2017   NVQ Level 3 Diploma in Health and Social Care, Leeds City College",
                "2014   A-levels: Biology, Psychology - Roundhay School",
                "",
                "SKILLS",
                "",
                "First aid, patient care, Microsoft Word, driving licence",
                "",
                "REFERENCES",
                "",
                "Available on request",
            ]
        ),
        expected(
            "Deborah Owusu",
            emails=["d.owusu@example.co.uk"],
            phones=["+441134960123"],
            skills=["First aid", "Patient care", "Microsoft Word"],
            positions=[
                ("Senior Care Assistant", "Oakfield Care Home", "2018-09", NOW),
                ("Care Assistant", "Sunrise Nursing Home", "2016-01", "2018-08"),
            ],
            years="10.92",
            education=[("vocational", "Leeds City College"), ("secondary", "Roundhay School")],
        ),
    )
