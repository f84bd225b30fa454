-- Memory for the publisher's session: about a sixteenth of what the server has been given, by the one setting that says
-- how much that is. A sixth of shared_buffers is used for each sort and each index, and 64 MB to 1 GB in any case.
select
  set_config('work_mem', memory.megabytes || 'MB', false),
  set_config('maintenance_work_mem', memory.megabytes || 'MB', false)
from (
  select least(1024, greatest(64, pg_size_bytes(current_setting('shared_buffers')) / 6 / 1048576)) as megabytes
) as memory;

-- Tables are scanned from the first row to the last: build.sql relies on it. Workers for indexes are another setting.
set synchronize_seqscans = off;
set max_parallel_workers_per_gather = 0;

-- Dates stand as YYYY-MM-DD in the files. Nobody shall guess which part of 01/02/2023 is the month.
set datestyle = 'ISO, YMD';
set client_min_messages = notice;
-- A refresh takes as long as it takes; limits are for readers.
set statement_timeout = 0;
set idle_in_transaction_session_timeout = 0;
