#!/usr/bin/env python3
"""A client of the Single Audit API. Needs only Python 3.9 or newer.

Each command is a function. To use one in your own program, copy it with the functions that it calls.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import http.client
import io
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
# The version of the API that this program was written for.
API_VERSION = "v1_1_0"

TRIES = 5
TIMEOUT_SECONDS = 90
LONGEST_WAIT_SECONDS = 3600

Row = dict[str, Any]
Result = TypeVar("Result")


class Failure(Exception):
    """Ends the program with one line."""


class DataSetChanged(Exception):
    """A new data set was published after the ETag that was sent as If-Match."""


class Answer(NamedTuple):
    body: bytes
    etag: str | None
    # "0-19999/*", or "*/*" past the end.
    content_range: str
    data_set: str


def send(request: Request) -> Answer:
    """Sends a request. Retries after 429, and GET requests also after 5xx and after a lost connection."""
    is_get = request.get_method() == "GET"
    for attempt in range(1, TRIES + 1):
        wait = 2.0 ** (attempt - 1)
        try:
            with urlopen(request, timeout=TIMEOUT_SECONDS) as response:
                headers = response.headers
                # "<id>"; published="<time>"
                data_set = headers.get("Data-Set", "").split(";")[0].strip('"')
                return Answer(response.read(), headers["ETag"], headers.get("Content-Range", ""), data_set)
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
            problem = f"no response from {urlsplit(request.full_url).netloc}: {reason}"
            can_repeat = is_get
        if not can_repeat or attempt == TRIES or wait > LONGEST_WAIT_SECONDS:
            break
        say(f"{problem} (again in {wait:.0f} s)")
        time.sleep(wait)
    raise Failure(problem)


def read_message(body: bytes) -> str:
    try:
        error = json.loads(body)
        return " ".join(filter(None, [str(error["message"]), error.get("hint")]))
    except (ValueError, KeyError, TypeError):
        return body.decode("utf-8", "replace")[:200]


def ask_api(
    path: str, query: dict[str, str], etag: str | None = None, accept: str = "application/json"
) -> Answer:
    """Sends one request to the API."""
    headers = {"Accept": accept, "Accept-Profile": f"api_{API_VERSION}"}
    request = Request(f"{API_URL}/{path}?{urlencode(query)}", headers=headers)
    # Unlike other headers, this one is not sent to a redirect's target.
    request.add_unredirected_header("x-api-key", API_KEY)
    if etag is not None:
        request.add_header("If-Match", etag)
    return send(request)


def read_pages(table: str, query: dict[str, str], accept: str = "application/json") -> Iterator[Answer]:
    """Reads all pages from one data set. With a filter, `query` needs an order that ends with unique columns.

    Raises DataSetChanged if another data set is published in between: discard the rows read so far.
    """
    offset = 0
    etag: str | None = None
    while True:
        page = ask_api(table, {**query, "limit": PAGE_SIZE, "offset": str(offset)}, etag, accept)
        rows = page.content_range.split("/")[0]
        if rows == "*":
            return
        yield page
        offset = int(rows.split("-")[1]) + 1
        etag = page.etag


def start_again_on_change(work: Callable[[], Result]) -> Result:
    for _ in range(TRIES):
        try:
            return work()
        except DataSetChanged:
            say("A new data set was published. Starting again.")
    raise Failure(f"A new data set was published during each of {TRIES} tries.")


def query_reports(audit_year: str, state: str) -> list[Row]:
    """The reports of a year and a state."""
    query = {
        "select": "report_id,auditee_name,fac_accepted_date,total_amount_expended",
        "audit_year": f"eq.{audit_year}",
        "auditee_state": f"eq.{state}",
        "order": "report_id",
    }
    return start_again_on_change(
        lambda: [row for page in read_pages("general", query) for row in json.loads(page.body)]
    )


def walk_table(table: str, file: str) -> None:
    """Writes all rows of a table: as CSV if the file's name ends in .csv, and as JSON lines otherwise.

    The file appears when it is complete. All its rows come from one data set.
    """

    def write_csv(out: io.BufferedWriter) -> None:
        for page in read_pages(table, {}, "text/csv"):
            # The first line of each page has the column names.
            names, rows = page.body.split(b"\n", 1)
            out.write((b"" if out.tell() else names + b"\n") + rows)
        if out.tell() == 0:
            # The API's CSV has no column names if there are no rows; the bulk file has them.
            bulk_file = send(Request(f"{APP_URL}/public-data/{table}.csv.gz")).body
            out.write(gzip.decompress(bulk_file).splitlines(keepends=True)[0])

    def write_lines(out: io.BufferedWriter) -> None:
        for page in read_pages(table, {}):
            for row in json.loads(page.body):
                out.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")

    def write_part(part: str) -> None:
        def write() -> None:
            with open(part, "wb") as out:
                (write_csv if file.endswith(".csv") else write_lines)(out)
                out.flush()
                os.fsync(out.fileno())

        start_again_on_change(write)

    replace_file(file, write_part)


def replace_file(file: str, write: Callable[[str], None]) -> None:
    """Writes a temporary file and renames it, so that the file is either complete or unchanged."""
    part = f"{file}.{os.getpid()}.part"
    try:
        write(part)
        os.replace(part, file)
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


# If more reports than this changed, all reports are requested again.
MOST_CHANGES = 10_000
REPORTS_A_REQUEST = 500


def sync_reports(file: str) -> tuple[int, int]:
    """Updates the table `general` of a SQLite file to the public reports of the live data set, all or nothing.

    Returns how many reports it requested, and how many the file has. The app's manifest lists the reports that differ
    between one data set and the next. Safe to repeat.
    """

    def update() -> tuple[int, int]:
        manifest = json.loads(send(Request(f"{APP_URL}/public-data/manifest.json")).body)
        changes = list_changes(manifest, read_data_set(file))
        if changes is None:
            rows = list(read_reports({}, manifest["data_set"]))
            replace_file(file, lambda part: store_reports(part, [], rows, manifest["data_set"]))
            return len(rows), len(rows)
        names = sorted(changes)
        rows = []
        for start in range(0, len(names), REPORTS_A_REQUEST):
            listed = ",".join(names[start : start + REPORTS_A_REQUEST])
            rows += read_reports({"report_id": f"in.({listed})"}, manifest["data_set"])
        return len(names), store_reports(file, names, rows, manifest["data_set"])

    return start_again_on_change(update)


def read_data_set(file: str) -> str | None:
    """The ID of a file's data set; None if there is no such file."""
    if not os.path.exists(file):
        return None
    with closing(sqlite3.connect(file)) as database:
        if database.execute("select 1 from sqlite_master where name = 'synced'").fetchone() is None:
            return None
        return str(database.execute("select data_set from synced").fetchone()[0])


def list_changes(manifest: Row, data_set: str | None) -> set[str] | None:
    """The reports that differ between a data set and the live one; None if they are unknown or too many."""
    if data_set == manifest["data_set"]:
        return set()
    # After a rollback, a data set may have been live twice. Only the changes after the last time count.
    starts = [index for index, step in enumerate(manifest["changes"]) if step["from"] == data_set]
    steps = manifest["changes"][starts[-1] :] if starts else []
    if not steps or sum(step["added"] + step["changed"] + step["removed"] for step in steps) > MOST_CHANGES:
        return None
    found = set()
    for step in steps:
        text = gzip.decompress(send(Request(f"{APP_URL}/public-data/{step['name']}")).body).decode()
        found.update(row["report_id"] for row in csv.DictReader(io.StringIO(text)))
    return found


def read_reports(query: dict[str, str], data_set: str) -> Iterator[Row]:
    """Reads public reports of the manifest's data set."""
    query = {"select": ",".join(SYNC_COLUMNS), "is_public": "is.true", "order": "report_id", **query}
    for page in read_pages("general", query):
        if page.data_set != data_set:
            # The manifest is updated within seconds of a publication.
            time.sleep(1)
            raise DataSetChanged
        yield from json.loads(page.body)


def store_reports(file: str, gone: list[str], rows: list[Row], data_set: str) -> int:
    """Replaces the rows of some reports. Returns how many rows the table has then."""
    with closing(sqlite3.connect(file)) as database, database:
        database.execute(
            f"create table if not exists general ({', '.join(SYNC_COLUMNS)}, primary key (report_id))"
        )
        database.execute("create table if not exists synced (data_set)")
        database.executemany("delete from general where report_id = ?", ([report_id] for report_id in gone))
        database.executemany(
            f"insert into general values ({', '.join('?' * len(SYNC_COLUMNS))})",
            ([row[column] for column in SYNC_COLUMNS] for row in rows),
        )
        database.execute("delete from synced")
        database.execute("insert into synced values (?)", [data_set])
        return int(database.execute("select count(*) from general").fetchone()[0])


def request_file_access(report_id: str) -> str:
    """Returns a one-time access_uuid, valid until expires_at. Needs a Tribal key."""
    request = Request(
        f"{API_URL}/rpc/request_file_access",
        data=json.dumps({"report_id": report_id}).encode(),
        headers={"Content-Type": "application/json", "Content-Profile": f"api_{API_VERSION}"},
        method="POST",
    )
    request.add_unredirected_header("x-api-key", API_KEY)
    return str(json.loads(send(request).body)["access_uuid"])


def download_report(report_id: str, file: str) -> Row:
    """Writes a report's PDF to a file and returns its submission. A suppressed report needs a Tribal key."""
    # 1. The submission; 404 if there is no such report.
    [submission] = json.loads(ask_api("general", {"report_id": f"eq.{report_id}"}).body)

    # 2. A suppressed report needs an access_uuid.
    path = report_id if submission["is_public"] else f"ota/{request_file_access(report_id)}"

    # 3. A redirect to a signed URL. No key is sent.
    pdf = send(Request(f"{APP_URL}/dissemination/report/pdf/{path}")).body
    if not pdf.startswith(b"%PDF-"):
        raise Failure("The downloaded file is not a PDF.")

    def write_part(part: str) -> None:
        with open(part, "wb") as out:
            out.write(pdf)

    replace_file(file, write_part)
    return submission


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description="A client of the Single Audit API.",
        epilog="Environment: API_URL, APP_URL, API_KEY (DEMO_KEY), PAGE_SIZE (20000, the maximum).",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    query = commands.add_parser("query", help="print the reports of a year and a state as JSON lines")
    query.add_argument("audit_year")
    query.add_argument("state")
    walk = commands.add_parser("walk", help="write a whole table to a file: CSV if it ends in .csv, JSON lines otherwise")
    walk.add_argument("table")
    walk.add_argument("file")
    sync = commands.add_parser("sync", help="update a SQLite file to the live data set")
    sync.add_argument("file")
    download = commands.add_parser("download", help="get a report's PDF (if it is suppressed, with a Tribal key)")
    download.add_argument("report_id")
    download.add_argument("file")
    options = parser.parse_args()
    if not PAGE_SIZE.isdecimal() or not 1 <= int(PAGE_SIZE) <= 20_000:
        raise Failure("PAGE_SIZE must be a number from 1 to 20000.")

    for address in (API_URL, APP_URL):
        if urlsplit(address).scheme not in ("http", "https") or not urlsplit(address).netloc:
            raise Failure(f"{address} should be a URL such as http://localhost:8000.")

    if options.command == "query":
        for row in query_reports(options.audit_year, options.state):
            print(json.dumps(row))
    elif options.command == "walk":
        walk_table(options.table, options.file)
        say(f"Wrote {options.table} to {options.file}.")
    elif options.command == "sync":
        if options.file.endswith(".csv"):
            raise Failure("sync writes a SQLite file. Choose a name that does not end in .csv.")
        asked, total = sync_reports(options.file)
        say(f"Requested {asked} reports. {options.file} has {total}.")
    else:
        submission = download_report(options.report_id, options.file)
        say(f"Wrote {submission['report_id']} of {submission['auditee_name']} to {options.file}.")


if __name__ == "__main__":
    try:
        main()
    except (Failure, OSError, sqlite3.Error) as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
