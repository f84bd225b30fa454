#!/usr/bin/env bash
# Runs the commands of docs/scaling.md, in order, on kubectl's current cluster: a new one of kind, which CI throws away. Then it
# replaces secrets (docs/operations.md). A client asks all the time, and its responses are counted at the end of each section.
# Needs a CNI that enforces NetworkPolicy.
set -euo pipefail
cd "$(dirname "$0")/../.."
counts=$(mktemp -d)

document=docs/scaling.md
# section HEADING [PART]: the commands of the document under a heading, or those that contain PART
section() { node --import tsx test/support/print-blocks.ts "$document" "$1" sh "${2-}"; }
run() {
  echo "=== $1"
  section "$@" > "$counts/commands"
  # A group of its own, so that port forwards end with it.
  setsid --wait bash -euo pipefail -c "trap 'status=\$?; trap \"\" TERM; kill 0; exit \$status' EXIT; set -x; $(cat "$counts/commands")"
}
# database COMMAND…: runs a command with the URL of the database
database() {
  : > "$counts/forward"
  kubectl port-forward --namespace=single-audit service/postgres-rw 5434:5432 >> "$counts/forward" &
  while kill -0 $! && ! grep -q Forwarding "$counts/forward"; do sleep 0.2; done
  DATABASE_URL="postgres://single_audit_owner:$(cat secrets/kubernetes/postgres_password)@127.0.0.1:5434/single_audit?sslmode=disable" "$@"
  # It may have ended with the connection.
  kill $! || true
}
issue() { database npm run -s keys -- issue --owner test@example.gov --quiet --tier "$@"; }
approve_agreement() {
  database npm run -s agreements -- request --organization Test --contact test@example.gov --json > "$counts/agreement"
  agreement=$(node -p 'JSON.parse(require("fs").readFileSync(0)).id' < "$counts/agreement")
  database npm run -s agreements -- approve "$agreement" --official Test --agency Test --email test@example.gov
}
client() { kubectl --namespace=client "$@"; }
refresh() { kubectl exec --namespace=single-audit deployment/refresher -- node --import tsx scripts/refresh.ts "$@"; }
# publish_without REPORT: publishes the sample, but with this report suppressed.
publish_without() {
  sed "s/^\($1,.*\),t,GSAFAC,/\1,f,GSAFAC,/" sample/general.csv \
    | kubectl exec --namespace=single-audit --stdin deployment/storage -- sh -c 'cat > /data/single-audit/source/general.csv'
  refresh
}
# get REQUEST KEY: the API's status and response
get() {
  client exec front -- node --input-type=module --eval '
    const [url, key] = process.argv.slice(1);
    const response = await fetch(url, { headers: { "x-api-key": key } });
    console.log(response.status, await response.text());' "http://127.0.0.1:8000/$1" "$2"
}
# shows REPORT true|false: whether the API shows the report as public
shows() { [ "$(get "general?select=is_public&report_id=eq.$1" "$ASKING")" = "200 [{\"is_public\":$2}]" ]; }
# asked STATUSES COMMAND…: fails if the client got other statuses while the command ran.
asked() {
  since=$(date -u +%Y-%m-%dT%H:%M:%SZ)
  "${@:2}"
  client logs client --since-time="$since" > "$counts/statuses"
  sort "$counts/statuses" | uniq -c
  [ -s "$counts/statuses" ] && ! grep -vE "^($1)$" "$counts/statuses"
}
# Behind the front: the smoke test with the three steps to a suppressed PDF (docs/operations.md), then pages and bulk files. The
# site's pod reaches the database and storage, and no other pod.
check_app() {
  approve_agreement
  document=docs/operations.md section Health > "$counts/commands"
  client exec --stdin front -- env BASE_URL=http://127.0.0.1:8000 APP_URL=http://127.0.0.1:8001 SMOKE_KEY="$(issue individual)" SMOKE_TRIBAL_KEY="$(issue tribal --agreement "$agreement")" sh -e < "$counts/commands"
  client exec --stdin front -- node --input-type=module < test/kubernetes/ask-pages.js
  kubectl exec --namespace=single-audit --stdin deployment/site -- node --input-type=module < test/kubernetes/list-reachable.js > "$counts/reachable"
  diff - "$counts/reachable" <<< $'postgres-rw:5432\nstorage-reader:7070'
}

run Install
# The front relays storage, as in the overlay kind.
sed 's/# - path:/- path:/' deploy/kubernetes/overlays/production/front.yaml > "$counts/front.yaml"
kubectl apply --filename=test/kubernetes/client.yaml
client create configmap front --from-file="$counts/front.yaml"
ASKING=$(issue individual)
client create secret generic keys --from-literal="KEYS=$ASKING,$(issue individual)"
client wait --for=condition=Ready --timeout=2m pod --all
check_app
asked 200 run Upgrade

asked 200 run "Upgrade the operators"

document=docs/operations.md
kind=deploy/kubernetes/overlays/kind
commit() { git -c user.name=test -c user.email=test@example.gov commit --quiet --all --message="$1"; }
# make_release TAG: commits what has changed, and makes an image of it, which the overlay names.
make_release() {
  sed -i "s/newTag: .*}/newTag: $1 }/" $kind/kustomization.yaml
  git add db
  commit "$1"
  docker build --quiet --tag "single-audit:$1" --build-arg RELEASE="$(npm run -s release:stamp)" .
  kind load docker-image "single-audit:$1"
}
setting() { database sh -c 'psql --no-align --tuples-only --command="show checkpoint_timeout" "$DATABASE_URL"'; }
column() { get 'additional_eins?select=other_id&limit=1' "$ASKING" | cut -c1-3; }
roll_back() {
  database run "Roll back a deployment" release.sh
  database run "Roll back a deployment" "db:deploy -- --roll-back"
}
export PREVIOUS=$(git rev-parse HEAD)
default=$(setting)
# A release with a migration, a column and another setting of PostgreSQL.
printf -- '-- Lock level: brief.\nalter table access.tiers add column other_id integer;\n' > db/migrations/29990101000000000_add_other_id.sql
view=db/api/api_v1_1_0/additional_eins.sql
sed -i 's/^from dissemination/, additional_eins.report_id as other_id\n&/' $view
echo "comment on column api_v1_1_0.additional_eins.other_id is E'Other ID\\nA column.';" >> $view
sed -i 's/max_wal_size: .*/&\n      checkpoint_timeout: 6min/' deploy/kubernetes/base/postgres.yaml
make_release changed
changed=$(git rev-parse HEAD)
asked '200|50[34]' deploy/kubernetes/release.sh $kind
[ "$(column)$(setting)" = 2006min ]
asked '200|50[34]' roll_back
[ "$(column)$(setting)" = "400$default" ]
# A release whose pods never become ready.
git checkout --quiet -
sed -i '1i process.exit(1);' scripts/report-service.ts
make_release broken
break_and_roll_back() {
  if timeout 5m deploy/kubernetes/release.sh $kind; then exit 1; fi
  roll_back
}
asked '200|50[34]' break_and_roll_back
[ "$(column)" = 400 ]
check_app
document=docs/scaling.md

# 400 and 503: a request whose connection broke.
asked '200|400|503' run "Replace a replica"
sleep 20
kubectl wait --namespace=single-audit --for=condition=Ready --timeout=10m cluster/postgres

# As if the primary's volume for WAL were full and could not grow.
document=docs/operations.md
run "Disk full" currentPrimary
asked '200|400|50[34]' run "Disk full" wait=false
sleep 20
kubectl wait --namespace=single-audit --for=condition=Ready --timeout=10m cluster/postgres
run "Disk full" "get node"
# What the alerts' runbooks read, without the faults.
SERVICE=site run Alerts "kubectl logs"
run Alerts "get node"
document=docs/scaling.md

# What a restore must not undo. Two reports that are public in the sample, and in no chain of resubmissions.
sed -n 's/^\([^,]*\),.*,t,GSAFAC,[^,]*,[^,]*,0,,.*/\1/p' sample/general.csv > "$counts/public"
SUPPRESSED=$(sed -n 1p "$counts/public") RELEASED=$(sed -n 2p "$counts/public") REVOKED=$(issue individual)
publish_without "$RELEASED"
asked 200 run "Back up"
BEFORE=$(date -u +%Y-%m-%dT%H:%M:%SZ)
sleep 2
id=$(echo "$REVOKED" | database npm run -s keys -- verify --json | node -p 'JSON.parse(require("fs").readFileSync(0)).id')
database npm run -s keys -- revoke "$id"
refresh --release "$RELEASED" --operator test
publish_without "$SUPPRESSED"
shows "$RELEASED" true
shows "$SUPPRESSED" false
[ "$(get "general?limit=1" "$REVOKED" | cut -c1-3)" = 401 ]
# The refresher writes the revocation and the release to the ledger every few seconds. The restore reads WAL from the bucket.
sleep 10
run "Back up" pg_switch_wal

# restore_before ARGUMENT…: restores a moment before all of this, with the older source files, which show both reports
restore_before() {
  section Restore | sed "s/restore.sh .*/& $*/" > "$counts/commands"
  bash -euo pipefail -x "$counts/commands"
  publish_without none
}
# The gateway keeps running while PostgreSQL is restored.
# 400: a request that was running when its connection broke.
asked '200|400|50[34]' restore_before "--to $BEFORE"
sleep 5
# Not grep -q, which would end kubectl with SIGPIPE.
client logs client --since=5s | grep '^200$' > /dev/null
shows "$RELEASED" true
shows "$SUPPRESSED" false
[ "$(get "general?limit=1" "$REVOKED" | cut -c1-3)" = 401 ]

sed -i 's/value: .* }/value: postgres-next }/' $kind/archive.yaml
# The database kept the migration when the release was rolled back.
git checkout --quiet "$changed" -- db/migrations
make_release upgraded
asked '200|400|50[34]|none' run "Upgrade PostgreSQL"
shows "$RELEASED" true
shows "$SUPPRESSED" false
[ "$(get "general?limit=1" "$REVOKED" | cut -c1-3)" = 401 ]

# New and old pods run side by side for a moment.
document=docs/operations.md
(cd secrets/kubernetes && rm publisher_password report_service_password site_password counters_password counters_config \
  storage_reader_access_key storage_reader_secret_key site_access_key site_secret_key)
asked '200|50[23]' run "Replace a secret"
check_app
