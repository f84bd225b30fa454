#!/bin/sh
# release.sh OVERLAY: updates kubectl's current cluster to match this checkout: PostgreSQL first, then db:deploy, then
# everything else. If db:deploy fails, the running pods stay as they are. OVERLAY is a directory, or a file that
# kubectl kustomize wrote, such as the manifests of a release.
set -eu
overlay=${1:?Name an overlay, such as deploy/kubernetes/overlays/kind}
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
    echo "Another release is deploying the database. Wait until the Job deploy-database ends, and try again." >&2
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

keep_replicas
apply --selector='app.kubernetes.io/component notin (server, deployment)'
wait_for_postgres
deploy_database
apply --selector='app.kubernetes.io/component!=deployment' --output=name | sort > "$work/applied"
in_namespace rollout status --timeout=15m deployment --selector=app.kubernetes.io/component=server
prune
