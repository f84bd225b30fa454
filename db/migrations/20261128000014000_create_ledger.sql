-- The database's copy of the ledger (docs/operations.md, The ledger), and whether it is up to date.
-- Lock level: new tables only.

create schema ledger;
comment on schema ledger is
  'The database''s copy of the ledger: suppressions, releases and revocations, which are also kept outside the database so that a restore does not undo them.';
grant usage on schema ledger to publisher;

create table ledger.entries (
  id bigint generated always as identity primary key,
  kind text not null,
  subject text not null,
  takes_effect_at timestamptz not null,
  recorded_at timestamptz not null default now(),
  recorded_by text not null,
  object_number bigint,
  constraint entries_kind_is_known check (
    kind in ('report suppressed', 'report released', 'key revoked', 'key expires', 'agreement revoked', 'agreement ends')
  )
);

-- ledger.record() looks for the last entry about a subject.
create index entries_subject on ledger.entries (subject, id);
create index entries_waiting on ledger.entries (id) where object_number is null;

comment on table ledger.entries is 'Suppressions, releases, revocations and earlier expiry dates, oldest first.';
comment on column ledger.entries.subject is
  'The report''s ID, the SHA-256 of the key in hexadecimal, or the ID of the agreement.';
comment on column ledger.entries.takes_effect_at is
  'When the report was suppressed or released, or the key or agreement was revoked; for "key expires", the earlier expiry date; for "agreement ends", the last day, at midnight UTC.';
comment on column ledger.entries.recorded_by is 'The operator, the data set that suppresses the report, or the login.';
comment on column ledger.entries.object_number is
  'The number of the ledger''s object that has the entry; null until it is written.';
grant select, update (object_number) on ledger.entries to publisher;

create table ledger.claim (
  place text,
  ledger_id uuid,
  writer_id uuid,
  last_object bigint not null default 0,
  lost_at timestamptz,
  server text,
  server_name text,
  database_name name,
  server_started_at timestamptz,
  changed_in xid,
  only_row boolean primary key default true,
  constraint claim_has_one_row check (only_row),
  constraint claim_is_complete check (num_nonnulls(place, ledger_id, writer_id, server) in (0, 4))
);
insert into ledger.claim default values;

comment on table ledger.claim is
  'Which ledger this database writes to, and on which server. A restored or copied database is on another server, so it answers no requests until an operator runs --continue-ledger or --new-ledger.';
comment on column ledger.claim.place is 'The directory or s3:// URL of the ledger; null if there is none yet.';
comment on column ledger.claim.writer_id is 'Identifies the objects that this database writes. Each --continue-ledger creates a new one.';
comment on column ledger.claim.last_object is 'The number of the last object that this database has written or read.';
comment on column ledger.claim.lost_at is
  'When this database found that another one writes to the ledger. From then on, it only reads the ledger.';
comment on column ledger.claim.server is 'The result of ledger.describe_server() when this database started or continued the ledger.';
comment on column ledger.claim.server_name is 'The setting single_audit.server_name at that time.';
comment on column ledger.claim.database_name is 'The name of the database at the last comparison with the ledger.';
comment on column ledger.claim.server_started_at is
  'The server''s start time at the last comparison with the ledger. If the server has started again since, the database may be an older copy. Null if it is one, so that its replicas answer no requests either.';
comment on column ledger.claim.changed_in is
  'The transaction that last changed the row. If it is not the one that wrote it, a backup was restored into this database.';
grant select, update on ledger.claim to publisher;

create view publication.service as
select
  coalesce(
    settings.is_switched_on
    and case
      -- Without a ledger, nothing is published, so requests get 503 anyway.
      when claim.place is null then not exists (select from publication.data_sets where data_sets.state = 'live')
      else claim.database_name = current_database()
        and claim.server_name is not distinct from nullif(current_setting('single_audit.server_name', true), '')
        and claim.changed_in = claim.xmin
        -- A replica follows its primary. A recovery to a point in time never asks a primary for WAL.
        and (
          claim.server_started_at = pg_postmaster_start_time()
          or claim.server_started_at is not null and pg_is_in_recovery() and pg_last_wal_receive_lsn() is not null
        )
    end,
    false
  ) as is_on
from publication.settings, ledger.claim;
comment on view publication.service is
  'Whether requests are answered: the service is switched on, and the database was compared with the ledger after the server started.';
-- No grant: request.keys and publication.is_switched_on() read it with their owner's rights.
