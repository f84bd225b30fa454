-- Memory for the publisher's session. Each sort and each index may use a sixth of shared_buffers (about a sixteenth of the
-- server's memory), but at least 64 MB and at most 1 GB.
select
  set_config('work_mem', memory.megabytes || 'MB', false),
  set_config('maintenance_work_mem', memory.megabytes || 'MB', false)
from (
  select least(1024, greatest(64, pg_size_bytes(current_setting('shared_buffers')) / 6 / 1048576)) as megabytes
) as memory;

-- If the server was built with lz4, loading long texts takes less than half the CPU time.
select set_config('default_toast_compression', 'lz4', false)
from pg_catalog.pg_settings
where pg_settings.name = 'default_toast_compression' and 'lz4' = any (pg_settings.enumvals);

-- Scan tables from the first row to the last, because build.sql relies on it. Workers for indexes are another setting.
set synchronize_seqscans = off;
set max_parallel_workers_per_gather = 0;

-- Dates in the files must be YYYY-MM-DD, because the month of 01/02/2023 is ambiguous.
set datestyle = 'ISO, YMD';
set client_min_messages = notice;
-- A refresh has no time limit.
set statement_timeout = 0;
set idle_in_transaction_session_timeout = 0;
