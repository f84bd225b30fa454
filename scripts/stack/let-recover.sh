# let_recover: waits until no container of this host's Compose stack is unhealthy, for at most two minutes. `up --wait` fails at
# once if a container is unhealthy, and PostgREST is after a minute without its database.
let_recover() {
  deadline=$(($(date +%s) + 120))
  while docker compose ps --format '{{.Health}}' | grep -qx unhealthy && [ "$(date +%s)" -lt "$deadline" ]; do sleep 2; done
}
