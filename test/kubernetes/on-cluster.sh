#!/usr/bin/env bash
# Runs the commands of docs/scaling.md, in order, on kubectl's current cluster: a new one of kind, which CI throws away. Then it
# replaces secrets (docs/operations.md). A client asks all the time, and its responses are counted at the end of each section.
set -euo pipefail
cd "$(dirname "$0")/../.."
counts=$(mktemp -d)

document=docs/scaling.md
run() {
  echo "=== $1"
  node --import tsx test/support/print-blocks.ts "$document" "$1" sh > "$counts/commands"
  # A group of its own, so that port forwards end with it.
  setsid --wait bash -euo pipefail -c "trap 'status=\$?; trap \"\" TERM; kill 0; exit \$status' EXIT; set -x; $(cat "$counts/commands")"
}
# issue: a new key. kubectl ends the port forward after the connection.
issue() {
  kubectl port-forward --namespace=single-audit service/postgres-rw 5434:5432 > /dev/null & sleep 3
  DATABASE_URL="postgres://single_audit_owner:$(cat secrets/kubernetes/postgres_password)@127.0.0.1:5434/single_audit?sslmode=no-verify" \
    npm run -s keys -- issue --tier individual --owner test@example.gov --quiet
  kill $! 2> /dev/null || true
}
client() { kubectl --namespace=client "$@"; }
# asked SECTION STATUSES: runs a section, and fails if the client got other statuses meanwhile.
asked() {
  since=$(date -u +%Y-%m-%dT%H:%M:%SZ)
  run "$1"
  client logs client --since-time="$since" > "$counts/statuses"
  sort "$counts/statuses" | uniq -c
  [ -s "$counts/statuses" ] && ! grep -vE "^($2)$" "$counts/statuses"
}

run Install
kubectl apply --filename=test/kubernetes/client.yaml
client create secret generic keys --from-literal="KEYS=$(issue),$(issue)"
client wait --for=condition=Ready --timeout=2m pod/client
asked Upgrade 200
# 400 and 503: a request whose connection broke.
asked "Replace a replica" '200|400|503'
sleep 20
kubectl wait --namespace=single-audit --for=condition=Ready --timeout=10m cluster/postgres
asked "Back up" 200
# The gateway keeps running while PostgreSQL is restored.
# 400: a request that was running when its connection broke.
asked Restore '200|400|50[34]'
sleep 5
# Not grep -q, which would end kubectl with SIGPIPE.
client logs client --since=5s | grep '^200$' > /dev/null

# New and old pods run side by side for a moment.
document=docs/operations.md
(cd secrets/kubernetes && rm publisher_password report_service_password counters_password counters_config)
asked "Replace a secret" '200|50[23]'
