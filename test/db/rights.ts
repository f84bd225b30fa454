import { tables, totals } from "../support/columns.ts";

const names = (schema: string, relations: readonly string[]) =>
  relations.map((name) => `${schema}.${name}`).join(" ");
const served = [...tables, ...totals];
const views = `${names("api_v1_1_0", served)} ${names("dissemination", [...served, "data_set"])}`;
const stored = `${names("disclosed", [...served, "general_stubs", "data_set"])} ${names("suppressed", tables)}`;
const servedSchemas = "api_v1_1_0 disclosed dissemination request suppressed";
const servedFunctions = "request.refuse request.matches_etag request.take_weight api_v1_1_0.*";
const decisions = "request.authorize request.decide request.find_retirement";

/**
 * Schemas that a role may use, relations that it may read, functions that it may run; the previous data set has the rights it
 * had when it was live. What api_owner and publisher write, and the schemas that publisher may use, are not listed.
 */
export const rights = {
  authenticator: {
    schemas: "publication request",
    reads: "publication.served_schemas",
    runs: "request.pre_config",
  },
  gateway: {
    schemas: "request",
    reads: "request.keys",
    runs: `${decisions} request.refuse request.matches_etag`,
  },
  api_public: { schemas: servedSchemas, reads: `${views} ${stored}`, runs: servedFunctions },
  api_tribal: {
    schemas: `${servedSchemas} access admin_api_v1_1_0`,
    reads: `${views} ${stored}`,
    runs: `${servedFunctions} admin_api_v1_1_0.request_file_access request.issue_file_access access.issue_access_token`,
  },
  api_owner: {
    schemas: "admin_api_v1_1_0 api_v1_1_0 dissemination request",
    reads: views,
    runs: "admin_api_v1_1_0.request_file_access api_v1_1_0.*",
  },
  report_service: {
    schemas: "access publication",
    reads: "publication.served_schemas",
    runs: `access.find_report_of_token access.find_request_of_token access.record_key_use access.redeem_access_token
      publication.describe_api publication.describe_service publication.describe_totals publication.is_open
      publication.is_public_report`,
  },
  key_operator: {
    schemas: "access",
    reads: "access.agreement_overview access.events access.key_overview",
    runs: `access.decide_agreement access.issue_key access.request_agreement access.resolve_agreement access.resolve_key
      access.revoke_agreement access.revoke_key access.rotate_key access.verify_key`,
  },
  deployment_planner: {
    schemas: "access deployment publication",
    reads: `access.tiers deployment.api_schemas deployment.migrations deployment.retired_versions
      publication.data_sets publication.served_schemas`,
    runs: "",
  },
};

/** What publishing takes beside the data set's own relations. */
export const publisher = {
  reads: `publication.changes publication.data_sets publication.served_schemas publication.settings
    publication.suppressed_reports`,
  writes: [
    ...["publication.changes delete", "publication.changes insert"],
    ...["publication.data_sets insert", "publication.data_sets update", "publication.settings update"],
  ],
  runs: `access.prune_access_tokens publication.describe_data_set publication.find_leaks publication.rebind_api_views
    publication.release_report`,
};

export const roles = [...Object.keys(rights), "publisher"];
