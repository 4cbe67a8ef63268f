#!/usr/bin/env python3
"""Runs the cases of GoogleTest programs in batches, and counts them.

    cases.py plan PROGRAM LABEL [--store NAME] --most N --timeout S --results FOLDER --output FILE.cmake
        [--alone REGEX] [--property NAME VALUE]...
    cases.py run PROGRAM BATCH --timeout S --results FOLDER CASE...
    cases.py report [--also-failed STEP]... BUILD...
    cases.py times BUILD...

`plan` is called when ctest starts. It asks a program for its cases and writes a test for each batch of them. A batch is
a process, not a case: most cases take less time than a sanitized process takes to start and to look for leaks. Cases of
different stores are in different batches; such a batch also has the label `store-NAME`.

`run` is such a test. It watches the program's output: a case that exceeds its time, or ends the process, fails, and the
rest of its batch runs in another process. What became of each case goes to FOLDER/BATCH.tsv.

`report` adds up what `script/test` left in some build folders (report.xml, which is ctest's, and cases/), prints what the
failed cases said, their names, and "N passed, M failed". `times` says where the time went: steps of the build, suites,
files, cases.
"""

import argparse
import collections
import json
import os
import pathlib
import queue
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import typing
import xml.etree.ElementTree

BEGINNING = re.compile(r"^\[ RUN      \] (\S+)")
ENDING = re.compile(r"^\[ +(OK|FAILED|SKIPPED) +\] (\S+?),? .*\((\d+) ms\)$")
TIME_FOR_EXIT = 120  # seconds; of a process whose last case has ended: leaks are looked for


def plan(arguments):
    """Writes the tests of one program for ctest."""
    groups = collections.defaultdict(list)
    files = list_cases(arguments.program)
    for case in files:
        groups[store_of(case)].append(case)
    output = pathlib.Path(arguments.output)
    output.with_suffix(".json").write_text(json.dumps(files))

    lines = []
    for store, cases in sorted(groups.items()):
        batches = batches_of(cases, arguments)
        for number, batch in enumerate(batches, 1):
            name = ".".join(filter(None, [arguments.label, store, str(number) if len(batches) > 1 else ""]))
            if arguments.most == 1:
                name = f"{arguments.label}.{batch[0].removeprefix('Store/')}"
            about = store or arguments.store
            labels = [arguments.label] + ([f"store-{about}"] if about else [])
            command = [sys.executable, os.path.abspath(__file__), "run", arguments.program, name,
                       "--timeout", str(arguments.timeout), "--results", arguments.results, *batch]
            lines.append(f"add_test({quoted([name, *command])})")
            properties = ["LABELS", ";".join(labels), "COST", str(len(batch) * arguments.timeout)]
            lines.append(f"set_tests_properties({quoted([name])} PROPERTIES {quoted(properties + arguments.property)})")
    output.write_text("\n".join(lines) + "\n")


def batches_of(cases, arguments):
    alone = [case for case in cases if arguments.alone and re.search(arguments.alone, case)]
    others = [case for case in cases if case not in alone]
    count = -(-len(others) // arguments.most)
    # Neighbours are alike, and long cases are neighbours: deal them out.
    return [others[index::count] for index in range(count)] + [[case] for case in alone]


def quoted(words):
    return " ".join(f"[==[{word}]==]" for word in words)


def list_cases(program):
    """The files in which the cases stand, by case."""
    with tempfile.TemporaryDirectory() as folder:
        answer = os.path.join(folder, "cases.json")
        subprocess.run([program, "--gtest_list_tests", f"--gtest_output=json:{answer}"], check=True,
                       stdout=subprocess.DEVNULL)
        suites = json.loads(pathlib.Path(answer).read_text())["testsuites"]
    return {f"{suite['name']}.{case['name']}": case["file"] for suite in suites for case in suite["testsuite"]}


def store_of(case):
    """The store that a case is about: what a suite for every store is instantiated with, perhaps with a peer."""
    found = re.match(r"\w*Store/.*/([a-z][a-z_]*?)(_thread|_process)?$", case)
    return found.group(1) if found else ""


class Batch:
    """The cases of one batch, and what became of them."""

    def __init__(self, arguments):
        self.program = arguments.program
        self.timeout = arguments.timeout * int(os.environ.get("HOLDFAST_CASE_TIME_FACTOR", "1"))
        self.left = list(arguments.cases)
        self.results = []  # (case, "ok" or "failed", seconds)
        self.processor_time = 0.0  # of the program and all that it has started and waited for

    def run(self):
        """Runs processes until no case is left. Returns whether all went well."""
        well = True
        while self.left:
            before = len(self.left)
            well = self.run_process() and well
            if len(self.left) == before:
                print(f"{self.program} ran none of these cases: {' '.join(self.left)}")
                self.fail_rest()
        return well and all(outcome == "ok" for _, outcome, _ in self.results)

    def run_process(self):
        process = subprocess.Popen([self.program, "--gtest_filter=" + ":".join(self.left), "--gtest_color=no"],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   text=True, errors="replace", start_new_session=True)
        lines = lines_of(process.stdout)
        running, since, deadline, printed = None, 0.0, time.monotonic() + TIME_FOR_EXIT, []
        while True:
            try:
                line = lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                os.killpg(process.pid, signal.SIGABRT)
                printed.append(f"given up: no end in sight after {self.timeout} s\n")
                deadline = time.monotonic() + TIME_FOR_EXIT
                continue
            if line is None:
                break
            printed.append(line)
            if beginning := BEGINNING.match(line):
                running, since, printed = beginning.group(1), time.monotonic(), [line]
                deadline = since + self.timeout
            elif (ending := ENDING.match(line)) and ending.group(2) == running:
                outcome = "ok" if ending.group(1) == "OK" else "failed"
                self.note(running, outcome, int(ending.group(3)) / 1000)
                if outcome != "ok":
                    print("".join(printed), flush=True)
                running, printed = None, []
                deadline = time.monotonic() + TIME_FOR_EXIT
        _, status, usage = os.wait4(process.pid, 0)
        status = process.returncode = os.waitstatus_to_exitcode(status)
        self.processor_time += usage.ru_utime + usage.ru_stime
        if running:
            print("".join(printed) + f"{running}: the process ended with {status}", flush=True)
            self.note(running, "failed", time.monotonic() - since)
        elif status not in (0, 1) or (status == 1 and all(outcome == "ok" for _, outcome, _ in self.results)):
            print("".join(printed) + f"{self.program}: all cases ended, then the process did, with {status}", flush=True)
            return False
        return True

    def note(self, case, outcome, seconds):
        self.left.remove(case)
        self.results.append((case, outcome, seconds))

    def fail_rest(self):
        for case in list(self.left):
            self.note(case, "failed", 0.0)


def lines_of(stream):
    """A queue of a stream's lines; None is its end."""
    lines = queue.Queue()

    def read():
        for line in stream:
            lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    return lines


def run(arguments):
    batch = Batch(arguments)
    well = batch.run()
    results = list(batch.results)
    if not well and all(outcome == "ok" for _, outcome, _ in results):
        results.append((f"{arguments.batch}.EndsInOrder", "failed", 0.0))
    file = results_of(arguments.results, arguments.batch)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{case}\t{outcome}\t{seconds:.3f}\n" for case, outcome, seconds in results))
    file.with_suffix(".seconds").write_text(f"{batch.processor_time:.3f}\n")
    return 0 if well else 1


def results_of(folder, batch):
    return pathlib.Path(folder) / f"{batch.replace('/', '-')}.tsv"


class Outcome(typing.NamedTuple):
    """What became of one case."""

    preset: str
    suite: str
    case: str
    outcome: str
    seconds: float
    said: str  # if it failed


def outcomes_of(build):
    """Of all cases of one preset: those of the batches, and ctest's own tests."""
    preset = build.name
    report = build / "report.xml"
    if not report.exists():
        return
    for test in xml.etree.ElementTree.parse(report).getroot().iter("testcase"):
        name = test.get("name")
        suite = re.split(r"[.-]", name)[0]
        ended_well = test.get("status") == "run"
        said = "" if ended_well else test.findtext("system-out") or "it said nothing"
        results = results_of(build / "cases", name)
        if not results.exists():
            yield Outcome(preset, suite, name, "ok" if ended_well else "failed", float(test.get("time")), said)
            continue
        for line in results.read_text().splitlines():
            case, outcome, seconds = line.split("\t")
            yield Outcome(preset, suite, case, outcome, float(seconds), said)
            said = ""  # once for a batch is enough


def report(arguments):
    passed, failures, said = 0, list(arguments.also_failed), []
    for build in arguments.builds:
        for outcome in outcomes_of(build):
            if outcome.said:
                said.append(outcome.said)
            if outcome.outcome == "ok":
                passed += 1
            else:
                failures.append(f"{outcome.preset}: {outcome.suite}: {outcome.case}")
    for text in said:
        print("\n".join(text.splitlines()[-60:]) + "\n")
    for failure in failures:
        print(f"failed: {failure}")
    print(f"{passed} passed, {len(failures)} failed")
    return 1 if failures else 0


def times(arguments):
    for build in arguments.builds:
        steps = build_steps(build)
        print_table(f"{build.name}: the build's steps, s", steps, 12)
        outcomes = list(outcomes_of(build))
        files = {}
        for listing in build.rglob("*_batches.json"):
            files |= json.loads(listing.read_text())
        for title, key, most in (
            ("suites", lambda outcome: outcome.suite, 30),
            ("stores", lambda outcome: store_of(outcome.case) or "none", 30),
            ("files", lambda outcome: short(files.get(outcome.case, "no C++ file")), 15),
            ("cases", lambda outcome: outcome.case, 15),
        ):
            groups = collections.defaultdict(list)
            for outcome in outcomes:
                groups[key(outcome)].append(outcome.seconds)
            print_table(f"{build.name}: {title}, s", groups, most)
        print_table(f"{build.name}: processor time of suites on stores, s", processor_times(build), 40)


def processor_times(build):
    """Of all batches of a suite on a store. Servers that several batches share are not part of it."""
    groups = collections.defaultdict(list)
    for file in (build / "cases").glob("*.seconds"):
        groups[re.sub(r"\.\d+$", "", file.stem)].append(float(file.read_text()))
    return groups


def build_steps(build):
    """Of ninja's log: how long the last making of each file took."""
    steps = {}
    log = build / ".ninja_log"
    for line in log.read_text().splitlines()[1:] if log.exists() else []:
        begin, end, _, output, *_ = line.split("\t")
        steps[short(output)] = [(int(end) - int(begin)) / 1000]
    return steps


def short(path):
    return re.sub(r"^.*?/(?=(tests|src|bench|examples)/)|CMakeFiles/[^/]*\.dir/", "", path)


def print_table(title, groups, most):
    total = sum(sum(seconds) for seconds in groups.values())
    print(f"\n{title} (together {total:.0f})")
    for name, seconds in sorted(groups.items(), key=lambda group: -sum(group[1]))[:most]:
        count = f"{len(seconds):5d} x" if len(seconds) > 1 else " " * 7
        print(f"{sum(seconds):9.1f} {count} {name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    commands = parser.add_subparsers(required=True)

    planning = commands.add_parser("plan")
    planning.add_argument("program")
    planning.add_argument("label")
    planning.add_argument("--store", help="which cases that name no store are about")
    planning.add_argument("--most", type=int, required=True)
    planning.add_argument("--alone", metavar="REGEX", help="cases that need a process of their own")
    planning.add_argument("--timeout", type=int, required=True)
    planning.add_argument("--results", required=True)
    planning.add_argument("--property", nargs=2, action="extend", default=[])
    planning.add_argument("--output", required=True)
    planning.set_defaults(command=plan)

    running = commands.add_parser("run")
    running.add_argument("program")
    running.add_argument("batch")
    running.add_argument("--timeout", type=int, required=True)
    running.add_argument("--results", required=True)
    running.add_argument("cases", nargs="+")
    running.set_defaults(command=run)

    reporting = commands.add_parser("report")
    reporting.add_argument("--also-failed", action="append", default=[])
    reporting.add_argument("builds", nargs="+", type=pathlib.Path)
    reporting.set_defaults(command=report)

    timing = commands.add_parser("times")
    timing.add_argument("builds", nargs="+", type=pathlib.Path)
    timing.set_defaults(command=times)

    arguments = parser.parse_args()
    return arguments.command(arguments) or 0


if __name__ == "__main__":
    sys.exit(main())
