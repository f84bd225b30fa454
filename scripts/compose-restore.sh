#!/bin/sh
# npm run compose:restore
set -eu
replace=
backup=
while [ "$#" -gt 0 ]; do
  case $1 in
    --help)
      cat << 'TEXT'
Usage: npm run compose:restore [-- [--replace] [BACKUP]]

Restores a backup of npm run compose:backup (BACKUP: the newest in backups) into the Docker Compose stack of this host:
  1. builds the images, and starts postgres and storage
  2. deploys this checkout to a new database, and loads the backup into it
  3. restores the ledger's files and the PDFs, each only if this host has none
  4. drops the database of this host, puts the new one in its place, and starts all services

Until step 4, a service that runs answers from its database, and a failure changes nothing. If that database has keys or a data
set, the command asks for --replace. After step 4, requests get 503 until you run the commands that it prints.

Environment (or .env): see .env.example.
Exit status: 0 restored, 1 a step failed.
TEXT
      exit
      ;;
    --replace) replace=1 ;;
    -*)
      echo "compose:restore: unknown option $1. See npm run compose:restore -- --help." >&2
      exit 1
      ;;
    *) backup=$1 ;;
  esac
  shift
done
cd "$(dirname "$0")/.."
. scripts/stack/let-recover.sh
fail() {
  echo "compose:restore: $1" >&2
  exit 1
}
if [ -z "$backup" ]; then
  for backup in backups/*Z; do :; done
fi
[ -f "$backup/durable.sql" ] || fail "$backup is not a backup: it has no durable.sql. Name a directory that npm run compose:backup made."

# psql DATABASE: runs the SQL of standard input.
psql() {
  docker compose exec -T postgres psql --username=postgres --quiet --no-align --tuples-only --set=ON_ERROR_STOP=1 "$@"
}
deploy() {
  output=$(docker compose run --rm -T --env PGDATABASE=single_audit_restored migrate 2>&1) || fail "The deployment failed.
$output"
}
# ask SQL: the answer of this host's database; nothing if it is new.
ask() {
  psql single_audit << SQL
select to_regclass('ledger.entries') is not null as is_deployed \gset
\if :is_deployed
$1;
\endif
SQL
}
# drop DATABASE: drops it if it exists.
drop() { echo "set client_min_messages = warning; drop database if exists $1 with (force)" | psql postgres; }
is_waiting="select 1 from ledger.claim where place is not null
  and exists (select from ledger.entries where object_number is null)"
waits="This host's database has revocations or releases that are not in the ledger yet. To write them, run docker compose run --rm publish --continue-ledger, and try again."
# put_back: gives this host's database its name back, if another one does not have it.
put_back() {
  psql postgres << 'SQL'
select 'alter database single_audit_replaced rename to single_audit'
from pg_database group by () having bool_or(datname = 'single_audit_replaced') and not bool_or(datname = 'single_audit') \gexec
select 'alter database single_audit allow_connections true' from pg_database where datname = 'single_audit' \gexec
SQL
}

echo "Building images, and starting postgres and storage ..."
RELEASE=$(node --import tsx scripts/release-stamp.ts)
export RELEASE
docker compose build
docker compose up --detach --wait postgres storage
# A restore that was killed in step 4 may have left the database under its other name.
put_back
exists=$(echo "select 1 from pg_database where datname = 'single_audit'" | psql postgres)
if [ -n "$exists" ] && [ -z "$replace" ]; then
  data=$(ask "select 1 where exists (select from access.api_keys where tier <> 'demo') or exists (select from publication.data_sets)")
  [ -z "$data" ] || fail "This host's database has keys or a data set. To drop it and put the backup in its place, add --replace."
fi

# A new server comes with an empty database. As soon as PostgREST's role exists, PostgREST would connect to it and answer 400.
if [ -n "$exists" ] && [ "$(echo "select to_regclass('ledger.entries') is null" | psql single_audit)" = t ]; then
  drop single_audit
  exists=
fi
# A PostgREST that starts without its database lets requests wait until it finds one. Without PostgREST, they get 503 at once.
[ -n "$exists" ] || docker compose stop postgrest

echo "Restoring $backup into a new database ..."
drop_new() { drop single_audit_restored; }
drop_new
drop single_audit_replaced
trap drop_new EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
echo 'create database single_audit_restored' | psql postgres
deploy
cat deploy/before-restore.sql "$backup/durable.sql" deploy/after-restore.sql \
  | psql --single-transaction --output=/dev/null single_audit_restored
deploy

if [ -f "$backup/ledger.tar" ]; then
  echo "Restoring the ledger's files, if this host has none ..."
  place=$(echo 'select place from ledger.claim' | psql single_audit_restored)
  # shellcheck disable=SC2016
  docker compose run --rm -T --entrypoint sh publish -euc '
    mkdir -p "$1"
    cd "$1"
    if ls ./*.jsonl > /dev/null 2>&1; then exit; fi
    rm -rf .part
    mkdir .part
    tar -x -f - -C .part
    mv .part/*.jsonl .
    rmdir .part' sh "$place" < "$backup/ledger.tar"
fi
if [ -f "$backup/reports.tar" ]; then
  echo "Restoring the PDFs, if this host has none ..."
  # shellcheck disable=SC2016
  docker compose exec -T storage sh -euc '
    cd "/data/$S3_BUCKET"
    if [ -e reports ]; then exit; fi
    rm -rf .part
    mkdir .part
    tar -x -f - -C .part
    mv .part/reports .
    rmdir .part' < "$backup/reports.tar"
fi

echo "Replacing the database ..."
if [ -n "$exists" ]; then
  waiting=$(ask "$is_waiting")
  [ -z "$waiting" ] || fail "$waits"
fi
trap '' INT TERM HUP
if [ -n "$exists" ]; then
  # Something may have been revoked since. So the old database gets another name, under which nobody connects, and is asked again. All
  # this is one session, because services that try to connect meanwhile would slow down the start of another.
  waiting=$(
    psql postgres << SQL
set client_min_messages = error;
alter database single_audit allow_connections false;
select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = 'single_audit' \g /dev/null
alter database single_audit rename to single_audit_replaced;
alter database single_audit_replaced allow_connections true;
\connect single_audit_replaced
\set waits false
select to_regclass('ledger.entries') is not null as is_deployed \gset
\if :is_deployed
select exists ($is_waiting) as waits \gset
\endif
\connect postgres
\if :waits
alter database single_audit_replaced rename to single_audit;
\echo 1
\else
alter database single_audit_restored rename to single_audit;
\endif
SQL
  ) || { put_back; fail "The database could not be replaced. Try again."; }
  [ -z "$waiting" ] || fail "$waits"
else
  echo 'alter database single_audit_restored rename to single_audit' | psql postgres
fi
trap - EXIT
drop single_audit_replaced
trap - INT TERM HUP
echo "Restored. Starting all services ..."
let_recover
docker compose up --detach --wait

cat << 'TEXT'
Requests get 503 until the ledger is continued and a data set is published. Set SOURCE to the absolute path of the source files,
and run:

  docker compose run --rm publish --continue-ledger
  docker compose run --rm --volume "$SOURCE:/source:ro" publish --from /source
TEXT
