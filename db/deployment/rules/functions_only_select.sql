-- Functions write nothing. An update of the view pg_catalog.pg_settings would call set_config().
select api_functions.object, 'This function writes data. API functions may only select.' as rule
from pg_temp.api_functions
where api_functions.tree ~ ':commandType [^1]'
order by object;
