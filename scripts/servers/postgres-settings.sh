# Prints PostgreSQL's settings for the memory that it may use: DATABASE_MEMORY in megabytes, or else the container's
# limit, or else 1024. db/data_set/session.sql derives a refresh's memory from shared_buffers.
#
# $1: the directory where the cgroups are mounted, version 2 or 1
set -eu
cgroup=${1:-/sys/fs/cgroup}
limit=$(cat "$cgroup/memory.max" 2> /dev/null || cat "$cgroup/memory/memory.limit_in_bytes" 2> /dev/null || true)
case $limit in
  # Without a limit, version 2 has the word max, and version 1 a number of 19 digits.
  '' | *[!0-9]* | ???????????????????*) memory=1024 ;;
  *) memory=$((limit / 1048576)) ;;
esac
memory=${DATABASE_MEMORY:-$memory}
# Clients page through whole tables, which stay in shared_buffers (scripts/refresh/warm-tables.ts). So it is 40% of
# memory, the most that PostgreSQL's manual calls useful. After a restart, pg_prewarm reads the tables again.
echo "-c shared_buffers=$((memory * 2 / 5))MB"
echo '-c shared_preload_libraries=pg_prewarm'
echo "-c effective_cache_size=$((memory * 3 / 4))MB"
# A refresh writes a whole data set at once.
echo '-c max_wal_size=2GB'
# Queries are short, so compiling one takes longer than running it.
echo '-c jit=off'
# Each line has the request's ID, or the service's name if there is no request, but never the parameters of a statement.
echo '-c log_line_prefix=%m,%p,%a:'
echo '-c log_parameter_max_length=0'
echo '-c log_parameter_max_length_on_error=0'
# An error's message quotes the value that could not be cast or the column that does not exist, which may be part of a
# suppressed row or a key. The client gets the message; the log gets only errors that concern the server.
echo '-c log_min_messages=log'
