"""Sums up the ctest runs of a folder: RUN.xml (ctest --output-junit), RUN.json (ctest --show-only=json-v1),
RUN.cases/*.xml (GoogleTest) and broken.txt (a failed build or check a line). The last line printed is
"N passed, N failed, N skipped"; exits 1 where anything failed or nothing passed."""

import collections
import json
import pathlib
import sys
import xml.etree.ElementTree as ElementTree

SKIPPED_BY_EXIT = "SKIP_RETURN_CODE="


def outcome_of_test(case):
    """ctest says "notrun" both of a test that skipped itself and of one whose program is missing: the latter failed."""
    if case.get("status") == "run":
        return "passed"
    skipped = case.find("skipped")
    if skipped is not None and skipped.get("message", "").startswith(SKIPPED_BY_EXIT):
        return "skipped"
    return "disabled" if case.get("status") == "disabled" else "failed"


def outcome_of_case(case):
    if case.find("failure") is not None:
        return "failed"
    return "passed" if case.get("result") == "completed" else "skipped"


def labels_of(listing):
    """Labels of each test, by name."""
    labels = {}
    for test in json.loads(listing.read_text())["tests"]:
        for item in test.get("properties", []):
            if item["name"] == "LABELS":
                labels[test["name"]] = item["value"]
    return labels


def line(counts):
    return ", ".join(f"{counts[outcome]} {outcome}" for outcome in ("passed", "failed", "skipped"))


def summarise(folder):
    total, cases_total, without_gpu = collections.Counter(), collections.Counter(), 0
    for listing in sorted(folder.glob("*.json")):
        run = listing.stem
        results = folder / f"{run}.xml"
        if not results.exists():
            tests = json.loads(listing.read_text())["tests"]
            if tests:
                print(f"{run}: ctest left no results of its {len(tests)} tests")
                total["failed"] += len(tests)
            continue
        labels = labels_of(listing)
        counts = collections.Counter()
        for test in ElementTree.parse(results).iter("testcase"):
            outcome = outcome_of_test(test)
            counts[outcome] += 1
            if outcome == "failed":
                print(f"FAILED: {run}: {test.get('name')}")
            if outcome == "skipped" and "gpu" in labels.get(test.get("name"), []):
                without_gpu += 1
        cases = collections.Counter()
        for report in sorted((folder / f"{run}.cases").glob("*.xml")):
            cases.update(outcome_of_case(case) for case in ElementTree.parse(report).iter("testcase"))
        if counts:
            print(f"{run}: {line(counts)} (test cases: {line(cases)})")
        total.update(counts)
        cases_total.update(cases)
    broken = folder / "broken.txt"
    for step in broken.read_text().splitlines() if broken.exists() else []:
        print(f"FAILED: {step}")
        total["failed"] += 1
    if total["disabled"]:
        print(f"{total['disabled']} tests are disabled")
    print(f"test cases: {line(cases_total)}")
    print(f"{without_gpu} of the skipped tests were skipped for want of a GPU")
    print(line(total))
    return 1 if total["failed"] or not total["passed"] else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: summarise_tests.py FOLDER")
    sys.exit(summarise(pathlib.Path(sys.argv[1])))
