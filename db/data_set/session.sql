-- Memory for the publisher's session: a sixteenth of what the server has been given, by the one setting that says
-- how much that is. shared_buffers is a quarter of a server's memory by PostgreSQL's own advice, so a quarter of it is
-- used for each sort and each index, and 64 MB to 1 GB in any case.
select
  set_config('work_mem', memory.kilobytes || 'kB', false),
  set_config('maintenance_work_mem', memory.kilobytes || 'kB', false)
from (
  select least(1048576, greatest(65536, (pg_size_bytes(current_setting('shared_buffers')) / 4096)::integer)) as kilobytes
) as memory;

-- Dates stand as YYYY-MM-DD in the files. Nobody shall guess which part of 01/02/2023 is the month.
set datestyle = 'ISO, YMD';
set client_min_messages = notice;
-- A refresh takes as long as it takes; limits are for readers.
set statement_timeout = 0;
set idle_in_transaction_session_timeout = 0;
