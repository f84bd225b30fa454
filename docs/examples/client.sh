#!/usr/bin/env bash
# A client of the Single Audit API. Needs only curl 7.71 or newer, awk and gzip.
# Each command is a function. To use one in your own script, copy it with the helper functions above it. Output is CSV.
set -euo pipefail

api_url=${API_URL:-http://localhost:8000}
app_url=${APP_URL:-http://localhost:8001}
api_key=${API_KEY:-DEMO_KEY}
page_size=${PAGE_SIZE:-20000}
# The version of the API that this program was written for.
api_version=v1_1_0

restarts=5
# Only for GET: retries after a lost connection, 408, 429 (waits as Retry-After says) and 5xx.
retry=(--retry 5 --retry-all-errors --retry-max-time 3600)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "error: $*" >&2
  exit 1
}

# call CURL-ARGUMENT...: writes the response's body to $work/body, its headers to $work/head and its status to $status.
# Returns after 412; any other failure ends the program.
call() {
  status=$(curl --no-progress-meter --max-time 90 --output "$work/body" --dump-header "$work/head" \
    --write-out '%{http_code}' "$@") || fail "no response from the service"
  case $status in
    2?? | 412) ;;
    *) fail "$status: $(read_message)" ;;
  esac
}

read_message() {
  message=$(read_text message) hint=$(read_text hint)
  echo "${message:-$(head -c 200 "$work/body")}${hint:+ $hint}"
}

read_text() {
  sed -nE 's/.*"'"$1"'": *"(([^"\\]|\\.)*)".*/\1/p' "$work/body" | sed 's/\\"/"/g'
}

# call_api CURL-ARGUMENT...: sends the key, through a pipe, because everyone can see arguments (ps).
# Follows no redirect, because curl would send the key to the new host.
call_api() {
  call --header @<(printf 'x-api-key: %s\n' "$api_key") --header "accept-profile: api_$api_version" "$@"
}

# read_header NAME: prints a header of the last response
read_header() {
  awk -v name="$1:" 'tolower($1) == name { sub(/^[^:]*: */, ""); sub(/\r$/, ""); value = $0 } END { print value }' "$work/head"
}

# print_names TABLE CURL-ARGUMENT...: prints the column names of a query without rows. The API's CSV lacks them; the
# table's bulk file has them.
print_names() {
  local argument
  for argument; do
    if [[ $argument == select=* ]]; then
      echo "${argument#select=}"
      return
    fi
  done
  call "${retry[@]}" "$app_url/public-data/$1.csv.gz"
  gzip -dc "$work/body" | sed -n 1p
}

# read_pages TABLE FILE CURL-ARGUMENT...: writes all pages as CSV. With a filter, the query needs an order that ends with
# unique columns. If $status is 412 afterwards, a new data set was published in between: discard the file.
read_pages() {
  local table=$1 file=$2 offset=0 range
  local match=()
  shift 2
  : >"$file"
  while true; do
    call_api --get "${retry[@]}" --header 'accept: text/csv' ${match[@]+"${match[@]}"} \
      --data "limit=$page_size" --data "offset=$offset" "$@" "$api_url/$table"
    if [ "$status" = 412 ]; then return; fi
    # "0-19999/*", or "*/*" past the end. Lines cannot be counted, because texts may have line breaks.
    range=$(read_header content-range)
    range=${range%/*}
    if [ "$range" = '*' ]; then
      if [ "$offset" = 0 ]; then print_names "$table" "$@" >"$file"; fi
      return
    fi
    if [ "$offset" = 0 ]; then
      cat "$work/body" >>"$file"
    else
      tail -n +2 "$work/body" >>"$file"
    fi
    offset=$((${range#*-} + 1))
    match=(--header "if-match: $(read_header etag)")
  done
}

# read_one_data_set TABLE FILE CURL-ARGUMENT...: read_pages; starts again if the data set has changed
read_one_data_set() {
  local attempt
  for ((attempt = 1; attempt <= restarts; attempt += 1)); do
    read_pages "$@"
    if [ "$status" != 412 ]; then return; fi
    echo 'A new data set was published. Starting again.' >&2
  done
  fail "A new data set was published during each of $restarts tries."
}

# query_reports YEAR STATE: prints the reports of a year and a state
query_reports() {
  read_one_data_set general "$work/rows" \
    --data select=report_id,auditee_name,fac_accepted_date,total_amount_expended \
    --data-urlencode "audit_year=eq.$1" \
    --data-urlencode "auditee_state=eq.$2" \
    --data order=report_id
  cat "$work/rows"
}

# start_part FILE: creates $part, which replaces the file when it is complete
start_part() {
  part=$1.$$.part
  trap 'rm -rf "$work" "$part"' EXIT
  if ! { : >"$part"; } 2>/dev/null; then fail "$1 cannot be written."; fi
}

# walk_table TABLE FILE: writes all rows of a table, from one data set. The file appears when it is complete.
walk_table() {
  start_part "$2"
  read_one_data_set "$1" "$part"
  mv -- "$part" "$2"
  echo "Wrote $1 to $2." >&2
}

# awk: joins the lines of a CSV record in `record`
# shellcheck disable=SC2016
join_lines='{ record = record == "" ? $0 : record "\n" $0 } gsub(/"/, "&", record) % 2 { next }'

# If more reports than this changed, all reports are requested again.
most_changes=10000
reports_a_request=500

# sync_reports FILE: updates a CSV file to the public reports of the live data set.
#
# The app's manifest lists the reports that differ between one data set and the next. The ID of the file's data set is in
# FILE.data_set, which is written last, so that an interrupted run only requests some reports again.
sync_reports() {
  local file=$1 attempt
  start_part "$file"
  for ((attempt = 1; attempt <= restarts; attempt += 1)); do
    if try_sync "$file"; then
      mv -- "$part" "$file"
      echo "$live" >"$part"
      mv -- "$part" "$file.data_set"
      echo "$file is up to date." >&2
      return
    fi
    echo 'A new data set was published. Starting again.' >&2
  done
  fail "A new data set was published during each of $restarts tries."
}

# try_sync FILE: writes the new file to $part, and its data set to $live. Fails if the data set changes.
try_sync() {
  local file=$1 names
  call "${retry[@]}" "$app_url/public-data/manifest.json"
  cp -- "$work/body" "$work/manifest"
  live=$(sed -nE 's/^  "data_set": "(.*)",$/\1/p' "$work/manifest")
  if ! [ -e "$file" ] || ! list_changes "$(cat -- "$file.data_set" 2>/dev/null)"; then
    read_reports "$part"
    return
  fi
  head -n 1 -- "$file" >"$part"
  # The unchanged reports from the file, followed by the changed reports that still exist.
  awk "$join_lines"' { split(record, column, ","); line = record; record = "" }
    FILENAME == ARGV[1] { gone[line]; next } FNR > 1 && !(column[1] in gone) { print line }' "$work/changed" "$file" >>"$part"
  split -l "$reports_a_request" -- "$work/changed" "$work/names."
  for names in "$work"/names.*; do
    if ! [ -e "$names" ]; then break; fi
    read_reports "$work/rows" --data-urlencode "report_id=in.($(paste -sd, "$names"))" || return
    tail -n +2 "$work/rows" >>"$part"
  done
  rm -f "$work"/names.*
}

# list_changes DATA-SET: writes the IDs of the reports that differ from the live data set to $work/changed. Fails if they
# are unknown or too many.
list_changes() {
  local name
  : >"$work/changed"
  if [ "$1" = "$live" ]; then return; fi
  # The manifest has one value per line. After a rollback, a data set may have been live twice. Only the changes after the
  # last time count.
  awk -v from="$1" -v most="$most_changes" -F '"' '
    $2 == "changes" { listed = 1 }
    !listed { next }
    $2 == "name" { name = $4 }
    $2 == "from" && $4 == from { names = ""; count = 0; found = 1 }
    $2 == "from" { names = names name "\n" }
    /"(added|changed|removed)":/ { count += substr($3, 2) }
    END { printf "%s", names; exit !found || count > most }' "$work/manifest" >"$work/steps" || return 1
  while read -r name; do
    call "${retry[@]}" "$app_url/public-data/$name"
    gzip -dc "$work/body" | tail -n +2 | cut -d, -f1 >>"$work/changed"
  done <"$work/steps"
  sort -u -o "$work/changed" "$work/changed"
}

# read_reports FILE CURL-ARGUMENT...: writes public reports of the data set $live. Fails if another data set is live.
read_reports() {
  local file=$1
  shift
  read_pages general "$file" \
    --data select=report_id,fac_accepted_date,audit_year,auditee_uei,auditee_name,total_amount_expended \
    --data is_public=is.true --data order=report_id "$@"
  if [ "$status" = 412 ]; then return 1; fi
  if [[ $(read_header data-set) != "\"$live\""* ]]; then
    # The manifest is updated within seconds of a publication.
    sleep 1
    return 1
  fi
}

# download_report REPORT-ID FILE: gets a report's PDF. A suppressed report needs a Tribal key.
download_report() {
  local path=$1
  if ! [[ $1 =~ ^[A-Za-z0-9-]+$ ]]; then fail "$1 is not a report ID."; fi
  start_part "$2"

  # 1. The submission; 404 if there is no such report.
  call_api --get "${retry[@]}" --data-urlencode "report_id=eq.$1" "$api_url/general"

  # 2. For a suppressed report, a one-time access_uuid, valid until expires_at.
  if grep -q '"is_public": *false' "$work/body"; then
    call_api --header 'content-type: application/json' --header "content-profile: api_$api_version" \
      --data "{\"report_id\": \"$1\"}" "$api_url/rpc/request_file_access"
    path=ota/$(grep -oE '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}' "$work/body")
  fi

  # 3. A redirect to a signed URL. The access_uuid is a secret, so it is not an argument. No key is sent.
  call --location "${retry[@]}" \
    --config <(printf 'url = "%s"\n' "$app_url/dissemination/report/pdf/$path")
  if [ "$(head -c 5 "$work/body")" != '%PDF-' ]; then fail 'The downloaded file is not a PDF.'; fi
  cp -- "$work/body" "$part"
  mv -- "$part" "$2"
  echo "Wrote $1 to $2." >&2
}

usage() {
  cat <<'TEXT'
Usage: client.sh query YEAR STATE        print the reports of a year and a state
       client.sh walk TABLE FILE         write a whole table to a file
       client.sh sync FILE               update a file to the live data set
       client.sh download REPORT-ID FILE get a report's PDF (if it is suppressed, with a Tribal key)

All files except PDFs are CSV.
Environment: API_URL, APP_URL, API_KEY (DEMO_KEY), PAGE_SIZE (20000, the maximum).
TEXT
}

if ! [[ $page_size =~ ^[1-9][0-9]*$ ]] || ((page_size > 20000)); then
  fail 'PAGE_SIZE must be a number from 1 to 20000.'
fi
for address in "$api_url" "$app_url"; do
  if ! [[ $address =~ ^https?://[^/] ]]; then fail "$address should be a URL such as http://localhost:8000."; fi
done
case "${1:-} $#" in
  'query 3') query_reports "$2" "$3" ;;
  'walk 3') walk_table "$2" "$3" ;;
  'sync 2') sync_reports "$2" ;;
  'download 3') download_report "$2" "$3" ;;
  '--help 1') usage ;;
  *)
    usage >&2
    exit 2
    ;;
esac
