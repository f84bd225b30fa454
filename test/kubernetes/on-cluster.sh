#!/usr/bin/env bash
# Runs the commands of docs/scaling.md, in order, on kubectl's current cluster: a new kind cluster, which CI throws away. From the
# first data set on, a client asks all the time. Its responses are counted at the end of each section.
set -euo pipefail
cd "$(dirname "$0")/../.."
PATH=$PWD/node_modules/.bin:$PATH

# section HEADING: the commands of docs/scaling.md under a heading
section() { awk -v heading="## $1" '/^## / { on = $0 == heading } /^```/ { inside = on && /^```sh/; next } inside' docs/scaling.md; }
run() {
  echo "=== $1"
  section "$1" | grep -q . || { echo "docs/scaling.md has no commands under $1." >&2; exit 1; }
  bash -euxo pipefail -c "$(section "$1")"
  jobs=$(pgrep --full 'kubectl port-forward' || true)
  [ -z "$jobs" ] || kill $jobs
}
client() { kubectl --namespace=client "$@"; }
# count SECTION: fails if the client got anything but correct rows and 503 in the section
count() {
  client logs client --since-time="$since" | sort | uniq -c | tee "/tmp/$1"
  ! grep -vE ' (200|503|none)$' "/tmp/$1"
}

run Install
kubectl apply --filename=test/kubernetes/client.yaml
client wait --for=condition=Ready --timeout=2m pod/client
for name in Upgrade "Back up"; do
  since=$(date -u +%Y-%m-%dT%H:%M:%SZ)
  run "$name"
  count "$name"
done
since=$(date -u +%Y-%m-%dT%H:%M:%SZ)
run Restore
count Restore
client logs client --since=5s | grep -q 200
