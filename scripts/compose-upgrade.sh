#!/bin/sh
# npm run compose:upgrade
set -eu
case ${1-} in
  '' | --roll-back) ;;
  --help)
    cat << 'TEXT'
Usage: npm run compose:upgrade [-- --roll-back]

Deploys this checkout to the Docker Compose stack of this host, in this order:
  1. builds the images of docker-compose.yml, stamped with this checkout's release
  2. runs the migrations and deploys db/. This replaces postgres first if its image or settings changed. If a migration
     fails, the command stops here and replaces nothing else
  3. replaces report-service, gateway and then every other running service, each only if its image or settings changed

With --roll-back, this checkout may be older than what is running. The programs are then replaced before the database, because
they work with the database of the next release, but not with the database of the previous one. Migrations and PostgreSQL's
major version stay.

Each service must become healthy before the next one is replaced. Services of the profiles monitoring and tls are not
replaced: run the command that started them, with --build.

Environment (or .env): see .env.example. COMPOSE_FILE and COMPOSE_PROFILES choose what Compose runs.
Exit status: 0 upgraded, 1 a step failed.
TEXT
    exit
    ;;
  *)
    echo "compose:upgrade: unknown argument $1. See npm run compose:upgrade -- --help." >&2
    exit 1
    ;;
esac
cd "$(dirname "$0")/.."
. scripts/stack/let-recover.sh
RELEASE=$(node --import tsx scripts/release-stamp.ts)
export RELEASE
if [ "$#" = 0 ]; then
  docker compose build
else
  # A server of an older major version could not read the data.
  older=$(sed -n 's/^ *FROM postgres:\([0-9]*\).*/\1/p' docker-compose.yml)
  # shellcheck disable=SC2016
  running=$(docker compose exec -T postgres sh -c 'echo "$PG_MAJOR"') || running=$older
  kept=
  [ "$running" = "$older" ] || kept=postgres
  # shellcheck disable=SC2046
  docker compose build $(docker compose config --services | grep -vx "$kept")
  docker compose up --detach --no-deps --wait postgrest report-service refresher gateway \
    || echo "Some services are not healthy. They may need the older database, which comes next." >&2
fi
docker compose run --rm migrate "$@"
[ "$#" = 0 ] || let_recover
docker compose up --detach --no-deps --wait report-service
docker compose up --detach --wait gateway
docker compose up --detach --wait
