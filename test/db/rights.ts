import { readContracts } from "../../scripts/deploy/contract.ts";
import { repositoryDirectory } from "../../scripts/deploy/deploy-database.ts";
import { tables, totals } from "../support/columns.ts";

const names = (schema: string, relations: readonly string[]) =>
  relations.map((name) => `${schema}.${name}`).join(" ");
const served = [...tables, ...totals];
const contracts = await readContracts(repositoryDirectory);
const adminSchemas = contracts.flatMap(({ schema }) => (schema.startsWith("admin_") ? [schema] : []));
const schemas = contracts.flatMap(({ schema }) => (schema.startsWith("admin_") ? [] : [schema]));
const versionViews = contracts.map(({ schema, views }) => names(schema, Object.keys(views))).join(" ");
const views = `${versionViews.trim()} ${names("dissemination", [...served, "data_set"])}`;
const stored = `${names("disclosed", [...served, "general_stubs", "data_set"])} ${names("suppressed", tables)}`;
const servedSchemas = `${schemas.join(" ")} disclosed dissemination request suppressed`;
const searchFunctions = names(
  "request",
  `find_pattern matches_text to_tsvector to_tsquery plainto_tsquery phraseto_tsquery websearch_to_tsquery
  name_words words auditor_words`.split(/\s+/),
);
const nameFunctions = names("extensions", ["name_words", "shorten_name", "split_name"]);
const servedFunctions = `request.refuse request.refuse_for request.matches_etag request.limit_embedded_bytes ${searchFunctions} ${nameFunctions} ${schemas.map((schema) => `${schema}.*`).join(" ")}`;
const decisions = "request.authorize request.decide request.find_retirement request.may_call";

/**
 * Each role's rights: the schemas in which it owns objects and, for other roles' objects, the schemas that it may use,
 * the relations that it may read (with the columns, if not all of them) or write, and the functions that it may run. No role but publisher has a right on the
 * previous data set.
 */
export const rights = {
  authenticator: {
    uses: "publication request",
    reads: "publication.served_schemas",
    runs: "request.pre_config",
  },
  gateway: {
    uses: "request",
    reads: "request.keys",
    runs: `${decisions} request.refuse request.refuse_for request.matches_etag`,
  },
  api_public: { uses: servedSchemas, reads: `${views} ${stored}`, runs: servedFunctions },
  api_tribal: {
    uses: `${servedSchemas} access ${adminSchemas.join(" ")}`,
    reads: `${views} ${stored}`,
    runs: `${servedFunctions} ${contracts.map(({ schema }) => `${schema}.request_file_access`).join(" ")} request.issue_file_access access.issue_access_token`,
  },
  api_owner: {
    owns: [...adminSchemas, ...schemas].join(" "),
    uses: "dissemination request",
    reads: names("dissemination", [...served, "data_set"]),
  },
  report_service: {
    uses: "access publication",
    reads: "publication.served_schemas publication.view_keys",
    runs: `access.find_report_of_token access.find_request_of_token access.record_key_use access.redeem_access_token
      publication.describe_api publication.describe_changes publication.describe_programs publication.describe_report
      publication.describe_service publication.describe_totals publication.is_public_report publication.is_switched_on
      publication.live_data_set publication.search_programs publication.search_reports publication.suggest_names`,
  },
  site: {
    uses: "publication",
    reads: "publication.served_schemas publication.view_keys",
    runs: `publication.describe_api publication.describe_changes publication.describe_programs publication.describe_report
      publication.describe_service publication.describe_totals publication.is_switched_on publication.live_data_set
      publication.search_programs publication.search_reports publication.suggest_names`,
  },
  key_operator: {
    uses: "access",
    reads: "access.agreement_overview access.events access.key_overview",
    runs: `access.decide_agreement access.issue_key access.request_agreement access.resolve_agreement access.resolve_key
      access.revoke_agreement access.revoke_key access.rotate_key access.verify_key`,
  },
  deployment_planner: {
    uses: "access data_set deployment publication",
    reads: `access.tiers data_set.indexes deployment.api_schemas deployment.migrations deployment.retired_versions
      publication.data_sets(state) publication.promises publication.served_schemas`,
    runs: "data_set.list_generations data_set.list_index_changes",
  },
  publisher: {
    owns: "disclosed dissemination suppressed",
    uses: "access data_set extensions publication",
    reads: `data_set.awaited_columns data_set.indexes data_set.tables publication.changes publication.data_sets publication.served_schemas publication.settings
      publication.suppressed_reports`,
    writes: `data_set.awaited_columns:delete publication.changes:delete publication.changes:insert publication.data_sets:insert
      publication.data_sets:update publication.settings:update publication.suppressed_reports:insert`,
    runs: `access.prune_access_tokens extensions.uuid_v7 ${nameFunctions} publication.describe_data_set publication.find_leaks
      publication.release_report data_set.adopt_shapes data_set.bind_view data_set.bind_views data_set.build_indexes
      data_set.complete_table data_set.list_columns data_set.list_generations data_set.list_index_changes data_set.open_live_schemas`,
  },
};
