#!/bin/sh
# Creates the Secrets of deploy/kubernetes in kubectl's current cluster, one for each workload, from files in secrets/. Keep
# those files. Running this again changes nothing, except secrets whose files you removed or wrote yourself (such as a
# bucket's keys).
set -eu
cd "$(dirname "$0")/../.."
directory=${1:-secrets/kubernetes}
npm run --silent compose:secrets -- --directory "$directory"
read_secret() { cat "$directory/$1"; }
write_secret() {
  printf %s "$2" > "$directory/$1.new"
  mv -f "$directory/$1.new" "$directory/$1"
}
# In the bundled storage, backups use the refresher's keys, and the site uses the report service's keys. A bucket of your own has
# separate keys for backups, for the site and for the ledger.
for name in access_key secret_key; do
  [ -e "$directory/backup_$name" ] || write_secret "backup_$name" "$(read_secret "storage_$name")"
  [ -e "$directory/ledger_$name" ] || write_secret "ledger_$name" "$(read_secret "storage_$name")"
  [ -e "$directory/site_$name" ] || write_secret "site_$name" "$(read_secret "storage_reader_$name")"
done
[ -e "$directory/site_password" ] || write_secret site_password "$(node -p 'require("crypto").randomBytes(32).toString("base64url")')"
address() {
  # If a server cannot be reached, PostgREST gives up after 3 s and tries another one. If it waits for a query's result, within 8 s. A
  # server that can be reached has 5 s for a new connection: a busy one needs more than 2 s, and would go on starting connections that
  # PostgREST no longer wants.
  echo "postgres://authenticator:$(read_secret authenticator_password)@$1/single_audit?sslmode=verify-full\
&sslrootcert=/etc/postgres-ca/ca.crt&connect_timeout=5&tcp_user_timeout=3000\
&keepalives_idle=5&keepalives_interval=1"
}
# Prefers replicas, and uses the primary while there are none.
write_secret postgrest_reader_uri "$(address postgres-ro,postgres-rw)&target_session_attrs=prefer-standby"
write_secret postgrest_writer_uri "$(address postgres-rw)"

namespace=single-audit
kubectl create namespace "$namespace" --dry-run=client --output=yaml | kubectl apply --server-side --filename=-
# create NAME [KEY=]FILE…: --server-side keeps no copy of the secrets in an annotation.
create() {
  name=$1
  shift
  for file; do
    set -- "$@" "--from-file=${file%=*}=$directory/${file#*=}"
    shift
  done
  kubectl create secret generic "$name" --namespace="$namespace" "$@" --dry-run=client --output=yaml \
    | kubectl apply --server-side --force-conflicts --filename=-
}
create gateway gateway_token counters_password
create counters counters_config
create postgrest-reader postgrest_db_uri=postgrest_reader_uri jwt_secret
create postgrest-writer postgrest_db_uri=postgrest_writer_uri jwt_secret
create report-service report_service_password storage_reader_access_key storage_reader_secret_key
create site site_password site_access_key site_secret_key
create refresher publisher_password storage_access_key storage_secret_key ledger_access_key ledger_secret_key
create deploy-database postgres_password authenticator_password report_service_password site_password publisher_password
create backups backup_access_key backup_secret_key
create storage access_key=storage_access_key secret_key=storage_secret_key
create storage-reader access_key=storage_reader_access_key secret_key=storage_reader_secret_key
kubectl create secret generic postgres-owner --namespace="$namespace" --type=kubernetes.io/basic-auth --dry-run=client --output=yaml \
  --from-literal=username=single_audit_owner --from-file=password="$directory/postgres_password" \
  | kubectl apply --server-side --force-conflicts --filename=-
