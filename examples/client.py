#!/usr/bin/env python3
"""A client of the Single Audit API that needs Python 3.9 or newer and nothing else.

Each command is one function, to be copied with `send` and `read_pages`.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any, NamedTuple, TypeVar
from urllib.error import HTTPError
from urllib.parse import urlencode, urlsplit
from urllib.request import Request, urlopen

API_URL = os.environ.get("API_URL", "http://localhost:8000")
APP_URL = os.environ.get("APP_URL", "http://localhost:8001")
API_KEY = os.environ.get("API_KEY", "DEMO_KEY")
PAGE_SIZE = os.environ.get("PAGE_SIZE", "20000")

TRIES = 5
TIMEOUT_SECONDS = 90
LONGEST_WAIT_SECONDS = 3600

Row = dict[str, Any]
Result = TypeVar("Result")


class Failure(Exception):
    """What ends the program with one line."""


class DataSetChanged(Exception):
    """A new data set was published since the ETag that was sent as If-Match."""


class Answer(NamedTuple):
    body: bytes
    etag: str | None


def send(request: Request) -> Answer:
    """Sends a request, and sends it again after 429; GET also after 5xx and after a lost connection."""
    is_get = request.get_method() == "GET"
    for attempt in range(1, TRIES + 1):
        wait = 2.0 ** (attempt - 1)
        try:
            with urlopen(request, timeout=TIMEOUT_SECONDS) as response:
                return Answer(response.read(), response.headers["ETag"])
        except HTTPError as error:
            with error:
                if error.code == 412:
                    raise DataSetChanged from None
                problem = f"{error.code}: {read_message(error.read())}"
            can_repeat = error.code == 429 or (is_get and error.code >= 500)
            retry_after = error.headers.get("Retry-After", "")
            if retry_after.isdecimal():
                wait = float(retry_after)
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            problem = f"no answer from {urlsplit(request.full_url).netloc}: {reason}"
            can_repeat = is_get
        if not can_repeat or attempt == TRIES or wait > LONGEST_WAIT_SECONDS:
            break
        say(f"{problem} (again in {wait:.0f} s)")
        time.sleep(wait)
    raise Failure(problem)


def read_message(body: bytes) -> str:
    try:
        return str(json.loads(body)["message"])
    except (ValueError, KeyError, TypeError):
        return body.decode("utf-8", "replace")[:200]


def ask_api(path: str, query: dict[str, str], etag: str | None = None) -> tuple[list[Row], str | None]:
    """The rows of one request, and the ETag of the data set that they are from."""
    request = Request(f"{API_URL}/{path}?{urlencode(query)}")
    # Unlike other headers, this one does not follow a redirect to another host.
    request.add_unredirected_header("x-api-key", API_KEY)
    if etag is not None:
        request.add_header("If-Match", etag)
    answer = send(request)
    return json.loads(answer.body), answer.etag


def read_pages(table: str, query: dict[str, str]) -> Iterator[list[Row]]:
    """All pages, of one data set. With a filter, `query` needs an order that ends in unique columns.

    Raises DataSetChanged when another data set is published in between: what was read must be dropped.
    """
    offset = 0
    etag: str | None = None
    while True:
        page, etag = ask_api(table, {**query, "limit": PAGE_SIZE, "offset": str(offset)}, etag)
        if not page:
            return
        yield page
        offset += len(page)


def start_again_on_change(work: Callable[[], Result]) -> Result:
    for _ in range(TRIES):
        try:
            return work()
        except DataSetChanged:
            say("A new data set was published meanwhile. Starting again.")
    raise Failure(f"A new data set was published during each of {TRIES} tries.")


def query_reports(audit_year: str, state: str) -> list[Row]:
    """The reports of a year and a state."""
    query = {
        "select": "report_id,auditee_name,fac_accepted_date,total_amount_expended",
        "audit_year": f"eq.{audit_year}",
        "auditee_state": f"eq.{state}",
        "order": "report_id",
    }
    return start_again_on_change(lambda: [row for page in read_pages("general", query) for row in page])


def walk_table(table: str, file: str) -> int:
    """Writes all rows of a table as JSON lines. The file appears when it is complete, and is of one data set."""
    part = f"{file}.{os.getpid()}.part"

    def write_part() -> int:
        count = 0
        with open(part, "w", encoding="utf-8") as out:
            for page in read_pages(table, {}):
                out.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in page)
                count += len(page)
            out.flush()
            os.fsync(out.fileno())
        return count

    try:
        count = start_again_on_change(write_part)
        os.replace(part, file)
        return count
    finally:
        if os.path.exists(part):
            os.remove(part)


SYNC_COLUMNS = (
    "report_id",
    "fac_accepted_date",
    "audit_year",
    "auditee_uei",
    "auditee_name",
    "total_amount_expended",
)


def sync_reports(file: str) -> tuple[int, int]:
    """Brings the table `general` of a SQLite file up to date. Returns how many reports are new, and how many are there.

    Asks for what was accepted on the last day that is stored or later, since that day may have had more reports
    than were published then. All or nothing, and the same if it is done twice.

    A report that was superseded, suppressed or changed since, or was published late with an earlier date, is not
    noticed: compare the report_ids with those of `walk general` now and then, or delete the file and sync anew.
    """
    with closing(sqlite3.connect(file)) as database:
        database.execute(
            f"create table if not exists general ({', '.join(SYNC_COLUMNS)}, primary key (report_id))"
        )

        def count() -> int:
            return int(database.execute("select count(*) from general").fetchone()[0])

        def update() -> None:
            (last,) = database.execute("select max(fac_accepted_date) from general").fetchone()
            query = {
                "select": ",".join(SYNC_COLUMNS),
                # A suppressed report has no date for keys without Tribal access, and so never comes.
                "fac_accepted_date": f"gte.{last or '1900-01-01'}",
                "order": "fac_accepted_date,report_id",
            }
            with database:
                for page in read_pages("general", query):
                    database.executemany(
                        f"insert or replace into general values ({', '.join('?' * len(SYNC_COLUMNS))})",
                        ([row[column] for column in SYNC_COLUMNS] for row in page),
                    )

        before = count()
        start_again_on_change(update)
        after = count()
        return after - before, after


def download_report(report_id: str, file: str) -> Row:
    """Gets a report's PDF, which takes a Tribal key, in three steps. Returns its submission."""
    # 1. The submission; 404 if there is no such report.
    [submission], _ = ask_api("general", {"report_id": f"eq.{report_id}"})

    # 2. A one-time access_uuid, valid for a minute.
    request = Request(
        f"{API_URL}/rpc/request_file_access",
        data=json.dumps({"report_id": report_id}).encode(),
        headers={"Content-Type": "application/json", "Content-Profile": "admin_api_v1_1_0"},
        method="POST",
    )
    request.add_unredirected_header("x-api-key", API_KEY)
    access_uuid = json.loads(send(request).body)["access_uuid"]

    # 3. A redirect to a signed address. The access_uuid is all that it takes: no key is sent.
    pdf = send(Request(f"{APP_URL}/dissemination/report/pdf/ota/{access_uuid}")).body
    if not pdf.startswith(b"%PDF-"):
        raise Failure("What was downloaded is not a PDF.")
    part = f"{file}.{os.getpid()}.part"
    try:
        with open(part, "wb") as out:
            out.write(pdf)
        os.replace(part, file)
    finally:
        if os.path.exists(part):
            os.remove(part)
    return submission


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description="A client of the Single Audit API.",
        epilog="Environment: API_URL, APP_URL, API_KEY (DEMO_KEY), PAGE_SIZE (20000, at most).",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    query = commands.add_parser("query", help="print the reports of a year and a state as JSON lines")
    query.add_argument("audit_year")
    query.add_argument("state")
    walk = commands.add_parser("walk", help="write a whole table to a file of JSON lines")
    walk.add_argument("table")
    walk.add_argument("file")
    sync = commands.add_parser("sync", help="add the reports accepted since the last time to a SQLite file")
    sync.add_argument("file")
    download = commands.add_parser("download", help="get a report's PDF (with a Tribal key)")
    download.add_argument("report_id")
    download.add_argument("file")
    options = parser.parse_args()
    if not PAGE_SIZE.isdecimal() or not 1 <= int(PAGE_SIZE) <= 20_000:
        raise Failure("PAGE_SIZE must be a number from 1 to 20000.")

    if options.command == "query":
        for row in query_reports(options.audit_year, options.state):
            print(json.dumps(row))
    elif options.command == "walk":
        say(f"{walk_table(options.table, options.file)} rows in {options.file}.")
    elif options.command == "sync":
        new, total = sync_reports(options.file)
        say(f"{new} new reports, {total} in {options.file}.")
    else:
        submission = download_report(options.report_id, options.file)
        say(f"{submission['report_id']} of {submission['auditee_name']} is in {options.file}.")


if __name__ == "__main__":
    try:
        main()
    except (Failure, OSError, sqlite3.Error) as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
