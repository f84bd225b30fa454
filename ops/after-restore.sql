-- Part of a restore, after the back-up: what is live is the data set that this database holds, not the one that the
-- other database held.
update publication.data_sets set state = 'dropped';
update publication.data_sets set state = 'live' where data_sets.id = (select data_set.id from disclosed.data_set);

set local session_replication_role = origin;
notify access_changed;
