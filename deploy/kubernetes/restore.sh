#!/bin/sh
# restore.sh OVERLAY --continue-ledger|--new-ledger PLACE [--from SERVER_NAME] [--to TIME]: creates PostgreSQL from its backups in
# kubectl's current cluster, which must have none, and releases everything else (release.sh). WAL and backups of the restored cluster go to a new directory of
# the bucket, which OVERLAY/archive.yaml records: commit that file.
#   --from  the directory to restore from; without it, the one in OVERLAY/archive.yaml
#   --to    restores this moment, such as 2026-11-22T12:00:00Z; without it, the latest
#   --continue-ledger   if the cluster replaces the original: writes to its ledger (docs/operations.md, The ledger)
#   --new-ledger PLACE  if the cluster is a copy beside the original: starts a ledger in an empty directory or s3:// URL
set -eu
overlay=${1:?Name an overlay, such as deploy/kubernetes/overlays/kind}
overlay=${overlay%/}
shift
here=$(cd "$(dirname "$0")" && pwd)
archive=$overlay/archive.yaml
from=$(sed -n 's/.*serverName, value: \(.*\) }$/\1/p' "$archive")
target=
ledger=
place=
while [ $# -gt 0 ]; do
  case $1 in
    --from) from=${2:?Name a directory of the bucket} ;;
    --to) target="      - { op: add, path: /spec/bootstrap/recovery/recoveryTarget, value: { targetTime: \"${2:?Name a time}\" } }" ;;
    --continue-ledger) ledger=$1; shift; continue ;;
    --new-ledger) ledger=$1 place=${2:?Name an empty directory or s3:// URL} ;;
    *) echo "restore.sh does not know the option $1." >&2; exit 1 ;;
  esac
  shift 2
done
if [ -z "$ledger" ]; then
  echo "Add --continue-ledger if this cluster replaces the original, or --new-ledger PLACE if it is a copy." >&2
  exit 1
fi
if [ -n "$(kubectl get cluster/postgres --namespace=single-audit --ignore-not-found --output=name)" ]; then
  echo "There is a PostgreSQL cluster already. To replace it, delete it first: kubectl delete --namespace single-audit cluster/postgres" >&2
  exit 1
fi

name=postgres-$(date -u +%Y%m%d%H%M%S)
restored=$(mktemp -d "${overlay%/*}/restored-XXXXXX")
trap 'rm -rf "$restored"' EXIT
cat > "$restored/kustomization.yaml" <<YAML
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [../${overlay##*/}]
components: [../../restore]
patches:
  - target: { group: postgresql.cnpg.io, kind: Cluster }
    patch: |
      - { op: replace, path: /spec/externalClusters/0/plugin/parameters/serverName, value: $from }
      - { op: replace, path: /spec/plugins/0/parameters/serverName, value: $name }
      - { op: replace, path: /spec/postgresql/parameters/single_audit.server_name, value: $name }
$target
YAML
cat > "$archive" <<YAML
# The directory in the bucket that has this cluster's WAL and backups. Restored from $from.
- { op: replace, path: /spec/plugins/0/parameters/serverName, value: $name }
- { op: replace, path: /spec/postgresql/parameters/single_audit.server_name, value: $name }
YAML
"$here/release.sh" "$restored"
# Until then, requests get 503.
backup="kubectl create --namespace single-audit --filename $here/backup.yaml"
if ! kubectl exec --namespace=single-audit deployment/refresher -- node --import tsx scripts/refresh.ts "$ledger" ${place:+"$place"}; then
  cat >&2 <<TEXT
PostgreSQL is restored, but requests get 503, because the ledger could not be read. If this cluster cannot reach the original's ledger,
copy the ledger's files and run --continue-ledger with the copy (docs/operations.md, The ledger). Then run: $backup
TEXT
  exit 1
fi
if ! kubectl create --namespace=single-audit --filename="$here/backup.yaml"; then
  echo "PostgreSQL is restored, but its first backup did not start. Run: $backup" >&2
  exit 1
fi
