#!/usr/bin/env bash
# npm run test:compose runs the commands for Compose in README.md, docs/operations.md and docs/keys.md on a Docker engine, from the
# text, while clients ask. It also runs the HTTP tests against the containers. It is safe on a production host: project, ports,
# images, secrets and checkout are its own. Exits with 3 if no engine answers. WITHOUT_MONITORING=1 leaves out the profile monitoring.
set -euo pipefail
cd "$(dirname "$0")/../.."

if ! docker compose version > /dev/null 2>&1 || ! docker info > /dev/null 2>&1; then
  echo "test:compose: found no Docker engine with Compose, so nothing was tested. Start Docker and try again." >&2
  exit 3
fi
# Compose reads .env and the environment, which contain a production host's settings. The copy has neither.
for name in $(compgen -e); do
  case $name in
    PATH | PWD | HOME | TMPDIR | TERM | CI | DOCKER_* | BUILDX_* | *_PROXY | *_proxy | POSTGREST_VERSION | WITHOUT_MONITORING) ;;
    *) unset "$name" ;;
  esac
done
read -r GATEWAY_PORT APP_PORT GRAFANA_PORT < <(
  node --import tsx --input-type=module --eval '
    import { findFreePort } from "./scripts/servers/find-free-port.ts";
    console.log(await findFreePort(), await findFreePort(), await findFreePort());
  '
)
COMPOSE_PROJECT_NAME=single-audit-test-$(date +%Y%m%d%H%M%S)-$$
export COMPOSE_PROJECT_NAME COMPOSE_PROGRESS=quiet GATEWAY_PORT APP_PORT GRAFANA_PORT
checkout=$PWD
work=$(cd "$(mktemp -d)" && pwd -P)
copy=$work/copy
clients=
finish() {
  status=$?
  set +e
  trap '' INT TERM HUP
  [ -z "$clients" ] || kill "$clients"
  [ "$status" = 0 ] || docker compose logs --tail 100
  docker compose --profile '*' down --volumes --remove-orphans --timeout 5 > "$work/down" 2>&1 || cat "$work/down"
  # The files of the moved database do not belong to this user.
  docker run --rm --volume "$work:/work" --entrypoint rm "$COMPOSE_PROJECT_NAME-postgres" -rf /work/disk > /dev/null 2>&1
  # `down --rmi all` would also remove the pulled images, which other projects on this host may need.
  docker image ls --quiet --filter "reference=$COMPOSE_PROJECT_NAME*" | xargs --no-run-if-empty docker image rm > /dev/null
  left=$(docker volume ls --quiet --filter "label=com.docker.compose.project=$COMPOSE_PROJECT_NAME")
  [ -z "$left" ] || { echo "Volumes were not removed: $left"; status=1; }
  cd / && rm -rf "$work"
  exit "$status"
}
# A clean clone of this checkout, with what is not committed.
mkdir "$copy"
git ls-files -z --cached --others --exclude-standard -- . ':!.env' ':!secrets' ':!node_modules' \
  | tar --create --null --files-from=- --ignore-failed-read | tar --extract --directory="$copy"
cd "$copy"
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
# commit MESSAGE: only what is committed can be deployed.
commit() { git add --all db && git -c user.name=test -c user.email=test@example.gov commit --quiet --message="$1"; }
git init --quiet
git add --all
commit deployed
git tag deployed

# Docker's port proxy hides client addresses from Kong, so the tests send X-Forwarded-For, and Kong trusts Docker.
export TRUSTED_IPS=172.16.0.0/12,192.168.0.0/16 FORWARD_ADDRESSES=1
export BASE_URL=http://127.0.0.1:$GATEWAY_PORT APP_URL=http://127.0.0.1:$APP_PORT API_URL=http://127.0.0.1:$GATEWAY_PORT
# What the text asks readers to set.
export SOURCE=$copy/sample PREVIOUS=deployed
# A page of 20,000 rows and more than 50 MB: several at once are more than Kong could keep in memory.
page="$BASE_URL/federal_awards?select=*,general(*)&limit=20000&order=report_id,award_reference"
migration=db/migrations/29990101000000000_fail.sql

# blocks FILE HEADING KIND [PART]: see test/support/print-blocks.ts
blocks() { (cd "$checkout" && node --import tsx test/support/print-blocks.ts "$@"); }
# run FILE HEADING [PART]: runs the commands of a section as they are in the text.
run() {
  echo "=== $1: $2"
  blocks "$1" "$2" sh "${3-}" > "$work/commands"
  bash -euxo pipefail "$work/commands" < /dev/null
}
# run_row FILE HEADING LABEL: runs the command in the row of a table.
run_row() {
  echo "=== $1: $2, $3"
  blocks "$1" "$2" rows | sed -n "s/^$3\t//p" > "$work/commands"
  [ -s "$work/commands" ]
  bash -euxo pipefail "$work/commands" < /dev/null
}
# while_asking KINDS COMMAND…: runs a command while clients ask, and fails if they get a response of another kind (clients.ts).
while_asking() {
  # shellcheck disable=SC2086
  node --import tsx test/compose/clients.ts $1 > "$work/responses" &
  clients=$!
  sleep 3
  "${@:2}"
  # Kong must not remember for long that PostgREST was gone.
  sleep 5
  kill "$clients"
  status=0
  wait "$clients" || status=$?
  clients=
  cat "$work/responses"
  return "$status"
}
psql() { docker compose exec -T postgres psql --quiet --no-align --tuples-only --username=postgres "$@" single_audit < /dev/null; }
address() { docker inspect --format "{{(index .NetworkSettings.Networks \"${COMPOSE_PROJECT_NAME}_$2\").IPAddress}}" "$(docker compose ps --quiet "$1")"; }
containers() { docker compose ps --quiet | sort; }
smoke() { run docs/operations.md Health; }
# limit: the hourly limit of DEMO_KEY in the gateway's responses. shows_limit N: whether the report service's page shows N.
limit() { curl -fsS -o /dev/null -D - "$BASE_URL/general?limit=1" -H 'x-forwarded-for: 198.51.100.2' -H 'x-api-key: DEMO_KEY' | sed -n 's/^RateLimit-Limit: \([0-9]*\).*/\1/ip'; }
shows_limit() { curl -fsS "$APP_URL/" | grep "$1 requests an hour" > /dev/null; }

# The secrets and files must be readable in containers, whatever the umask is.
(umask 077 && run README.md "Run it in containers")
before=$(containers)
RELEASE=$(npm run -s release:stamp) docker compose up --build --detach --wait
[ "$before" = "$(containers)" ]

# On Compose, the commands of keys.md begin with `docker compose run --rm`.
blocks docs/keys.md "Tribal access" sh | sed 's/npm run -s \(keys\|agreements\) --/docker compose run --rm \1/' > "$work/commands"
TRIBAL_KEY=$(bash -euo pipefail "$work/commands" < /dev/null | grep -o 'tribal_[0-9A-Za-z]*' | head -1)
INDIVIDUAL_KEY=$(docker compose run --rm keys issue --tier individual --owner test@example.gov --quiet)
# With 200 keys, each sends a request only every 10 s, so none has more in progress at a time than it may.
KEYS=$(psql --command="select api_key from generate_series(1, 200) as n, access.issue_key('individual', 'test@example.gov', 'client ' || n)" | paste -sd ' ')
REPORT=$(psql --command="select report_id from disclosed.general limit 1")
export INDIVIDUAL_KEY TRIBAL_KEY KEYS REPORT SMOKE_KEY=$INDIVIDUAL_KEY SMOKE_TRIBAL_KEY=$TRIBAL_KEY
run docs/operations.md "Docker Compose" > "$work/suppressed"
grep GSAFAC "$work/suppressed"

echo "The smoke checks and the HTTP tests pass."
DATABASE_URL="postgres://postgres:$(cat secrets/postgres_password)@$(address postgres database):5432/single_audit"
POSTGREST_URL="http://$(address postgrest database):3000"
smoke
DATABASE_URL=$DATABASE_URL POSTGREST_URL=$POSTGREST_URL npx vitest run test/http
DATABASE_URL=$DATABASE_URL npm run -s db:deploy -- --plan

echo "A request can be found by its ID."
ID=$(curl -fsS -o /dev/null -D - "$BASE_URL/general?limit=1" -H "x-api-key: $INDIVIDUAL_KEY" | sed -n 's/^x-request-id: \([^\r]*\).*/\1/ip')
export ID
run docs/operations.md "Find a request"

echo "The SQL for alerts and the catalog works."
blocks docs/operations.md Alerts sql > "$work/sql"
blocks docs/operations.md "Catalog bloat" sql >> "$work/sql"
docker compose exec -T postgres psql --username=postgres --set=ON_ERROR_STOP=1 single_audit < "$work/sql" > /dev/null

echo "While the database restarts, clients get 503."
while_asking "right unavailable" docker compose restart postgres

# PostgREST waits 3 s for a server that cannot be reached, and requests wait up to 10 s for their turn. A busy machine takes longer.
echo "While the database is unreachable, requests get 503 within 20 s."
disconnect() {
  # Some requests wait for their rows. The lock must be granted before the network is disconnected: otherwise it
  # would wait for transactions whose clients are gone, and new requests would wait for the lock.
  psql --command="begin; lock table disclosed.general; select pg_sleep(15)" > /dev/null &
  for _ in $(seq 15); do
    [ "$(psql --command="select count(*) from pg_locks where relation = 'disclosed.general'::regclass and mode = 'AccessExclusiveLock' and granted")" = 0 ] || break
    sleep 1
  done
  docker network disconnect "${COMPOSE_PROJECT_NAME}_database" "$(docker compose ps --quiet postgres)"
  sleep 30
  docker network connect --alias postgres "${COMPOSE_PROJECT_NAME}_database" "$(docker compose ps --quiet postgres)"
  sleep 10
}
while_asking "right unavailable" disconnect
awk '/^API/ { seconds = $(NF - 4) } END { exit seconds == 0 || seconds > 20 }' "$work/responses"

echo "21 clients read large responses slowly, and each gets its whole response."
readers=()
for _ in $(seq 21); do
  curl -fsS --limit-rate 400k --retry 30 -o /dev/null -w '%{size_download}\n' -H "x-api-key: $INDIVIDUAL_KEY" "$page" >> "$work/slow" &
  readers+=($!)
  # Lets the response begin: a key may run only a few requests in the database at a time. curl retries after 429.
  sleep 4
done
for reader in "${readers[@]}"; do wait "$reader"; done
[ "$(sort -u "$work/slow" | wc -l)" = 1 ]

echo "After a minute of load, a gateway stops within 10 s, although clients keep idle connections open."
while_asking right sleep 60
exec 3<> "/dev/tcp/127.0.0.1/$GATEWAY_PORT"
printf 'GET /general?limit=1 HTTP/1.1\r\nHost: test\r\nX-Api-Key: %s\r\n\r\n' "$TRIBAL_KEY" >&3
sleep 1
seconds=$SECONDS
docker compose stop gateway
[ "$((SECONDS - seconds))" -le 10 ]
exec 3>&-
docker compose up --detach --wait

echo "A gateway that restarts lets a client finish reading a full page, and ends when the client has it."
# Not through the published port: Docker's port proxy ends with the container, and loses the data that it has buffered.
curl -fsS --limit-rate 500k -o "$work/page" -H "x-api-key: $INDIVIDUAL_KEY" "http://$(address gateway edge):8000${page#"$BASE_URL"}" &
reader=$!
sleep 5
seconds=$SECONDS
docker compose restart gateway
wait "$reader"
[ "$((SECONDS - seconds))" -le 130 ]
docker compose up --detach --wait

echo "A list of keys becomes keys, in a file that only its owner can read."
mkdir lists
chmod 777 lists
blocks docs/keys.md "Issue many keys" csv > lists/list.csv
run docs/keys.md "Issue many keys"
[ "$(stat -c %a lists/keys.csv)" = 600 ]

echo "A backup can be restored, while the gateway answers right or with 503."
# Reports that are public in the sample, and in no chain of resubmissions.
sed -n 's/^\([^,]*\),.*,t,GSAFAC,[^,]*,[^,]*,0,,.*/\1/p' sample/general.csv | grep --invert-match "$REPORT" > "$work/public"
SUPPRESSED=$(sed -n 1p "$work/public")
RELEASED=$(sed -n 2p "$work/public")
# publish_without REPORT: publishes the sample's files, but with this report suppressed.
publish_without() {
  mkdir "without-$1"
  cp sample/*.csv "without-$1"
  sed -i "s/^\($1,.*\),t,GSAFAC,/\1,f,GSAFAC,/" "without-$1/general.csv"
  chmod -R a+rX "without-$1"
  docker compose run --rm --volume "$PWD/without-$1:/source:ro" publish --from /source
}
is_public() { [ "$(psql --command="select count(*) from disclosed.general where report_id = '$1'")" = 1 ]; }
status_of() { curl -sS -o /dev/null -w '%{http_code}' "$BASE_URL/general?limit=1" -H "x-api-key: $1"; }
REVOKED=$(docker compose run --rm keys issue --tier individual --owner test@example.gov --quiet)
publish_without "$RELEASED"
while_asking right run docs/operations.md "Back up and restore" compose:backup
[ -z "$(find backups -type f -perm /077)" ]

psql --command="select access.revoke_key(id) from access.api_keys where key_sha256 = sha256('$REVOKED')"
docker compose run --rm publish --release "$RELEASED" --operator test
publish_without "$SUPPRESSED"
is_public "$RELEASED"
! is_public "$SUPPRESSED" || exit 1
# The refresher writes revocations and releases to the ledger every few seconds.
sleep 10
before=$(containers)
if npm run -s compose:restore; then exit 1; fi
[ "$before" = "$(containers)" ]

restore_after_loss() {
  docker compose rm --stop --force postgres
  docker volume rm "${COMPOSE_PROJECT_NAME}_postgres"
  run docs/operations.md "Back up and restore" compose:restore
}
replace() {
  npm run -s compose:restore -- --replace
  docker compose run --rm publish --continue-ledger
  docker compose run --rm --volume "$SOURCE:/source:ro" publish --from /source
}
# From here on, clients also ask for what was suppressed and revoked after the backup.
export SUPPRESSED REVOKED
for way in restore_after_loss replace; do
  while_asking "right unavailable" "$way"
  smoke
  # The source files mark both reports as public. The backup knows that one was suppressed, and that the key is valid.
  is_public "$RELEASED"
  ! is_public "$SUPPRESSED" || exit 1
  [ "$(status_of "$REVOKED")" = 401 ]
done

echo "PostgreSQL can be replaced with a new server, as for another major version."
upgrade_postgres() {
  run docs/operations.md "Upgrade PostgreSQL"
  run docs/operations.md "Back up and restore" compose:restore
}
NEXT=$(git symbolic-ref --short HEAD)
export NEXT
while_asking "right unavailable" upgrade_postgres
smoke

echo "An upgrade with a failing migration replaces no container; an upgrade to a new image does."
before=$(containers)
printf -- '-- Lock level: none\nselect 1 / 0;\n' > "$migration"
commit failing
if npm run -s compose:upgrade; then exit 1; fi
[ "$before" = "$(containers)" ]
rm "$migration"
commit repaired
echo "A new image." > scripts/changed-by-test-compose
while_asking "right unconnected" run docs/operations.md "Replace or upgrade a part"
[ "$before" != "$(containers)" ]
smoke

echo "An upgrade replaces the gateway and the report service if a rate limit changed."
old=$(limit)
shows_limit "$old"
sed -i "s/hour: $old\b/hour: $((old + 1))/" gateway/kong.yml
while_asking "right unconnected" run_row docs/operations.md "Change a rate limit" Compose
[ "$(limit)" = "$((old + 1))" ]
shows_limit "$((old + 1))"

echo "A release with a migration and a new column can be rolled back, also if its programs never become healthy."
column() { curl -sS -o /dev/null -w '%{http_code}' "$BASE_URL/additional_eins?select=other_id&limit=1" -H "x-api-key: $INDIVIDUAL_KEY"; }
view=db/api/api_v1_1_0/additional_eins.sql
printf -- '-- Lock level: brief.\nalter table access.tiers add column other_id integer;\n' > db/migrations/29990101000000000_add_other_id.sql
sed -i 's/^from dissemination/, additional_eins.report_id as other_id\n&/' "$view"
echo "comment on column api_v1_1_0.additional_eins.other_id is E'Other ID\\nA column.';" >> "$view"
commit column
while_asking "right unconnected" npm run -s compose:upgrade
[ "$(column)" = 200 ]
REVOKED=$(docker compose run --rm keys issue --tier individual --owner test@example.gov --quiet)
psql --command="select access.revoke_key(id) from access.api_keys where key_sha256 = sha256('$REVOKED')"
while_asking "right unconnected" run docs/operations.md "Roll back a deployment" compose:upgrade
[ "$(column)" = 400 ]
[ "$(status_of "$REVOKED")" = 401 ]
git checkout --quiet -
sed -i '1i process.exit(1);' scripts/report-service.ts
git -c user.name=test -c user.email=test@example.gov commit --quiet --message=unhealthy scripts/report-service.ts
break_and_roll_back() {
  if npm run -s compose:upgrade; then exit 1; fi
  [ "$(column)" = 200 ]
  run docs/operations.md "Roll back a deployment" compose:upgrade
}
while_asking "right unconnected" break_and_roll_back
[ "$(column)" = 400 ]
smoke

replace_secrets() {
  echo "=== secrets: $1"
  for file in ${1//,/}; do
    mv "secrets/$file" "$work/$file"
  done
  npm run -s compose:secrets
  for file in ${1//,/}; do
    if cmp "secrets/$file" "$work/$file"; then exit 1; fi
  done
  run_row docs/operations.md "Replace a secret" "$1"
}
blocks docs/operations.md "Replace a secret" rows | cut -f1 > "$work/rows"
mapfile -t rows < "$work/rows"
for row in "${rows[@]}"; do
  case $row in
    grafana_password) ;;
    *) while_asking "right unavailable unconnected" replace_secrets "$row" ;;
  esac
done
smoke
# Uses postgres_password, publisher_password and the keys of storage.
docker compose run --rm keys list --status active > /dev/null
while_asking right docker compose run --rm --volume "$SOURCE:/source:ro" publish --from /source --force

if [ -n "${WITHOUT_MONITORING-}" ]; then
  echo "NOT RUN: the profile monitoring."
else
  run_row docs/operations.md "Docker Compose" monitor
  replace_secrets grafana_password
  curl -fsS -o /dev/null --user "admin:$(cat secrets/grafana_password)" "http://127.0.0.1:$GRAFANA_PORT/api/user"
  docker compose --profile monitoring rm --stop --force grafana prometheus
fi

echo "Behind a proxy, all services become healthy, and the profile tls serves both hosts."
# Docker passes the proxy of its configuration to containers. Nothing listens at this one's address.
mkdir "$work/docker"
cp -R "${DOCKER_CONFIG:-$HOME/.docker}/." "$work/docker/" 2> /dev/null || true
node --eval '
  const fs = require("node:fs");
  const file = process.argv[1];
  const config = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, "utf8")) : {};
  const proxy = "http://192.0.2.1:3128";
  config.proxies = { default: { httpProxy: proxy, httpsProxy: proxy, noProxy: "localhost,127.0.0.1" } };
  fs.writeFileSync(file, JSON.stringify(config));
' "$work/docker/config.json"
# The ports of tls are not published here, because the host may use them.
printf 'services: { tls: { ports: !reset [] } }\n' > "$work/tls.yml"
(
  export COMPOSE_FILE=docker-compose.yml:$work/tls.yml API_HOST=api.localhost APP_HOST=app.localhost
  export API_URL=https://api.localhost S3_PUBLIC_ENDPOINT=https://app.localhost DOCKER_CONFIG=$work/docker
  docker compose up --detach --wait --force-recreate
  run_row docs/operations.md "Docker Compose" "serve HTTPS"
  tls=$(address tls edge)
  ask() { curl -fsSk -L -o "$work/$1" --resolve "api.localhost:443:$tls" --resolve "app.localhost:443:$tls" "${@:2}"; }
  ask rows "https://api.localhost/general?report_id=eq.$REPORT" -H "x-api-key: $INDIVIDUAL_KEY"
  grep "$REPORT" "$work/rows" > /dev/null
  ask report.pdf "https://app.localhost/dissemination/report/pdf/$REPORT"
  [ "$(head -c 5 "$work/report.pdf")" = %PDF- ]
  docker compose --profile tls rm --stop --force tls
)
docker compose up --detach --wait --force-recreate

echo "The small profile stays below 4 GB, with all connections in use and during a refresh."
run docs/operations.md Memory
use_all() {
  local readers=()
  for key in $(head -n 8 <<< "${KEYS// /$'\n'}"); do
    for _ in $(seq 30); do
      curl -sS -o /dev/null -w '%{http_code}\n' -H "x-api-key: $key" "${page/limit=20000/limit=1000}" || true
    done >> "$work/statuses" &
    readers+=($!)
  done
  docker compose run --rm --volume "$SOURCE:/source:ro" publish --from /source --force
  wait "${readers[@]}"
}
measure() {
  while sleep 1; do
    docker stats --no-stream --format '{{.Name}} {{.MemUsage}}' $(docker compose ps --quiet) || true
    echo total
  done > "$work/stats"
}
measure &
measuring=$!
use_all
kill "$measuring"
sort "$work/statuses" | uniq -c
if grep -vE '^(200|429|503)$' "$work/statuses"; then exit 1; fi
awk '
  /^total/ { if (sum > most) { most = sum; seen = lines }; sum = 0; lines = ""; next }
  { number = $2 + 0; if ($2 ~ /GiB/) number *= 1024; if ($2 ~ /KiB/) number /= 1024; sum += number; lines = lines $0 "\n" }
  END { printf "%sAt most %d MiB together.\n", seen, most; exit most == 0 || most > 4000 }
' "$work/stats"
[ -z "$(docker compose ps --quiet | xargs docker inspect --format '{{if or .State.OOMKilled .RestartCount}}{{.Name}}{{end}}' | grep .)" ]
smoke
# The changed tiers are no drift.
while_asking "right unconnected" npm run -s compose:upgrade

echo "The database can be moved to another disk."
export DISK=$work/disk
mkdir "$DISK"
sed -i 's/^COMPOSE_FILE=.*/&:docker-compose.override.yml/' .env
echo 'services: {}' > docker-compose.override.yml
while_asking "right unavailable" run docs/operations.md "Disk full" "docker run"
docker volume rm "${COMPOSE_PROJECT_NAME}_postgres"
smoke

echo "No log contains a key, and the gateway's log contains no query string."
[ "$(docker compose logs | grep -cF -e "$INDIVIDUAL_KEY" -e "$TRIBAL_KEY")" = 0 ]
[ "$(docker compose logs gateway | grep -c 'select=')" = 0 ]
