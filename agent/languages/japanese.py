"""Japanese: what Daybook says in it, and the words that it understands."""

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

_KEEP = r"(?:覚え|おぼえ|憶え)"
_DO = r"(?:ください|下さい|くれ|ほしい|欲しい|もらえ|いただ|頂|ちょうだい|頂戴|ね|よ|な(?!い|く|か)|おい|おき|おけ)"
_CHINESE_OR_KANA = r"(?:記憶|記録|メモ|暗記|保存)"

JAPANESE = LanguageTable(
    language=Language.JAPANESE,
    spaced=False,
    reminders=ReminderStrings(
        late="遅くなってすみません。予定は{due}でした。",
        missed="時間どおりにお知らせできなかったもの：",
        more="ほか {number} 件（`/jobs` で確認できます）",
        done="完了",
        in_10_minutes="10分後",
        in_an_hour="1時間後",
        tomorrow="明日",
        is_done="完了しました。",
        again="{when} にもう一度お知らせします。",
        set="{when} にお知らせします。",
        set_again="繰り返しお知らせします。次は {when} です。",
        asks_hour="何時にしますか？",
        what="何をお知らせしますか？",
        unclear="いつのことか分かりません。日にちと時刻と内容を教えてください。例：「明日の15時にアンナに電話」「平日の8時にビタミン」。",
        past="{when} はもう過ぎています。",
        cancel="取り消す",
        cancelled="取り消しました：{task}",
        nothing_due="リマインダーはありません。",
        none_about="「{task}」のリマインダーはありません。",
        which="どれですか？",
        timer="時間です",
        wake="起きる時間です",
    ),
    chat=ChatStrings(
        nothing_said="{day}は静かでした。メッセージも、期限の来た用件もありません。",
        undelivered="メッセージを一つ届けられませんでした（{why}）。もう一度聞くか、`/export` で確認してください。",
        working="⏳ 作業中：{task}",
        login="**{name}** を使うにはログインが必要です：[{host}]({link})\n\n"
        "リンクは一度だけ、一時間以内に使えます。"
        "私が別のコンピューターで動いているためにブラウザーが開けないページで止まったら、"
        "そのページのアドレスをコピーして、私のページの「ステータス」か、"
        "ターミナルの `daybook mcp login {name}` に貼り付けてください。",
        logged_in="**{name}** にログインしました（{host}）。ツールは {count} 個です。もう一度頼んでください。",
        login_failed="**{name}** へのログインに失敗しました：{why}。",
    ),
    approvals=ApprovalStrings(
        effects=EffectStrings(
            send="これを {target} に送る",
            write="これを {target} に書く",
            write_common="{target} を変更する（ほかの人も含め、すべてのチャットで読まれます）",
            write_skill="スキル {target} を書く（ほかの人も含め、すべてのチャットで使われます）",
            add_job="{target} 向けにこのジョブを追加する",
            remove_job="{target} 向けのこのジョブを削除する",
            fetch="{target} を開く",
            search="ウェブで {target} を検索する",
            draw="{target} で画像を作る",
            run="{target} を動かす",
            use_tool="ツール {target} を使う",
            use_new_tool="ツール {target} を初めて使う（ツール自身の説明は下にあります）",
            use_changed_tool="ツール {target}（説明が最初に使ったときから変わっています）を使う",
        ),
        question="**「{what}」を実行してもいいですか？**",
        because="確認するのは、あなたのものではない文章を読んだためです：{source}。",
        because_line="確認するのは、あなたのものではない文章を読んだためです：{source}「{line}」。",
        private="あなたの非公開のメモの一行が含まれています：「{line}」。",
        asked_in="{chat} で頼まれました。",
        good_for="「はい」と答えるまで何もしません。この件だけに有効です。24時間以内に答えてください。",
        yes="はい",
        no="いいえ",
        done="承認されたので実行しました：{what}。",
        refused="実行していません：{what}。",
        changed="お尋ねした後に状況が変わったため、何もしませんでした：{what}。",
        failed="うまくいきませんでした（{why}）：{what}。",
        none_open="「はい」を待っているものはありません。",
        listed="「はい」を待っているもの：",
        left_out="［ここで {number} 文字を省略しました。全文は下のファイルにあります］",
        once="今回だけ",
        always="いつも",
        lasting="「いつも」を選ぶと、`{words}` で始まるものは、"
        "そのファイルが変わらないかぎり、これからは確認せずに実行します。",
        with_network="ネットワークを使います。",
        no_sandbox="このコンピューターにはサンドボックスがありません。私が読み書きできるものはすべて読み書きできます。",
        as_root="root で動いているため、サンドボックスは効きません。このコンピューターのすべてを読み書きできます。",
        for_conversation="24時間以内に「はい」と言われないかぎり行いません。「はい」は、この会話でそこへ送るものすべてに有効"
        "です。あなたの私的な記憶の行については、あらためて尋ねます。",
        for_tool="24時間以内に「はい」と言われないかぎり行いません。「はい」は、ツールの説明がこのままであるかぎり有"
        "効です。あなたの私的な記憶の行については、あらためて尋ねます。",
        started="承認されました：{what}。結果が出たらお知らせします。",
        allowed="確認せずに実行するもの：",
        ask_again="また確認する：{words}",
        asks_again="これからは `{words}` を実行する前に確認します。",
    ),
    programs=ProgramStrings(
        ended="`{command}` が終わりました。",
        failed="`{command}` がエラーで終わりました（終了コード {code}）。",
        late="`{command}` は時間がかかりすぎたため、終了させました。",
        stopped="`{command}` を止めました。",
        limited="`{command}` はメモリー、ディスク、プロセスのいずれかを使いすぎたため、終了させました。",
        refused="`{command}` を起動できませんでした（{why}）。",
        lost="私が再起動したとき、`{command}` も終わりました。途中までかもしれません。もう一度は実行していません。",
    ),
    journal=JournalStrings(
        assistant="アシスタント",
        left_out="（抜粋：ほかの {number} 件のメッセージは省略しました）",
        gap="（欠落：この会話の {number} 行が読めません。）",
        gaps="（欠落：この会話の {number} 行が読めません。）",
        from_here="（ここから抜粋：日誌が一日に読むのは、一つの会話につき {number} トークンまでです。）",
    ),
    offline=OfflineStrings(
        greeting="こんにちは！",
        offline=(
            "Daybook のオフラインアシスタントです。メモを取ったり探したりできますが、"
            "言語モデルにはまだ接続されていません。"
            "ページの「設定」（`daybook web` で開きます）か `daybook init` で接続できます。"
            "`{env}` に `ANTHROPIC_API_KEY=…` と書いて再起動する方法もあります。"
        ),
        abilities=(
            "話してくれたことは書き留めます。質問すると、メモから探します。「明日の3時に母に電話するようリマインドして」で"
            "リマインダーを設定し、「明日の予定は？」で一覧を、「今日は何をメモした？」で今日のログを表示します。"
        ),
        needs_model="言語モデルがないと、それはできません。ページの設定で接続できます。",
        welcome="どういたしまして。",
        noted="{path} に書きました：",
        found="メモの中にこれが見つかりました：",
        nothing="「{query}」についてのメモは見つかりませんでした。",
        today="今日のログ、{path}：",
        today_empty="今日のログはまだ空です。",
        failed="うまくいきませんでした：{why}",
        no_tool="このチャットではそれはできません。",
        empty="読めるのは文字だけですが、このメッセージには文字がありません。",
        unseen="メッセージに付いていたものは保存しましたが、言語モデルがないと中身を見られません。",
        command="`{command}` だけを送ってください。それでできます。",
    ),
    moments=MomentStrings(
        today="今日",
        tomorrow="明日",
        yesterday="昨日",
        dated="{month}{day}日（{weekday}）",
        with_year="{year}年{month}{day}日（{weekday}）",
        at="{day} {time}",
        weekdays="月 火 水 木 金 土 日",
        months="1月 2月 3月 4月 5月 6月 7月 8月 9月 10月 11月 12月",
    ),
    yes="はい|ええ|うん",
    no="いいえ|やめて",
    intents=IntentWords(
        greeting="こんにちは|こんばんは|おはよう|おはようございます|はじめまして",
        thanks="ありがとう|ありがとうございます|どうも",
        help="ヘルプ|あなたは誰|あなたは誰ですか|何ができますか|何ができる",
        remember="覚えて|メモして|忘れないで|記録して|書いておいて",
        today="今日|きょう|本日",
        log="ログ|日記|メモ|記録|書いた|書きました|話した|あった|ありました|した|しました|出来事|見せて",
        asking="何|なに|誰|いつ|どこ|どう|なぜ|どれ|いくつ|教えて|探して|ですか|ますか|でしたか|ましたか|だっけ",
        filler="私の|私|あなた|ください|です|でした|は|が|を|の|に|か|って|と|も",
        telltale="",
    ),
    commands=CommandPatterns(
        remind=r"(?P<rest>.+?)(?:を|と|って|ように)?(?:リマインド|思い出させて|知らせて)(?:して)?(?:ください|下さい|ね)?",
        forget=r"(?P<rest>.+?)(?:のことは|のことを|は|を)忘れて(?:ください|下さい|ね)?",
        undo="(?:それを|これを|さっきのを)?(?:元に戻して|取り消して)(?:ください|下さい)?",
        that="それ|これ",
    ),
    remember=RememberPatterns(
        asks=rf"(?P<ask>{_KEEP}(?:て(?:{_DO}|て(?:{_DO}|[。！!、,：:\s]|$)|[。！!、,：:\s]|$)|と(?:いて|け)|なさい)"
        rf"|{_CHINESE_OR_KANA}(?:を)?(?:して|し|っ|取って|とって)(?:{_DO}|と(?:いて|け)|[。！!、,：:\s]|$)"
        r"|(?:書き留め|書きとめ|控え)て(?!い|る|た|ない)|書いて(?:おいて|おけ|といて)|書いといて|忘れ(?:ないで|ないよう|るな(?!ら)|ないでね)|お忘れなく)"
        r"(?!.{0,4}(?:と(?:言|いっ|頼|書)|って(?:言|いっ|頼)))(?!(?:いて|て|)?(?:い|る|た)(?:ますか|る[？?]))",
        requests=rf"(?P<ask>{_KEEP}て(?:おいて)?(?:もらえ|くれ(?:ます|る|ない)|いただけ|ほしい|欲しい)"
        rf"|{_CHINESE_OR_KANA}(?:して|しておいて)(?:もらえ|くれ(?:ます|る|ない)|いただけ|ほしい))",
        refuses=rf"(?:{_KEEP}(?:て(?:おか|か)?)?|(?:{_CHINESE_OR_KANA}(?:を)?し(?:て(?:おか)?)?)|書(?:か|いておか))(?:なくて|ないで|なくても|ないように|る必要)"
        rf"|{_KEEP}る(?:な(?!ら)|必要(?:は|が)?な)|忘れて(?:ください|くれ|いい|よい|ね|。|$)",
        confirms="ね",
        instead="でも|けど|だけど",
    ),
    common=CommonWords(
        grammar="",
        small_talk="""
    から した して この その です ます まで ください 今日 何か 明日 昨日 大丈 丈夫 元気 最高 本当 面白 疲れ 了解 一緒
    時間 残念 綺麗 可愛 嬉し 楽し 眠い 天気 週末 今朝 今夜 今晩 今週 昨夜 笑っ 笑い 草草 失礼 承知 お願 願い 感謝 気分
    気持 全然 多分 絶対 確か 確認 先日 後で 少々 少し
""",
    ),
    dates=DateWords(
        months="",
        weekdays="",
        numbers="一, 二, 三, 四, 五, 六, 七, 八, 九, 十, 十一, 十二",
        day="日",
        week="週 週間",
        month="月 ヶ月 か月 カ月 ケ月 ヵ月 箇月",
        year="年",
        seasons="春, 夏, 秋, 冬",
        parts="上旬|初旬|初, 中旬, 下旬|末",
        ordinals="第一 第1 最初, 第二 第2, 第三 第3, 第四 第4, 第五 第5",
        last="最後",
        weekend="週末",
        week_name="週",
        past=PastPatterns(
            days=("今日|今朝|きょう", "(?<!一)昨日|昨夜|きのう", "一昨日|おととい"),
            weekends=("", "先週末"),
            weeks=("今週", "先週", "先々週"),
            months=("今月", "先月", "先々月"),
            years=("今年", "昨年", "一昨年|おととし"),
            short_ago=(("半年前", 6, 30),),
        ),
        relations=RelationWords(
            before="前",
            after="後",
            since="以来 から 以降",
            until="まで",
            and_="と",
            to="から",
        ),
        feasts={
            "new_years_day": "元日",
            "new_year_days": "正月, お正月",
            "valentine": "バレンタイン, バレンタインデー",
            "golden_week": "ゴールデンウィーク",
            "obon": "お盆",
            "halloween": "ハロウィン, ハロウィーン",
            "christmas_eve": "クリスマスイブ, クリスマス・イブ",
            "christmas": "クリスマス",
            "new_years_eve": "大晦日",
            "mothers_day": "母の日",
            "fathers_day": "父の日",
            "thanksgiving": "感謝祭",
            "easter": "イースター, 復活祭",
            "chinese_new_year": "旧正月",
            "mid_autumn": "十五夜, 中秋",
            "ramadan": "ラマダン",
        },
    ),
)
