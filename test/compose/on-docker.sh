#!/usr/bin/env bash
# npm run test:compose runs docker-compose.yml on a Docker engine, and the HTTP tests against the containers. It is safe
# on a production host: project, ports, images, secrets and checkout are its own. Exits with 3 if no engine answers.
set -euo pipefail
cd "$(dirname "$0")/../.."

if ! docker compose version > /dev/null 2>&1 || ! docker info > /dev/null 2>&1; then
  echo "test:compose: found no Docker engine with Compose, so nothing was tested. Start Docker and try again." >&2
  exit 3
fi
# Compose reads .env and the environment, which contain a production host's settings. The copy has neither.
for name in $(compgen -e); do
  case $name in
    PATH | PWD | HOME | TMPDIR | TERM | CI | DOCKER_* | BUILDX_* | *_PROXY | *_proxy | POSTGREST_VERSION) ;;
    *) unset "$name" ;;
  esac
done
read -r GATEWAY_PORT APP_PORT < <(
  node --import tsx --input-type=module --eval '
    import { findFreePort } from "./scripts/servers/find-free-port.ts";
    console.log(await findFreePort(), await findFreePort());
  '
)
export GATEWAY_PORT APP_PORT
COMPOSE_PROJECT_NAME=single-audit-test-$(date +%Y%m%d%H%M%S)-$$
export COMPOSE_PROJECT_NAME
copy=$(cd "$(mktemp -d)" && pwd -P)
finish() {
  status=$?
  set +e
  trap '' INT TERM HUP
  [ "$status" = 0 ] || docker compose logs --tail 100
  docker compose --profile '*' down --volumes --remove-orphans --timeout 5 > "$copy/down" 2>&1 || cat "$copy/down"
  # `down --rmi all` would also remove the pulled images, which other projects on this host may need.
  docker image ls --quiet --filter "reference=$COMPOSE_PROJECT_NAME*" | xargs --no-run-if-empty docker image rm > /dev/null
  left=$(docker volume ls --quiet --filter "label=com.docker.compose.project=$COMPOSE_PROJECT_NAME")
  [ -z "$left" ] || { echo "Volumes were not removed: $left"; status=1; }
  cd / && rm -rf "$copy"
  exit "$status"
}
git ls-files -z --cached --others --exclude-standard -- . ':!.env' ':!secrets' ':!node_modules' \
  | tar --create --null --files-from=- --ignore-failed-read | tar --extract --directory="$copy"
ln -s "$PWD/node_modules" "$copy"
cd "$copy"
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# Docker's port proxy hides client addresses from Kong, so the tests send X-Forwarded-For, and Kong trusts Docker.
export TRUSTED_IPS=172.16.0.0/12,192.168.0.0/16 FORWARD_ADDRESSES=1
export BASE_URL=http://127.0.0.1:$GATEWAY_PORT APP_URL=http://127.0.0.1:$APP_PORT API_URL=http://127.0.0.1:$GATEWAY_PORT
sample=$PWD/sample
mkdir "$sample"
# A page of 20,000 rows and more than 50 MB: several at once are more than Kong could keep in memory.
page="$BASE_URL/federal_awards?select=*,general(*)&limit=20000&order=report_id,award_reference"
migration=db/migrations/29990101000000000_fail.sql
compose() { docker compose --progress quiet "$@"; }
up() { compose up --build --detach --wait --wait-timeout 300; }
address() { docker inspect --format "{{(index .NetworkSettings.Networks \"${COMPOSE_PROJECT_NAME}_$2\").IPAddress}}" "$(compose ps --quiet "$1")"; }
# watch FILE KEY URL: sends requests 0.1 s apart, until unwatch; logs status (000: no response) and seconds.
watch() {
  (
    while [ -d "$sample" ]; do
      curl -s -o /dev/null -m 30 -w '%{http_code} %{time_total}\n' "$3" -H "x-forwarded-for: 192.0.2.1" -H "x-api-key: $2" || true
      sleep 0.1
    done > "$1"
  ) &
  watcher=$!
}
unwatch() { kill "$watcher"; }
# only FILE STATUSES: fails if the file has a status outside the regular expression STATUSES, or is empty.
only() {
  cut -d' ' -f1 "$1" | sort | uniq -c
  [ -s "$1" ] && ! cut -d' ' -f1 "$1" | grep -vE "^($2)$"
}
# limit: the hourly limit of DEMO_KEY in the gateway's responses. shows_limit N: whether the report service's page shows N.
limit() { curl -fsS -o /dev/null -D - "$BASE_URL/general?limit=1" -H 'x-forwarded-for: 192.0.2.2' -H 'x-api-key: DEMO_KEY' | sed -n 's/^RateLimit-Limit: \([0-9]*\).*/\1/ip'; }
shows_limit() { curl -fsS "$APP_URL/" | grep "$1 requests an hour" > /dev/null; }
wait_for_rows() { timeout "${1:-60}" sh -c "until curl -fsS -o /dev/null '$BASE_URL/general?limit=1' -H 'x-api-key: $TRIBAL_KEY'; do sleep 1; done"; }

echo "docker-compose.yml starts, and starting it again changes nothing."
(umask 077 && npm run -s compose:secrets)
up
before=$(compose ps --quiet | sort)
up
[ "$before" = "$(compose ps --quiet | sort)" ]

echo "Containers issue keys and publish data sets, although the secrets were created with umask 077."
INDIVIDUAL_KEY=$(compose run --rm keys issue --tier individual --owner test@example.gov --quiet)
agreement=$(compose run --rm agreements request --organization Test --contact test@example.gov --json | sed -n 's/^ *"id": "\(.*\)",$/\1/p')
compose run --rm agreements approve "$agreement" --official Test --agency Test --email test@example.gov > "$sample/agreement"
TRIBAL_KEY=$(compose run --rm keys issue --tier tribal --owner test@example.gov --agreement "$agreement" --quiet)
npm run -s sample -- --out "$sample/files" --pdf
compose run --rm --volume "$sample/files:/source:ro" publish --from /source
compose cp "$sample/files/reports" "storage:/data/single-audit/"

echo "The smoke checks and the HTTP tests pass."
export INDIVIDUAL_KEY TRIBAL_KEY
DATABASE_URL="postgres://postgres:$(cat secrets/postgres_password)@$(address postgres database):5432/single_audit"
POSTGREST_URL="http://$(address postgrest database):3000"
export DATABASE_URL POSTGREST_URL
smoke() { npm run -s smoke -- --base-url "$BASE_URL" --app-url "$APP_URL" --key "$INDIVIDUAL_KEY" --tribal-key "$TRIBAL_KEY"; }
smoke
npx vitest run test/http
npm run -s db:deploy -- --plan

echo "While the database restarts, requests get 50x, and never 404 or 406."
watch "$sample/outage" "$TRIBAL_KEY" "$BASE_URL/general?limit=1"
compose restart postgres
compose up --detach --wait
wait_for_rows
unwatch
# 400: a request that was running when the connection broke.
only "$sample/outage" '200|400|50[0-9]'

echo "While the database is unreachable, requests get 503 within 5 s."
watch "$sample/unreachable" "$TRIBAL_KEY" "$BASE_URL/general?limit=1"
docker network disconnect "${COMPOSE_PROJECT_NAME}_database" "$(compose ps --quiet postgres)"
sleep 30
docker network connect --alias postgres "${COMPOSE_PROJECT_NAME}_database" "$(compose ps --quiet postgres)"
wait_for_rows
unwatch
# 400: the request that was running when the connection broke.
only "$sample/unreachable" '200|400|503'
grep -q ^503 "$sample/unreachable"
awk '$2 > 5 { print "answered after " $2 " s"; slow = 1 } END { exit slow }' "$sample/unreachable"

echo "21 clients read large responses slowly, and each gets its whole response."
readers=()
for _ in $(seq 21); do
  curl -fsS --limit-rate 400k --retry 30 -o /dev/null -w '%{size_download}\n' -H "x-api-key: $INDIVIDUAL_KEY" "$page" >> "$sample/slow" &
  readers+=($!)
  # Lets the response begin: a key may run only a few requests in the database at a time. curl retries after 429.
  sleep 4
done
for reader in "${readers[@]}"; do wait "$reader"; done
[ "$(sort -u "$sample/slow" | wc -l)" = 1 ]

echo "After a minute of load, a gateway stops within 10 s, although clients keep idle connections open."
# With a key of its own: a minute of load leaves too few requests of the hour for the checks that follow.
load_key=$(compose run --rm keys issue --tier individual --owner test@example.gov --quiet)
watch "$sample/load" "$load_key" "$BASE_URL/general?limit=1"
sleep 60
unwatch
exec 3<> "/dev/tcp/127.0.0.1/$GATEWAY_PORT"
printf 'GET /general?limit=1 HTTP/1.1\r\nHost: test\r\nX-Api-Key: %s\r\n\r\n' "$TRIBAL_KEY" >&3
sleep 1
seconds=$SECONDS
compose stop gateway
[ "$((SECONDS - seconds))" -le 10 ]
exec 3>&-
compose up --detach --wait

echo "A gateway that restarts lets a client finish reading a full page, and ends when the client has it."
# Not through the published port: Docker's port proxy ends with the container, and loses the data that it has buffered.
curl -fsS --limit-rate 500k -o "$sample/page" -H "x-api-key: $INDIVIDUAL_KEY" "http://$(address gateway edge):8000${page#"$BASE_URL"}" &
reader=$!
sleep 5
seconds=$SECONDS
compose restart gateway
wait "$reader"
[ "$((SECONDS - seconds))" -le 130 ]
compose up --detach --wait

echo "A backup can be restored (docs/operations.md), while requests get 50x or the right rows."
compose exec -T postgres pg_dump --username=postgres --data-only --schema=access --schema=publication single_audit > "$sample/durable.sql"
report=$(compose exec -T postgres psql -qAtU postgres single_audit -c "select report_id from disclosed.general limit 1")
# 404 if the report is missing, 401 if the key is.
watch "$sample/restore" "$TRIBAL_KEY" "$BASE_URL/general?report_id=eq.$report"
compose rm --stop --force postgrest refresher postgres
docker volume rm "${COMPOSE_PROJECT_NAME}_postgres"
compose up --detach --wait postgres storage
compose run --rm migrate
cat ops/before-restore.sql "$sample/durable.sql" ops/after-restore.sql \
  | compose exec -T postgres psql -qU postgres --single-transaction --set=ON_ERROR_STOP=1 --output=/dev/null single_audit
compose run --rm migrate
compose run --rm --volume "$sample/files:/source:ro" publish --from /source
compose up --detach --wait
# Kong must not remember for long that PostgREST was gone.
wait_for_rows 10
unwatch
# 400: a request that was running when the connection broke.
only "$sample/restore" '200|400|50[0-9]'
smoke

echo "An upgrade with a failing migration replaces no container; an upgrade to a new image does."
containers=$(compose ps --quiet | sort)
printf -- '-- Lock level: none\nselect 1 / 0;\n' > "$migration"
if npm run -s compose:upgrade; then exit 1; fi
[ "$containers" = "$(compose ps --quiet | sort)" ]
rm "$migration"
echo "A new image." > scripts/changed-by-test-compose
npm run -s compose:upgrade
[ "$containers" != "$(compose ps --quiet | sort)" ]
smoke

echo "An upgrade replaces the gateway and the report service if a rate limit changed."
old=$(limit)
shows_limit "$old"
sed -i "s/hour: $old\b/hour: $((old + 1))/" gateway/kong.yml
npm run -s compose:upgrade
[ "$(limit)" = "$((old + 1))" ]
shows_limit "$((old + 1))"

echo "No log contains a key, and the gateway's log contains no query string."
[ "$(compose logs | grep -cF -e "$INDIVIDUAL_KEY" -e "$TRIBAL_KEY")" = 0 ]
[ "$(compose logs gateway | grep -c 'select=')" = 0 ]
