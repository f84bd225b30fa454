#!/bin/sh
# Runs a gateway in a container. `run-until-sent.sh COMMAND…` runs COMMAND. After a signal, it ends when COMMAND has ended
# and clients have received what COMMAND wrote. nginx ends as soon as the kernel has the last bytes of a response, up to
# 4 MB per client, and the kernel loses them when the container ends.
set -u
limit=${KONG_NGINX_MAIN_WORKER_SHUTDOWN_TIMEOUT:?Set KONG_NGINX_MAIN_WORKER_SHUTDOWN_TIMEOUT to the longest stop, such as 120s}
deadline=
stop() {
  deadline=$(($(date +%s) + ${limit%s}))
  # While nginx is not running yet, COMMAND ignores SIGQUIT.
  while kill -s "$1" "$child" 2> /dev/null; do sleep 1; done &
}
# wait_for STATE DEADLINE: waits while a TCP connection of this container is in STATE.
wait_for() {
  while grep -qsE "^ *[0-9]+: [^ ]+ [^ ]+ $1 " /proc/net/tcp /proc/net/tcp6 && [ "$(date +%s)" -lt "$2" ]; do sleep 0.2; done
}

"$@" &
child=$!
trap 'stop QUIT' QUIT
trap 'stop TERM' TERM
status=0
# A signal interrupts `wait`.
while kill -0 "$child" 2> /dev/null; do
  wait "$child"
  status=$?
done
[ -n "$deadline" ] || exit "$status"
# FIN_WAIT1: the client has not received everything.
wait_for 04 "$deadline"
# FIN_WAIT2: the client has not closed the connection. Docker's port proxy may still pass on data, and ends with the
# container. This does not wait longer, because some clients keep an idle connection open.
wait_for 05 $(($(date +%s) + 3))
exit "$status"
