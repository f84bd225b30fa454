#!/usr/bin/env bash
# Runs a command in a copy of the checkout, as a Compose project of its own, and then removes the project:
#
#   bash test/compose/in-own-project.sh COMMAND [ARGUMENT]...
#
# Tests and benchmarks call docker compose only in such a command. Compose takes the names of volumes from .env and from
# the environment, and on a host that serves they name the live volumes. The command gets neither of the two.
# Exit status: the command's status, or 3 if no Docker engine answers.
set -euo pipefail
cd "$(dirname "$0")/../.."

if ! docker compose version > /dev/null 2>&1 || ! docker info > /dev/null 2>&1; then
  echo "test:compose: no Docker engine with Compose answers here, so nothing was tested. Start Docker and try again." >&2
  exit 3
fi

for name in $(compgen -e); do
  case $name in
    PATH | PWD | HOME | TMPDIR | TERM | CI | DOCKER_* | BUILDX_* | *_PROXY | *_proxy | POSTGREST_VERSION) ;;
    *) unset "$name" ;;
  esac
done
read -r GATEWAY_PORT APP_PORT GATEWAY_2_PORT APP_2_PORT < <(
  node --import tsx --input-type=module --eval '
    import { findFreePort } from "./scripts/servers/find-free-port.ts";
    console.log(await findFreePort(), await findFreePort(), await findFreePort(), await findFreePort());
  '
)
export GATEWAY_PORT APP_PORT GATEWAY_2_PORT APP_2_PORT
COMPOSE_PROJECT_NAME=single-audit-test-$(date +%Y%m%d%H%M%S)-$$
export COMPOSE_PROJECT_NAME COMPOSE_FILE=docker-compose.yml
every_file=docker-compose.yml:docker-compose.scale.yml

command=
copy=$(cd "$(mktemp -d)" && pwd -P)
# Removes only what carries the project's label: a name could lead to a live volume.
finish() {
  status=$?
  set +e
  # npm passes on a signal that the terminal has already sent, and the second one must not stop this.
  trap '' INT TERM HUP
  # A command that still runs could start more containers.
  kill -TERM -- "-$command" 2> /dev/null
  for _ in {1..300}; do
    kill -0 -- "-$command" 2> /dev/null || break
    sleep 0.1
  done
  [ "$status" = 0 ] || COMPOSE_FILE=$every_file docker compose logs --tail 100
  own=label=com.docker.compose.project=$COMPOSE_PROJECT_NAME
  docker container ls --all --quiet --filter "$own" | xargs -r docker container rm --force --volumes > /dev/null
  for kind in network volume image; do
    docker "$kind" ls --quiet --filter "$own" | sort -u | xargs -r docker "$kind" rm --force > /dev/null
  done
  rm -rf "$copy"
  exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# In the copy, tests make secrets and migrations of their own.
git ls-files -z --cached --others --exclude-standard -- . ':!.env' ':!secrets' ':!node_modules' |
  tar --create --null --files-from=- --ignore-failed-read | tar --extract --directory="$copy"
ln -s "$PWD/node_modules" "$copy"
cd "$copy"
export OWN_PROJECT=$copy

volumes=$(
  COMPOSE_FILE=$every_file docker compose config --format json |
    node -p 'Object.values(JSON.parse(fs.readFileSync(0)).volumes).map(({ name }) => name).join("\n")'
)
existing=$(docker volume ls --quiet)
if foreign=$(grep -Fx "$volumes" <<< "$existing"); then
  printf 'test:compose: nothing was started, since volumes exist that belong to another project:\n%s\n' "$foreign" >&2
  echo "Have the compose files name their volumes after COMPOSE_PROJECT_NAME." >&2
  exit 1
fi

# Job control gives the command a process group of its own, which finish can end as a whole.
set -m
"$@" < /dev/null &
command=$!
wait "$command"
