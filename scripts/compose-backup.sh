#!/bin/sh
# npm run compose:backup
set -eu
without_reports=
into=backups
while [ "$#" -gt 0 ]; do
  case $1 in
    --help)
      cat << 'TEXT'
Usage: npm run compose:backup [-- [--without-reports] [DIRECTORY]]

Backs up the Docker Compose stack of this host, which goes on running, to DIRECTORY/<time in UTC> (DIRECTORY: backups). Only you
can read it:
  durable.sql   keys, agreements, history, and what is suppressed
  ledger.tar    the ledger's files, unless they are in a bucket
  reports.tar   the PDFs, suppressed ones too, if this host's storage has them

A backup that fails leaves nothing. To leave out the PDFs, because you copy them in another way, add --without-reports.

Exit status: 0 backed up, 1 a step failed.
TEXT
      exit
      ;;
    --without-reports) without_reports=1 ;;
    -*)
      echo "compose:backup: unknown option $1. See npm run compose:backup -- --help." >&2
      exit 1
      ;;
    *) into=$1 ;;
  esac
  shift
done
cd "$(dirname "$0")/.."
umask 077
backup=$into/$(date -u +%Y-%m-%dT%H-%M-%SZ)
part=$backup.part
mkdir -p "$part"
trap 'rm -rf "$part"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

echo "Backing up the durable rows ..."
docker compose exec -T postgres pg_dump --username=postgres --data-only \
  --schema=access --schema=publication --schema=ledger single_audit > "$part/durable.sql"

# After the rows: the ledger must not be behind them.
ledger=$(docker compose exec -T postgres psql --username=postgres --no-align --tuples-only \
  --command='select place from ledger.claim' single_audit)
case $ledger in
  '') echo "This database has no ledger." ;;
  s3://*) echo "The ledger is in $ledger, and not in this backup." ;;
  *)
    echo "Backing up the ledger ..."
    # shellcheck disable=SC2016
    docker compose run --rm -T --entrypoint sh publish -euc 'cd "$1"; tar -c -f - ./*.jsonl' sh "$ledger" > "$part/ledger.tar"
    ;;
esac

# shellcheck disable=SC2016
if [ -n "$without_reports" ]; then
  echo "The PDFs are left out. They are in the volume storage."
elif docker compose exec -T storage sh -c 'test -d "/data/$S3_BUCKET/reports"'; then
  echo "Backing up the PDFs ..."
  docker compose exec -T storage sh -c 'tar -c -f - -C "/data/$S3_BUCKET" reports' > "$part/reports.tar"
else
  echo "This host's storage has no PDFs, so they are not in this backup."
fi

mv "$part" "$backup"
echo "Backed up to $backup. Keep it on another host: it contains email addresses, key hashes and suppressed reports."
