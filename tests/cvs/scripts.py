"""CVs in other scripts: Cyrillic, Greek, Hebrew, Arabic and those of East Asia."""

from tests.cvs.expected import NOW, Cv, expected
from tests.cvs.makers import Page, paragraphs, pdf, word


def russian_pdf():
    lines = [
        "Иванова Мария Сергеевна",
        "Ведущий разработчик",
        "Москва, тел. 8 (495) 123-45-67, m.ivanova@example.ru",
        "https://t.me/mivanova",
        "",
        "Опыт работы",
        "Март 2020 — настоящее время",
        "ООО «Северный ветер»",
        "Ведущий разработчик",
        "• Разработка сервисов на Python и FastAPI, PostgreSQL, Kafka",
        "",
        "Сентябрь 2016 — февраль 2020",
        "Альфа-Банк",
        "Программист",
        "• Поддержка системы на C++ и Oracle",
        "",
        "Образование",
        "МГТУ им. Баумана, магистр, прикладная математика, 2010 – 2016",
        "",
        "Навыки",
        "Python, FastAPI, C++, PostgreSQL, Docker, Linux",
    ]
    return Cv(
        "Russian, dates above, PDF",
        pdf(lines, {0: 18}),
        expected(
            "Иванова Мария Сергеевна",
            emails=["m.ivanova@example.ru"],
            phones=["+74951234567"],
            links=["https://t.me/mivanova"],
            skills=["Python", "FastAPI", "C++", "PostgreSQL", "Docker", "Linux", "Kafka"],
            positions=[
                ("Ведущий разработчик", "ООО «Северный ветер»", "2020-03", NOW),
                ("Программист", "Альфа-Банк", "2016-09", "2020-02"),
            ],
            years="10.25",
            education=[("master", "МГТУ им. Баумана")],
        ),
    )


def greek_pdf():
    lines = [
        "Βιογραφικό Σημείωμα",
        "Ονοματεπώνυμο: Νίκος Παπαδόπουλος",
        "Email: n.papadopoulos@example.gr",
        "Κινητό: 694 123 4567",
        "",
        "Επαγγελματική Εμπειρία",
        "Ιανουάριος 2018 – σήμερα",
        "Μηχανικός Λογισμικού, Αιγαίο Πληροφορική Α.Ε.",
        "Ανάπτυξη εφαρμογών με C#, .NET και SQL Server",
        "",
        "Σεπτέμβριος 2014 – Δεκέμβριος 2017",
        "Προγραμματιστής, Εθνική Τράπεζα",
        "Ανάπτυξη σε Java και Angular",
        "",
        "Εκπαίδευση",
        "Πτυχίο Πληροφορικής, Πανεπιστήμιο Πατρών, 2009 – 2014",
        "",
        "Δεξιότητες",
        "C#, .NET, Java, Angular, Git",
    ]
    return Cv(
        "Greek, PDF",
        pdf(lines, {0: 16}),
        expected(
            "Νίκος Παπαδόπουλος",
            emails=["n.papadopoulos@example.gr"],
            phones=["+306941234567"],
            skills=["C#", ".NET", "Microsoft SQL Server", "Java", "Angular", "Git"],
            positions=[
                ("Μηχανικός Λογισμικού", "Αιγαίο Πληροφορική Α.Ε", "2018-01", NOW),
                ("Προγραμματιστής", "Εθνική Τράπεζα", "2014-09", "2017-12"),
            ],
            years="12.25",
            education=[("bachelor", "Πανεπιστήμιο Πατρών")],
        ),
    )


def chinese_docx():
    lines = [
        "个人简历",
        "姓名：王小明",
        "电话：138 0013 8000",
        "邮箱：wang.xiaoming@example.cn",
        "# 工作经历",
        "2020年3月 - 至今  星河科技有限公司  高级软件工程师",
        "* 使用Python和Django开发电商平台，负责Kubernetes部署",
        "2016.07 - 2020.02  长江数据集团  数据分析师",
        "* 使用Spark、Hive和SQL建立数据仓库",
        "# 教育背景",
        "2012年9月 - 2016年6月  浙江大学  计算机科学与技术  本科",
        "# 专业技能",
        "Python、Django、MySQL、Redis、机器学习",
    ]
    return Cv(
        "Chinese, DOCX",
        word(lambda document: paragraphs(document, lines)),
        expected(
            "王小明",
            emails=["wang.xiaoming@example.cn"],
            phones=["+8613800138000"],
            skills=[
                "Python",
                "Django",
                "Kubernetes",
                "MySQL",
                "Redis",
                "Machine learning",
                "Apache Spark",
                "SQL",
                "Apache Hive",
            ],
            positions=[
                ("高级软件工程师", "星河科技有限公司", "2020-03", NOW),
                ("数据分析师", "长江数据集团", "2016-07", "2020-02"),
            ],
            years="10.42",
            education=[("bachelor", "浙江大学")],
        ),
    )


def japanese_txt():
    text = """職務経歴書
氏名：佐藤 花子
メール：hanako.sato@example.jp
電話：090-1234-5678

職務経歴
2018年4月～現在
株式会社みらいシステム　エンジニア
TypeScript、React、AWSを用いたWebサービスの開発
2014年4月～2018年3月
富士見ソフト株式会社　プログラマー
JavaとOracleによる業務システムの開発

学歴
2010年4月～2014年3月　東都大学　工学部　学士

スキル
TypeScript、React、AWS、Java、Docker
"""
    return Cv(
        "Japanese, Shift JIS text",
        text.encode("cp932"),
        expected(
            "佐藤 花子",
            emails=["hanako.sato@example.jp"],
            phones=["+819012345678"],
            skills=["TypeScript", "React", "AWS", "Java", "Docker"],
            positions=[
                ("エンジニア", "株式会社みらいシステム", "2018-04", NOW),
                ("プログラマー", "富士見ソフト株式会社", "2014-04", "2018-03"),
            ],
            years="12.67",
            education=[("bachelor", "東都大学")],
        ),
    )


def korean_docx():
    lines = [
        "이력서",
        "이름: 김민준",
        "연락처: 010-1234-5678 / minjun.kim@example.kr",
        "# 경력",
        "2021.03 - 현재\t한빛전자\t백엔드 개발자",
        "* Kotlin과 Spring Boot로 결제 서버 개발",
        "2017.01 - 2021.02\t주식회사 다온\t소프트웨어 엔지니어",
        "# 학력",
        "2011.03 - 2016.12\t서울대학교\t컴퓨터공학 학사",
        "# 기술",
        "Kotlin, Java, MySQL, Redis, Kubernetes",
    ]
    return Cv(
        "Korean, DOCX",
        word(lambda document: paragraphs(document, lines)),
        expected(
            "김민준",
            emails=["minjun.kim@example.kr"],
            phones=["+821012345678"],
            skills=["Kotlin", "Spring Boot", "Java", "MySQL", "Redis", "Kubernetes"],
            positions=[
                ("백엔드 개발자", "한빛전자", "2021-03", NOW),
                ("소프트웨어 엔지니어", "주식회사 다온", "2017-01", "2021-02"),
            ],
            years="9.92",
            education=[("bachelor", "서울대학교")],
        ),
    )


def hebrew_pdf():
    """As on paper: letters from right to left, Latin names and numbers from left to right."""
    page = Page()
    rows = [
        ["דנה לוי"],
        ["dana.levi@example.co.il"],
        ["טלפון: ", "03-640-8111"],
        [""],
        ["ניסיון תעסוקתי"],
        ['מהנדסת תוכנה, אורנים מערכות בע"מ'],
        ["2019 - 2024"],
        ["Python, React"],
        [""],
        ["השכלה"],
        ["תואר ראשון, אוניברסיטת תל אביב"],
        ["2015 - 2018"],
        [""],
        ["כישורים"],
        ["Python, React, Docker"],
    ]
    for row, parts in enumerate(rows):
        visual = "".join(
            part[::-1] if any("\u0590" <= char <= "\u05ff" for char in part) else part for part in parts[::-1]
        )
        page.line(visual, 18 if not row else 11, align="R")
    return Cv(
        "Hebrew, right to left, PDF",
        page.bytes(),
        expected(
            "דנה לוי",
            emails=["dana.levi@example.co.il"],
            phones=["+97236408111"],
            skills=["Python", "React", "Docker"],
            positions=[("מהנדסת תוכנה", 'אורנים מערכות בע"מ', "2019-01", "2023-12")],
            years="5.00",
            education=[("bachelor", "אוניברסיטת תל אביב")],
        ),
    )


def arabic_docx():
    lines = [
        "السيرة الذاتية",
        "الاسم: محمد أحمد الخطيب",
        "البريد: m.alkhatib@example.ae",
        "هاتف: 00971 50 123 4567",
        "# الخبرات العملية",
        "مهندس برمجيات، شركة النخيل للتقنية",
        "يناير ٢٠١٩ - الآن",
        "تطوير تطبيقات باستخدام Java و Spring Boot",
        "",
        "مبرمج، بنك الخليج",
        "مارس ٢٠١٥ - ديسمبر ٢٠١٨",
        "# التعليم",
        "بكالوريوس علوم الحاسوب، جامعة القاهرة، ٢٠١١ - ٢٠١٥",
        "# المهارات",
        "Java, Spring Boot, Oracle, Linux",
    ]
    return Cv(
        "Arabic, right to left, DOCX",
        word(lambda document: paragraphs(document, lines)),
        expected(
            "محمد أحمد الخطيب",
            emails=["m.alkhatib@example.ae"],
            phones=["+971501234567"],
            skills=["Java", "Spring Boot", "Oracle Database", "Linux"],
            positions=[
                ("مهندس برمجيات", "شركة النخيل للتقنية", "2019-01", NOW),
                ("مبرمج", "بنك الخليج", "2015-03", "2018-12"),
            ],
            years="11.75",
            education=[("bachelor", "جامعة القاهرة")],
        ),
    )
