#!/bin/sh
# release.sh OVERLAY: updates kubectl's current cluster to match this checkout: PostgreSQL first, then db:deploy, then
# everything else. If db:deploy fails, the running pods stay as they are.
set -eu
overlay=${1:?Name an overlay, such as deploy/kubernetes/overlays/kind}
namespace=single-audit
manifests=$(mktemp)
trap 'rm -f "$manifests"' EXIT
kubectl kustomize "$overlay" > "$manifests"
if ! grep -q '^  TRUSTED_IPS:' "$manifests"; then
  echo "TRUSTED_IPS is missing in $overlay/kustomization.yaml. Set it to the addresses of your ingress controller." >&2
  exit 1
fi

kubectl apply --filename="$manifests" --selector='app.kubernetes.io/component!=server'
kubectl wait --namespace="$namespace" --for=condition=Ready --timeout=15m cluster/postgres
job=deploy-database-$(date -u +%Y%m%d%H%M%S)
kubectl create job --namespace="$namespace" --from=cronjob/deploy-database "$job"
until [ -n "$(kubectl get job --namespace="$namespace" "$job" --output='jsonpath={.status.succeeded}{.status.failed}')" ]; do sleep 1; done
kubectl logs --namespace="$namespace" "job/$job"
kubectl wait --namespace="$namespace" --for=condition=Complete --timeout=10s "job/$job"
kubectl apply --filename="$manifests"
kubectl rollout status --namespace="$namespace" --timeout=15m deployment --selector=app.kubernetes.io/component=server
