#!/usr/bin/env bash
# npm run test:compose: the compose files on a real engine, and the HTTP tests against the containers. It has volumes of
# its own and takes the ports of the README; everything is removed at the end. Exit status: 3 where there is no engine.
set -euo pipefail
cd "$(dirname "$0")/../.."

if ! docker compose version > /dev/null 2>&1 || ! docker info > /dev/null 2>&1; then
  echo "test:compose: no Docker engine with Compose answers here, so nothing was tested." >&2
  exit 3
fi
export COMPOSE_PROJECT_NAME=single-audit-test
# The port proxy hides addresses from Kong, so the tests say them, and Kong believes the networks of Docker.
export TRUSTED_IPS=172.16.0.0/12,192.168.0.0/16 FORWARD_ADDRESSES=1
BASE_URL="http://127.0.0.1:${GATEWAY_PORT:-8000}"
APP_URL="http://127.0.0.1:${APP_PORT:-8001}"
sample=$(mktemp -d)
compose() { docker compose --progress quiet "$@"; }
up() { compose up --build --detach --wait --wait-timeout 300; }
address() { docker inspect --format "{{(index .NetworkSettings.Networks \"${COMPOSE_PROJECT_NAME}_database\").IPAddress}}" "$(compose ps --quiet "$1")"; }
finish() {
  status=$?
  [ "$status" = 0 ] || compose logs --tail 100
  COMPOSE_FILE=docker-compose.yml:docker-compose.scale.yml compose down --volumes --remove-orphans
  rm -rf "$sample"
}
trap finish EXIT

# watch FILE CURL-ARGUMENT…: writes down each status, ten times a second, until unwatch; 000 is no answer.
watch() {
  local file=$1
  shift
  (while [ -d "$sample" ]; do curl -s -o /dev/null -m 5 -w '%{http_code}\n' "$@" || true; sleep 0.1; done > "$file") &
  watcher=$!
}
unwatch() { kill "$watcher"; }

echo "The base file starts, says 503 and not 404 until it has its routes, and a second start changes nothing."
npm run -s compose:secrets
watch "$sample/first" "$BASE_URL/general?limit=1" -H 'x-api-key: DEMO_KEY'
up
sleep 1
unwatch
uniq -c "$sample/first"
grep -q 503 "$sample/first" && grep -q 200 "$sample/first" && ! grep -vE '^(000|503|200|429)$' "$sample/first"
before=$(compose ps --quiet | sort)
up
[ "$before" = "$(compose ps --quiet | sort)" ]

echo "Keys and data sets are made in containers."
INDIVIDUAL_KEY=$(compose run --rm keys issue --tier individual --owner test@example.gov --quiet)
agreement=$(compose run --rm agreements request --organisation Test --contact test@example.gov --json | sed -n 's/^ *"id": "\(.*\)",$/\1/p')
compose run --rm agreements approve "$agreement" --official Test --agency Test --email test@example.gov > "$sample/agreement"
TRIBAL_KEY=$(compose run --rm keys issue --tier tribal --owner test@example.gov --agreement "$agreement" --quiet)
npm run -s sample -- --out "$sample/files" --pdf
chmod -R a+rX "$sample"
compose run --rm --volume "$sample/files:/source:ro" publish --from /source
compose cp "$sample/files/reports" "storage:/data/${S3_BUCKET:-single-audit}/"

echo "The gateway keeps its routes over a restart."
timeout 60 sh -c "until curl -fsS -o /dev/null '$BASE_URL/general?limit=1' -H 'x-api-key: $TRIBAL_KEY'; do sleep 1; done"
watch "$sample/statuses" "$BASE_URL/general?limit=1"
compose restart gateway
compose up --detach --wait
unwatch
# Without a key: 401, and 000 while nothing listens.
grep -q 401 "$sample/statuses" && ! grep -vE '^(401|000)$' "$sample/statuses"

echo "Smoke and the HTTP tests pass."
export BASE_URL APP_URL INDIVIDUAL_KEY TRIBAL_KEY
DATABASE_URL="postgres://postgres:$(cat secrets/postgres_password)@$(address postgres):5432/single_audit"
POSTGREST_URL="http://$(address postgrest):3000"
export DATABASE_URL POSTGREST_URL
npm run -s smoke -- --base-url "$BASE_URL" --app-url "$APP_URL" --key "$INDIVIDUAL_KEY" --tribal-key "$TRIBAL_KEY"
npx vitest run test/http
npm run -s db:diff

echo "The scale file starts on the same data, and both gateways serve."
export COMPOSE_FILE=docker-compose.yml:docker-compose.scale.yml
up
for port in "${GATEWAY_PORT:-8000}" "${GATEWAY_2_PORT:-8010}"; do
  npm run -s smoke -- --base-url "http://127.0.0.1:$port" --app-url "$APP_URL" --key "$INDIVIDUAL_KEY" --tribal-key "$TRIBAL_KEY"
done
