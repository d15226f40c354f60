"""Korean: names of days, for searching. Daybook says nothing in it."""

from __future__ import annotations

from agent.languages.table import DateWords, PastPatterns, RelationWords

KOREAN = DateWords(
    months="",
    weekdays="",
    numbers="한 하나 일, 두 이, 세 삼, 네 사, 다섯 오, 여섯 육, 일곱 칠, 여덟 팔, 아홉 구, 열 십",
    day="일",
    week="주 주일",
    month="달 개월",
    year="년",
    seasons="봄, 여름, 가을, 겨울",
    parts="초, 중순, 말",
    ordinals="첫째 첫, 둘째, 셋째, 넷째, 다섯째",
    last="마지막",
    weekend="주말",
    week_name="주",
    past=PastPatterns(
        days=("오늘", "어제|어젯밤", "그저께|그제"),
        weekends=("이번 ?주말", "지난 ?주말"),
        weeks=("이번 ?주", "지난 ?주", "지지난 ?주"),
        months=("이번 ?달", "지난 ?달", "지지난 ?달"),
        years=("올해", "작년|지난 ?해", "재작년"),
        short_ago=(
            ("하루 전", 1, 1),
            ("이틀 전", 2, 1),
            ("사흘 전", 3, 1),
            ("반년 전", 6, 30),
        ),
    ),
    relations=RelationWords(
        before="전",
        after="후 뒤",
        since="부터 이래 이후",
        until="까지",
        and_="과 와",
        to="부터",
    ),
    feasts={
        "new_years_day": "신정, 새해 첫날",
        "orthodox_christmas": "정교회 성탄절",
        "valentine": "발렌타인데이, 밸런타인데이",
        "labour_day": "근로자의 날",
        "halloween": "할로윈, 핼러윈",
        "christmas_eve": "크리스마스이브, 크리스마스 이브",
        "christmas": "크리스마스, 성탄절",
        "thanksgiving": "추수감사절",
        "easter": "부활절",
        "chinese_new_year": "설날, 구정",
        "dragon_boat_festival": "단오",
        "mid_autumn": "추석, chuseok",
        "ramadan": "라마단",
    },
)
