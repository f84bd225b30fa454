#!/bin/sh
# release.sh OVERLAY [--roll-back]: updates kubectl's current cluster to match this checkout: PostgreSQL first, then db:deploy, then
# everything else. If db:deploy fails, the running pods stay as they are. OVERLAY is a directory, or a file that
# kubectl kustomize wrote, such as the manifests of a release.
#   --roll-back  OVERLAY may belong to an older release. Its pods are replaced before the database, because pods work with the
#                database of the next release, but not with the database of the previous one. Migrations, volumes, and PostgreSQL's
#                major version and backup directory stay
set -eu
overlay=${1:?Name an overlay, such as deploy/kubernetes/overlays/kind}
case ${2-} in
  '' | --roll-back) roll_back=${2-} ;;
  *) echo "release.sh does not know the option $2." >&2; exit 1 ;;
esac
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
manifests=$work/manifests.yaml
in_namespace() { kubectl --namespace=single-audit "$@"; }
# Server-side, so that fields that others set, such as an autoscaler's replicas, stay as they are.
apply() { kubectl apply --server-side --force-conflicts --filename="$manifests" "$@"; }

if [ -f "$overlay" ]; then cp "$overlay" "$manifests"; else kubectl kustomize "$overlay" > "$manifests"; fi
if ! grep -q '^  TRUSTED_IPS:' "$manifests"; then
  echo "TRUSTED_IPS is missing in $overlay/kustomization.yaml. Set it to the addresses of your ingress controller." >&2
  exit 1
fi

spec() { in_namespace get cluster/postgres --ignore-not-found --output="jsonpath={.spec.$1}"; }
major() { tag=${1##*/} tag=${tag#*:}; echo "${tag%%[!0-9]*}"; }
running=$(spec imageName)
image=$(sed -n 's/^  imageName: //p' "$manifests")
if [ -n "$running" ] && [ "$(major "$running")" != "$(major "$image")" ]; then
  if [ -z "$roll_back" ]; then
    echo "The cluster has PostgreSQL $(major "$running"), but this release needs $(major "$image"). See docs/scaling.md, Upgrade PostgreSQL." >&2
    exit 1
  fi
  image=$running
fi
# Keeps what a rollback must not change, and lets db:deploy deploy an older release.
keep_state() {
  storage=$(spec storage)
  wal=$(spec walStorage)
  archive=$(spec 'plugins[0].parameters.serverName')
  mkdir "$work/older"
  mv "$manifests" "$work/older/manifests.yaml"
  cat > "$work/older/kustomization.yaml" <<YAML
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [manifests.yaml]
patches:
  - target: { kind: Job, name: deploy-database }
    patch: "- { op: add, path: /spec/template/spec/containers/0/command/-, value: --roll-back }"
  - target: { kind: Cluster, name: postgres }
    patch: |
      - { op: replace, path: /spec/imageName, value: "$image" }
      - { op: replace, path: /spec/storage, value: $storage }
      - { op: add, path: /spec/walStorage, value: ${wal:-null} }
      - { op: replace, path: /spec/plugins/0/parameters/serverName, value: $archive }
      - { op: replace, path: /spec/postgresql/parameters/single_audit.server_name, value: $archive }
  # A volume cannot shrink.
  - target: { kind: PersistentVolumeClaim }
    patch: |
      \$patch: delete
      apiVersion: v1
      kind: PersistentVolumeClaim
      metadata: { name: any }
YAML
  kubectl kustomize "$work/older" > "$manifests"
}
[ -z "$roll_back" ] || keep_state
if grep -q '^kind: PodMonitor$' "$manifests"; then
  { echo ---; cat "$here/monitoring/prometheus-rule.yaml"; sed 's/^/  /' "$here/../monitoring/prometheus-rules.yml"; } >> "$manifests"
fi

# An autoscaler's Deployment has no replicas in the manifests. If an earlier release set them, removing the field would
# scale the Deployment to 1, so another field manager takes over the number first.
keep_replicas() {
  for name in $(sed -n '/^  scaleTargetRef:/,/^    name:/s/^    name: //p' "$manifests"); do
    replicas=$(in_namespace get deployment "$name" --ignore-not-found --output='jsonpath={.spec.replicas}')
    [ -n "$replicas" ] || continue
    printf '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"%s"},"spec":{"replicas":%s}}' "$name" "$replicas" \
      | in_namespace apply --server-side --force-conflicts --field-manager=autoscaler --filename=-
  done
}

# CloudNativePG does not say which version of the Cluster its status describes, so PostgreSQL must stay ready for a while.
wait_for_postgres() {
  checks=0
  for _ in $(seq 600); do
    ready=$(in_namespace get cluster/postgres --output='jsonpath={.status.conditions[?(@.type=="Ready")].status}') || ready=
    if [ "$ready" = True ]; then checks=$((checks + 1)); else checks=0; fi
    [ "$checks" -lt 5 ] || return 0
    sleep 3
  done
  echo "PostgreSQL was not ready within 30 minutes. Look at: kubectl describe --namespace single-audit cluster/postgres" >&2
  return 1
}

deploy_database() {
  if [ "$(in_namespace get job/deploy-database --ignore-not-found --output='jsonpath={.status.active}')" = 1 ]; then
    echo "Another release is deploying the database. Wait until the Job deploy-database ends, or delete it, and try again." >&2
    return 1
  fi
  in_namespace delete job/deploy-database --ignore-not-found
  apply --selector=app.kubernetes.io/component=deployment
  while :; do
    ended=$(in_namespace get job/deploy-database --output='jsonpath={.status.conditions[?(@.status=="True")].type}') || ended=
    case $ended in *Complete | *Failed) break ;; esac
    sleep 1
  done
  in_namespace logs job/deploy-database || echo "The log of the Job deploy-database cannot be read." >&2
  case $ended in *Complete) ;; *) return 1 ;; esac
}

# Deletes what earlier releases created and this one does not have. Data and secrets are never deleted.
prune() {
  kinds=deployments,services,serviceaccounts,configmaps,networkpolicies,poddisruptionbudgets,horizontalpodautoscalers
  in_namespace get "$kinds" --selector=app.kubernetes.io/part-of=single-audit --output=name | sort > "$work/present"
  comm -13 "$work/applied" "$work/present" > "$work/left"
  [ ! -s "$work/left" ] || xargs kubectl --namespace=single-audit delete < "$work/left"
}

apply_all() {
  apply --selector='app.kubernetes.io/component!=deployment' --output=name > "$work/names"
  sort "$work/names" > "$work/applied"
}
# wait_for_pods TIMEOUT: waits that long for each Deployment.
wait_for_pods() { grep '^deployment' "$work/applied" | xargs kubectl --namespace=single-audit rollout status --timeout="$1"; }

keep_replicas
if [ -n "$roll_back" ]; then
  apply_all
  wait_for_pods 1m || echo "Some pods are not ready. They may need the older database, which comes next." >&2
else
  apply --selector='app.kubernetes.io/component notin (server, deployment)'
fi
wait_for_postgres
deploy_database
apply_all
if ! wait_for_pods 15m; then
  echo "Some pods did not become ready. Pods of the previous release keep running. See docs/operations.md, Roll back a deployment." >&2
  exit 1
fi
prune
