"""The page's own words, in both languages."""

from collections.abc import Mapping
from typing import Final

from lab.core.language import Language
from lab.harness.timeline.phrase import Phrase

_WORDS: Final[Mapping[str, Phrase]] = {
    "heading": Phrase("What came of the tests", "测试结果"),
    "failed": Phrase("failed", "失败"),
    "passed": Phrase("passed", "通过"),
    "skipped": Phrase("skipped", "跳过"),
    "all": Phrase("all", "全部"),
    "show": Phrase("Show", "显示"),
    "find": Phrase("Find", "查找"),
    "all_tests": Phrase("All tests", "全部测试"),
    "one_by_one": Phrase("One by one", "逐个查看"),
    "what_failed": Phrase("What failed", "失败的测试"),
    "failed_again": Phrase("To run what failed again:", "重新运行失败的测试："),
    "verdict": Phrase("verdict", "结果"),
    "title": Phrase("test", "测试"),
    "section": Phrase("section", "章节"),
    "seconds": Phrase("seconds", "秒"),
    "backend": Phrase("backend", "backend"),
    "again": Phrase("To run it again:", "重新运行："),
    "failure": Phrase("What failed, and how", "失败详情"),
    "reason": Phrase("Why it was skipped", "跳过原因"),
    "timeline": Phrase("How it came to its devices:", "如何得到设备："),
    "as_text": Phrase("as text", "文字版"),
    "evidence": Phrase("Evidence, in the folder", "现场证据，所在目录"),
    "cut": Phrase("bytes are left out here; all of it is in", "字节在此省略，完整内容见"),
    "not_shown": Phrase("cannot be shown", "无法显示"),
    "missing": Phrase("What could not be had", "未能收集到的"),
    "to": Phrase("to", "至"),
    "left_out": Phrase(
        "Results of earlier runs in the same folder, which --all-runs shows",
        "同一目录中先前运行的结果，未列入本页（加 --all-runs 可一并显示）",
    ),
}


def words(language: Language) -> dict[str, str]:
    """Return them in one language, by what they are for."""
    return {key: phrase.text(language) for key, phrase in _WORDS.items()}
