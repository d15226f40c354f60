"""Chinese: what Daybook says in it, and the words that it understands."""

from __future__ import annotations

from agent.languages.codes import Language
from agent.languages.table import (
    ApprovalStrings,
    ChatStrings,
    CommandPatterns,
    CommonWords,
    DateWords,
    EffectStrings,
    IntentWords,
    JournalStrings,
    LanguageTable,
    MomentStrings,
    OfflineStrings,
    PastPatterns,
    ProgramStrings,
    RelationWords,
    RememberPatterns,
    ReminderStrings,
)

_NOT = r"(?:不要|别|別|不用|不必|无需|無需|没必要|不需要|请勿|勿|不想让?你|不许|甭)"
_WRITE = (
    r"(?:记住|記住|记下|記下|记一下|記一下|记得|記得|记着|記著|记录|記錄|牢记|牢記"
    r"|写下|寫下|写进|存下|存到|保存|备忘|備忘)"
)
_START = (
    r"(?:^|[,，。、;；:：!！\s]|请你?|請你?|帮我|幫我|给我|麻烦你?"
    r"|一定要|务必|你?要|你?得|可要|也|再|然后|还有|就|顺便|daybook)"
)
_BETWEEN = r"(?:再|帮我|给我|替我|你|去|费心|特意){0,6}"

CHINESE = LanguageTable(
    language=Language.CHINESE,
    spaced=False,
    reminders=ReminderStrings(
        late="抱歉，晚了：原定{due}。",
        missed="这些没能按时提醒你：",
        more="还有 {number} 条（见 `/jobs`）",
        done="完成",
        in_10_minutes="10 分钟后",
        in_an_hour="1 小时后",
        tomorrow="明天",
        is_done="已完成。",
        again="我会在{when} 再提醒你。",
        set="我会在{when} 提醒你。",
        set_again="我会定期提醒你，下一次在{when}。",
        asks_hour="几点？",
        what="要我提醒你什么？",
        unclear="我不明白是什么时候。请告诉我日期、时间和事情，例如“明天下午三点给安娜打电话”或“每个工作日早上八点吃维生素”。",
        past="{when} 已经过去了。",
        cancel="取消",
        cancelled="已取消：{task}",
        nothing_due="没有设置提醒。",
        none_about="没有关于“{task}”的提醒。",
        which="是哪一个？",
        timer="时间到了",
        wake="该起床了",
    ),
    chat=ChatStrings(
        nothing_said="{day}这里很安静：没有消息，也没有到期的事。",
        undelivered="我有一条消息没能发到这里（{why}）。请再问我一次，或用 `/export` 查看。",
        working="⏳ 正在处理：{task}",
        login="要使用 **{name}**，需要你先登录：[{host}]({link})\n\n"
        "链接只能用一次，一小时内有效。如果浏览器最后停在打不开的页面（因为我在另一台电脑上运行），"
        "请复制那个页面的地址，粘贴到我的网页的“状态”里，或终端的 `daybook mcp login {name}` 中。",
        logged_in="已登录 **{name}**（{host}），共有 {count} 个工具。请再说一次你的要求。",
        login_failed="登录 **{name}** 没有成功：{why}。",
    ),
    approvals=ApprovalStrings(
        effects=EffectStrings(
            send="把这个发给 {target}",
            write="把这个写进 {target}",
            write_common="修改 {target}（每个聊天都会读到，包括别人的）",
            write_skill="写入技能 {target}（会在每个聊天里生效，包括别人的）",
            add_job="为 {target} 添加这个任务",
            remove_job="删除 {target} 的这个任务",
            fetch="打开 {target}",
            search="在网上搜索 {target}",
            draw="让 {target} 生成图片",
            run="运行 {target}",
            use_tool="使用工具 {target}",
            use_new_tool="首次使用工具 {target}（它的说明见下）",
            use_changed_tool="使用工具 {target}（它的说明与首次使用时不同）",
        ),
        question="**我可以{what}吗？**",
        because="先问一下，因为我读到了不是你写的内容：{source}。",
        because_line="先问一下，因为我读到了不是你写的内容：{source}，“{line}”。",
        private="其中有一行来自你的私人记忆：“{line}”。",
        asked_in="这个请求来自 {chat}。",
        good_for="你不同意，我就什么都不做。同意只对这一件事有效，请在 24 小时内回答。",
        yes="同意",
        no="不同意",
        done="已同意并完成：{what}。",
        refused="没有做：{what}。",
        changed="提问之后情况变了，所以我什么都没做：{what}。",
        failed="没有成功（{why}）：{what}。",
        none_open="现在没有等你同意的事。",
        listed="这些在等你同意：",
        left_out="［此处省略 {number} 个字符；全文在下面的文件里］",
        once="仅此一次",
        always="总是",
        lasting="“总是”表示：以后凡是以 `{words}` 开头的命令，只要其中的文件没有改变，我都不再询问。",
        with_network="它要使用网络。",
        no_sandbox="这台电脑上没有沙箱：我能读取和修改的，它都能。",
        as_root="我以 root 身份运行，没有沙箱能限制它：这台电脑上的一切它都能读取和修改。",
        for_conversation="没有你在 24 小时内的同意，我不会这样做。同意后，这次对话中发往那里的内容都算在内；涉及你"
        "私人记忆的内容我会再问。",
        for_tool="没有你在 24 小时内的同意，我不会这样做。只要这个工具的说明不变，你的同意就一直有效；涉及你私人记"
        "忆的内容我会再问。",
        started="已同意：{what}。有结果我会告诉你。",
        allowed="这些我不询问就运行：",
        ask_again="重新询问：{words}",
        asks_again="以后运行 `{words}` 之前我会重新询问。",
    ),
    programs=ProgramStrings(
        ended="`{command}` 已结束。",
        failed="`{command}` 出错结束（退出码 {code}）。",
        late="`{command}` 用时太长，我已将它结束。",
        stopped="`{command}` 已停止。",
        limited="`{command}` 占用的内存、磁盘或进程太多，我已将它结束。",
        refused="无法启动 `{command}`（{why}）。",
        lost="我重启时 `{command}` 也结束了。它可能只完成了一部分，我没有再次运行。",
    ),
    journal=JournalStrings(
        assistant="助手",
        left_out="（摘录：另有 {number} 条消息未显示）",
        gap="（缺口：这次对话有 {number} 行无法读取。）",
        gaps="（缺口：这次对话有 {number} 行无法读取。）",
        from_here="（以下为摘录：日志每天最多读取一次对话的 {number} 个词元。）",
    ),
    offline=OfflineStrings(
        greeting="你好！",
        offline=(
            "我是 Daybook 的离线助手：能帮你记笔记、找笔记，但还没有连接语言模型。可以在网页的“设置”里连接"
            "（`daybook web` 会打开网页），或运行 `daybook init`，"
            "或在 `{env}` 中写入 `ANTHROPIC_API_KEY=…` 后重新启动。"
        ),
        abilities=(
            "告诉我的事我会记下来；问我，我就在你的笔记里找。“明天下午三点提醒我给妈妈打电话”会设置提醒，“我明天有什么安"
            "排？”会列出提醒，“我今天记了什么？”会显示今天的日志。"
        ),
        needs_model="没有语言模型，这个我做不了。可以在网页的设置里连接一个。",
        welcome="不客气。",
        noted="已记在 {path}：",
        found="我在你的笔记里找到了这些：",
        nothing="你的笔记里没有关于“{query}”的内容。",
        today="今天的日志，{path}：",
        today_empty="今天的日志还是空的。",
        failed="没有成功：{why}",
        no_tool="我在这个聊天里做不到。",
        empty="我只能读文字，而这条消息里没有文字。",
        unseen="随消息发来的内容我保存好了，但没有语言模型，我看不了。",
        command="单独发送 `{command}` 就行了。",
    ),
    moments=MomentStrings(
        today="今天",
        tomorrow="明天",
        yesterday="昨天",
        dated="{month}{day}日{weekday}",
        with_year="{year}年{month}{day}日{weekday}",
        at="{day} {time}",
        weekdays="星期一 星期二 星期三 星期四 星期五 星期六 星期日",
        months="1月 2月 3月 4月 5月 6月 7月 8月 9月 10月 11月 12月",
    ),
    yes="是|是的|好|好的|可以|同意",
    no="不|不要|不是|取消|别|不同意",
    intents=IntentWords(
        greeting="你好|您好|早上好|下午好|晚上好|嗨",
        thanks="谢谢|多谢|谢谢你|好的|好",
        help="帮助|你是谁|你能做什么|你会什么|你会做什么",
        remember="记住|记下|记一下|请记|别忘|不要忘|记得要",
        today="今天|今日",
        log="日志|日记|记录|笔记|记了|记下了|记|发生了|发生|写了|说了|做了|显示|给我看|看看|看",
        asking="什么|谁|哪|怎么|为什么|多少|几点|几号|吗|呢|查|找",
        filler="哪里|哪儿|哪个|我的|我们|我|你|是|在|的|了|请|知道|记得|告诉我|告诉|查一下|找一下|有没有|有|叫|都|些|给|一下",
        telltale="",
    ),
    commands=CommandPatterns(
        remind=r"请?(?P<when>[^，。！？]{0,30}?)提醒我们?[，,：: ]?(?P<rest>.*)",
        forget=r"(?:请忘记|请忘掉|忘掉)(?:关于)?(?P<rest>.+?)(?:的事情?)?吧?",
        undo="(?:请)?撤[销消回](?:刚才的|上一个|那个|它)?",
        that="那个|这个",
    ),
    remember=RememberPatterns(
        asks=rf"{_START}(?P<ask>{_WRITE}|写下来|(?:把|将).{{1,40}}?(?:{_WRITE}|写下来|记|存))(?!了吗|了嗎|了没)"
        r"|(?P<forget>(?:别|別|不要|勿|莫|不能|可别)(?:再)?忘)",
        requests=rf"(?:能不能|能否|可不可以|可以|能|会不会|麻烦你?)(?:请|帮我|给我|替我|你|也){{0,3}}"
        rf"(?:把.{{1,40}}?(?:帮我|给我|替我|也){{0,2}})?(?P<ask>{_WRITE}|写下来)(?!.{{0,30}}(?:什么|什麼|谁|誰|哪|多少|几))|(?:我)?(?:想|要|希望|需要)你(?P<want>{_WRITE})",
        refuses=rf"{_NOT}{_BETWEEN}(?:把.{{0,20}}?{_BETWEEN})?(?:记(?!得)|記(?!得)|写|寫|保存|存|{_WRITE})"
        r"|(?<![别別要勿莫能])忘(?:了|掉|记)(?:它|这|那|吧|我说)",
        confirms="好吗|好嗎|好不好|可以吗|可以嗎|行吗",
        instead="而是|但是?|不过",
        reported="[说說写寫道喊]",
    ),
    common=CommonWords(
        grammar="",
        small_talk="""
    一下 今天 你们 你好 你的 什么 可以 哪里 怎么 我们 我的 时候 明天 昨天 是谁 现在 知道 记得 请问 谢谢 哈哈 嗯嗯 好的
    早上 晚上 中午 下午 早安 晚安 再见 拜拜 没事 没关 关系 算了 没错 就是 这样 那样 怎样 样子 太好 真的 真是 有趣 有意
    意思 好笑 搞笑 开心 高兴 难过 好累 累了 累啊 好困 困了 无聊 厉害 太棒 棒了 不错 可能 应该 也许 当然 其实 但是 因为
    所以 如果 而且 然后 还有 还是 或者 已经 正在 马上 等等 等一 等下 回来 来了 走了 去了 明白 理解 懂了 对不 不起 抱歉
    不好 不要 不用 不行 没有 不是 不会 不能 不知 想要 觉得 感觉 喜欢 希望 一点 有点 一些 有些 非常 特别 比较 最近 刚才
    刚刚 以后 以前 之前 之后 见面 加油 恭喜 随便 无所 所谓 天气 心情 吃饭 睡觉 睡了 起床 周末 大家 自己 事情 东西 问题
    天啊 真棒
""",
        particles="的了是我你您他她它们們吗嗎呢吧啊呀哦嘛啦么什谁誰哪几這这那在不就和也很还還又再才把被让讓给跟没沒从從而但",
    ),
    dates=DateWords(
        months="",
        weekdays="",
        numbers="一, 二 两 兩, 三, 四, 五, 六, 七, 八, 九, 十, 十一, 十二",
        day="天 日",
        week="周 週 星期 礼拜 禮拜 周间",
        month="月",
        year="年",
        seasons="春, 夏, 秋, 冬",
        parts="上旬|初, 中旬, 下旬|底|末",
        ordinals="第一 第1 首, 第二 第2, 第三 第3, 第四 第4, 第五 第5",
        last="最后一 最後",
        weekend="周末|週末",
        week_name="星期|周|週",
        past=PastPatterns(
            days=("今天|今晚|今早", "昨天|昨晚", "前天"),
            weekends=("(?:这|這)?(?:个|個)?[周週]末", "上(?:个|個)?[周週]末"),
            weeks=(
                "(?:这|這|本)(?:个|個)?(?:周|週|星期|礼拜|禮拜)(?![一二三四五六日天末])",
                "(?<!上)上(?:个|個)?(?:周|週|星期|礼拜|禮拜)(?![一二三四五六日天末])",
                "上上(?:个|個)?(?:周|週|星期|礼拜|禮拜)",
            ),
            months=("(?:这|這|本)(?:个|個)?月", "(?<!上)上(?:个|個)?月", "上上(?:个|個)?月"),
            years=("今年", "去年", r"(?<!\d)前年"),
            short_ago=(("半年前", 6, 30),),
        ),
        relations=RelationWords(
            before="前",
            after="后 後",
            since="从 從 自 以来 以來 开始 起",
            until="为止 為止",
            and_="和 跟",
            to="到 至",
        ),
        feasts={
            "new_years_day": "元旦",
            "valentine": "情人节, 情人節",
            "labour_day": "劳动节, 勞動節",
            "china_national_day": "国庆节, 國慶節, 国庆",
            "halloween": "万圣节, 萬聖節",
            "singles_day": "双十一, 雙十一",
            "christmas_eve": "平安夜, 圣诞夜",
            "christmas": "圣诞节, 聖誕節, 圣诞, 聖誕",
            "new_years_eve": "跨年",
            "mothers_day": "母亲节, 母親節",
            "fathers_day": "父亲节, 父親節",
            "thanksgiving": "感恩节, 感恩節",
            "easter": "复活节, 復活節",
            "chinese_new_year": "春节, 春節, 农历新年, 農曆新年, 过年, 過年, 大年初一",
            "chinese_new_years_eve": "除夕, 年三十, 大年三十",
            "lantern_festival": "元宵节, 元宵節",
            "dragon_boat_festival": "端午节, 端午節, 端午",
            "mid_autumn": "中秋节, 中秋節, 中秋",
            "ramadan": "斋月",
            "eid_al_fitr": "开斋节",
            "eid_al_adha": "古尔邦节",
        },
    ),
)
