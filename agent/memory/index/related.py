"""Words that stand for one another in what people tell of their lives, since a question is seldom put in the words in
which its answer was told: what means the same, and what is a kind of what is asked for (activity: hike, swim).

Everyday subjects only, in English, German and Chinese; every word by its stem, as in the index.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agent.memory.index.stem import stem
from agent.memory.words import fold

_SAME = """
    kid child; baby infant newborn; teenager teen; mom mum mother mommy; dad father daddy; parent mother father mom
    dad; grandma grandmother granny nana; grandpa grandfather granddad; brother sibling; sister sibling; son boy;
    daughter girl; husband spouse; wife spouse; boyfriend partner; girlfriend partner; marry wedding; married
    marriage; engaged fiance fiancee; divorce separate; breakup split; friend buddy pal mate; colleague coworker
    workmate teammate; boss manager supervisor; neighbor neighbour; guest visitor; pet animal; dog puppy pup doggy;
    cat kitten kitty; house home; apartment flat; job career profession occupation; company business firm; startup
    business; shop store; client customer; employee staff; salary pay wage; money cash; price cost; cheap inexpensive;
    buy purchase; rent lease; loan mortgage debt; car vehicle; bike bicycle cycle; motorcycle motorbike; plane flight
    fly; train railway; doctor physician; dentist tooth; sick ill disease; hurt injury injure; medicine medication
    pill drug; operation surgery; allergy allergic; therapy therapist counselor counseling; anxiety anxious; destress
    relax unwind; calm peace; exercise workout training; gym fitness; race marathon; run jog; hike trail trek; camp
    tent campfire; swim pool; climb mountaineering; ski snowboard; beach ocean sea coast; mountain hill summit; lake
    river; forest woods; trip travel journey vacation holiday; roadtrip drive; tour tourist sightseeing; hotel hostel;
    picture photo photograph image; movie film cinema; show series episode; song music; band concert; gig concert;
    sing choir; dance ballet; paint painter; draw sketch; art artwork; artist painter; museum gallery exhibition;
    pottery ceramic clay; knit crochet sew; book novel; read reader; author writer; poem poetry; story tale; diary
    journal; screenplay script; videogame gamer; tournament competition contest championship; win victory champion;
    prize award trophy medal; team club; coach trainer; food meal dish; cook recipe; dessert sweet cake; breakfast
    brunch; dinner supper; restaurant cafe diner; drink beverage; vegan vegetarian; clothes outfit; jewelry necklace
    ring bracelet; present gift; school classroom; university college; course class; exam test; degree diploma
    graduate; student pupil; teacher professor; study education; learn lesson; stop quit; resign quit; hire recruit;
    fire laid; move relocate; live reside; born birth; birthday born; die death dead; grief mourn loss; funeral
    burial; church faith religious religion; pray prayer; believe belief; vote election; government state; volunteer
    charity; help assist support; encourage support; advice tip; recommend suggest; party celebration; event festival;
    meeting meetup; appointment meeting; goal aim ambition; dream wish; achieve accomplish; fail failure; problem
    trouble issue; challenge difficulty struggle obstacle; difficult hard tough; decide decision; idea inspiration;
    inspire motivate; love adore; favorite favourite prefer; hate dislike; fear afraid scared; scary frightening;
    happy glad joy; excited thrilled; sad upset unhappy; angry mad furious; worry concern; proud pride; thankful
    grateful gratitude; tired exhausted; lonely alone; brave courage; smart clever intelligent; funny humor; old
    elderly; garden plant; flower bloom; tree forest; weather rain; storm hurricane; phone cellphone smartphone; call
    phone; computer laptop pc; internet online website; email mail; fix repair; lend borrow; sleep nap; dream
    nightmare; lawyer attorney; army military soldier; veteran military; police cop; crime theft; accident crash; fire
    burn; luggage suitcase bag; key lock; sofa couch; picture painting; color colour; hair haircut; glasses
    spectacles; tattoo ink; pregnant pregnancy; community neighborhood; speech talk; hobby pastime; organize arrange;
    member join; teach mentor; kind kinder; kinder sohn tochter; eltern mutter vater; mutter mama; vater papa; oma
    grossmutter; opa grossvater; geschwister bruder schwester; mann ehemann; frau ehefrau; freund freundin; hund
    welpe; katze kater; wohnung zuhause; arbeit job beruf; chef chefin; kollege kollegin; arzt arztin; krank
    krankheit; medikament tablette; urlaub reise ferien; auto wagen; fahrrad rad; essen gericht; geschenk geburtstag;
    schule unterricht; hobby freizeit; kaufen gekauft; umzug umgezogen; hochzeit heiraten; lied musik; film kino; buch
    roman;
    孩子 儿子 女儿 小孩; 父母 爸爸 妈妈; 妈妈 母亲; 爸爸 父亲; 爷爷 祖父; 奶奶 祖母; 丈夫 老公; 妻子 老婆; 朋友 好友;
    同事 同学; 老板 领导; 工作 上班; 职业 工作; 公司 单位; 生病 感冒 发烧; 医生 大夫; 医院 看病; 旅行 旅游 出游; 电影
    影片; 音乐 歌曲; 书籍 小说; 读书 看书 阅读; 运动 锻炼 健身; 跑步 慢跑; 喜欢 喜爱 爱好; 爱好 兴趣; 讨厌 害怕; 开心
    高兴 快乐; 难过 伤心 悲伤; 生气 愤怒; 焦虑 紧张 压力; 压力 放松; 困难 问题; 建议 推荐; 帮助 支持; 决定 选择; 学习
    课程; 考试 成绩; 学校 大学; 老师 教授; 礼物 生日; 吃饭 美食; 做饭 烹饪; 餐厅 饭馆; 房子 公寓; 搬家 搬到; 结婚
    婚礼; 分手 离婚; 手机 电话; 电脑 计算; 照片 拍照 摄影; 画画 绘画; 唱歌 歌曲; 游戏 玩游; 计划 打算; 目标 梦想; 购买
    买了
"""
"""Words of one meaning, or nearly."""
_KINDS = """
    family: parent mother mom father dad brother sister son daughter kid child husband wife cousin aunt uncle grandma
    grandpa; relative: cousin aunt uncle niece nephew grandma grandpa; child: son daughter; kid: son daughter;
    sibling: brother sister; spouse: husband wife; partner: husband wife; relationship: dating girlfriend boyfriend
    husband wife married single divorce breakup; pet: dog cat puppy kitten hamster rabbit guinea parrot bird turtle
    fish snake lizard; animal: dog cat horse bird fish rabbit turtle snake cow sheep pig goat duck chicken bear deer
    whale dolphin; home: apartment house flat; job: career intern manager engineer teacher nurse lawyer chef; career:
    degree internship promotion promoted hired; field: career major industry; business: shop store startup studio
    company; financial: money debt loan savings salary rich poor afford; health: sick doctor hospital diet medicine
    surgery injury diagnosis pain allergy checkup; medical: doctor hospital surgery diagnosis medicine; symptom: pain
    headache fever cough dizzy tired; exercise: run yoga swim hike cycle pilates boxing aerobics weights gym walk
    stretch; sport: football soccer basketball baseball tennis hockey volleyball golf swim surf ski skate run boxing
    climb cycle gym team match fussball schwimmen laufen turnen; hobby: paint draw write read cook bake garden dance
    sing photography knit pottery hike fish collect guitar piano chess; activity: hike camp swim paint dance yoga
    pottery run bike picnic museum climb fish ski surf bowling walk cook kayak; outdoor: hike camp climb mountain park
    trail fish kayak picnic nature beach bike walk; nature: forest mountain beach lake river park wildlife; adventure:
    hike climb travel skydive; interest: hobby enjoy passion; passion: love enjoy; vacation: beach hotel resort abroad
    cruise; transport: car bus train bike plane subway taxi; vehicle: car truck van motorcycle bus scooter boat;
    instrument: guitar piano violin drum flute cello clarinet saxophone trumpet ukulele bass harp; music: guitar piano
    violin song album jazz rock classical pop; genre: jazz rock classical pop fantasy mystery romance; artist: singer
    band painter musician; art: paint draw sculpture pottery photography; movie: sequel drama comedy thriller; book:
    novel series author chapter; food: pizza pasta salad soup cake bread cheese chicken beef fish rice fruit vegetable
    sushi burger sandwich noodle curry; meal: breakfast lunch dinner; snack: chips popcorn cookie fruit nut chocolate;
    dessert: cake cookie pie pudding chocolate brownie cupcake tart mousse; bake: cake cookie bread pie muffin; drink:
    coffee tea wine beer juice soda smoothie water cocktail milk; fruit: apple banana orange strawberry mango
    blueberry grape peach; vegetable: carrot potato tomato spinach broccoli pepper; clothes: dress shirt shoe jacket
    coat hat sweater jeans; item: shoe bag dress book lamp toy; toy: doll lego puzzle teddy; furniture: sofa table
    chair bed desk shelf lamp; subject: math history science biology physics chemistry art; language: english spanish
    french german chinese italian; country: america usa canada mexico england britain spain france italy germany japan
    china india brazil australia ireland scotland sweden norway denmark finland greece portugal thailand turkey egypt
    russia korea vietnam kenya; europe: england spain france italy germany ireland sweden norway greece portugal
    austria paris london rome; european: england spain france italy germany ireland sweden norway greece portugal
    austria paris london rome; asia: japan china india thailand korea vietnam tokyo bali singapore; state: california
    texas florida york oregon washington colorado arizona nevada alaska hawaii michigan georgia virginia ohio; city:
    york london paris tokyo rome boston chicago seattle barcelona berlin miami francisco angeles sydney dublin town;
    place: city country park beach mountain museum restaurant; location: city country park; event: party concert
    conference parade fundraiser ceremony workshop race wedding show fair exhibition; celebrate: birthday anniversary
    party graduation; holiday: christmas thanksgiving easter halloween; charity: fundraiser donate; volunteer: charity
    donate; religious: church god bible pray; political: vote campaign election rights conservative liberal; device:
    phone laptop tablet computer camera console; color: red blue green yellow purple pink black white orange; emotion:
    happy sad angry scared anxious proud; trait: kind caring thoughtful creative patient honest brave; personality:
    kind caring thoughtful creative honest; weather: rain snow sunny storm wind cloudy hot cold; season: spring summer
    autumn fall winter; flower: rose tulip lily sunflower orchid daisy; plant: tree flower herb succulent;
    accomplishment: won award finished graduated published; disaster: flood earthquake storm wildfire hurricane fire;
    skill: cook code speak; course: workshop lesson; familie: eltern mutter vater bruder schwester sohn tochter oma
    opa; haustier: hund katze hase hamster vogel; obst: apfel banane birne erdbeere; getrank: kaffee tee wein bier
    saft;
    家人: 父母 爸爸 妈妈 哥哥 弟弟 姐姐 妹妹 儿子 女儿 丈夫 妻子; 宠物: 小狗 小猫 猫咪 狗狗; 运动: 跑步 游泳 篮球 足球
    瑜伽 羽毛; 乐器: 吉他 钢琴 小提 提琴 二胡; 活动: 爬山 登山 露营 聚会 比赛 展览; 水果: 苹果 香蕉 草莓 西瓜; 情绪:
    开心 难过 焦虑 生气 压力
"""
"""What may be asked for, and what may be told of it; not the other way round."""


def table(stem: Callable[[str], str] = stem) -> dict[str, tuple[str, ...]]:
    """By a token, those that may stand for it."""
    found: dict[str, dict[str, None]] = {}
    for words in (ring.split() for ring in _SAME.split(";")):
        for word in words:
            found.setdefault(word, {}).update(dict.fromkeys(words))
    for head, _, kinds in (entry.partition(":") for entry in _KINDS.split(";")):
        found.setdefault(head.strip(), {}).update(dict.fromkeys(kinds.split()))
    stems: dict[str, dict[str, None]] = {}
    for word, others in found.items():
        stems.setdefault(_token(word, stem), {}).update(dict.fromkeys(_token(other, stem) for other in others))
    return {word: tuple(other for other in others if other != word) for word, others in stems.items()}


def _token(word: str, stem: Callable[[str], str]) -> str:
    return stem(fold(word))


RELATED: Mapping[str, tuple[str, ...]] = table()
