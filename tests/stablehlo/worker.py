"""Names of files come in on the standard input, one a line; a line of JSON goes out ahead of each program and after it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.stablehlo.outcomes import outcome
from tests.stablehlo.sources import cases


def main() -> None:
    executor, skipped = sys.argv[1], set(sys.argv[2:])
    for line in sys.stdin:
        for case in cases(Path(line.strip())):
            if case.name not in skipped:
                _say(start=case.name, family=case.family)
                word, reason = outcome(case, executor)
                _say(name=case.name, family=case.family, word=word, reason=reason)


def _say(**facts: str) -> None:
    print(json.dumps(facts), flush=True)


if __name__ == "__main__":
    main()
