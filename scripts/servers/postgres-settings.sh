# Prints PostgreSQL's settings for the memory that it may use: DATABASE_MEMORY in megabytes, else the limit of the
# container, else 1024. db/data_set/session.sql takes from shared_buffers what a refresh may use.
#
# $1: where the cgroups are mounted, of version 2 or 1
set -eu
cgroup=${1:-/sys/fs/cgroup}
limit=$(cat "$cgroup/memory.max" 2> /dev/null || cat "$cgroup/memory/memory.limit_in_bytes" 2> /dev/null || true)
case $limit in
  # No limit is the word max, or in version 1 a number of 19 digits.
  '' | *[!0-9]* | ???????????????????*) memory=1024 ;;
  *) memory=$((limit / 1048576)) ;;
esac
memory=${DATABASE_MEMORY:-$memory}
# Tables that walks go through are kept there whole (scripts/refresh/warm-tables.ts), so this is as much as PostgreSQL's
# manual calls useful; and they are read in again after a restart.
echo "-c shared_buffers=$((memory * 2 / 5))MB"
echo '-c shared_preload_libraries=pg_prewarm'
echo "-c effective_cache_size=$((memory * 3 / 4))MB"
# A refresh writes a whole data set at once.
echo '-c max_wal_size=2GB'
# Queries are short: compiling one takes longer than running it.
echo '-c jit=off'
# Each line has the id of the request, or the name of the service where there is none; never what a statement was given.
echo '-c log_line_prefix=%m,%p,%a:'
echo '-c log_parameter_max_length=0'
echo '-c log_parameter_max_length_on_error=0'
# The text of an error quotes the value that could not be cast and the column that is not there, which may be of a
# suppressed row or a key. Whoever asked is told it; the log has what concerns the server.
echo '-c log_min_messages=log'
