import { tables, totals } from "../support/columns.ts";

export const roles = [
  "authenticator",
  "gateway",
  "api_public",
  "api_tribal",
  "api_owner",
  "report_service",
  "publisher",
  "key_operator",
  "deployment_planner",
] as const;
type Role = (typeof roles)[number];

const prefix = (schema: string, names: readonly string[]) => names.map((name) => `${schema}.${name}`);
const readable = [
  ...prefix("api_v1_1_0", [...tables, ...totals]),
  ...prefix("dissemination", [...tables, ...totals, "data_set"]),
  ...prefix("disclosed", [...tables, ...totals, "general_stubs", "data_set"]),
  ...prefix("suppressed", tables),
];
export const relationships = "api_v1_1_0.*";
const servedFunctions = ["request.refuse", "request.matches_etag", "request.take_weight", relationships];

/** Schemas that a role may use, relations that it may read, functions that it may run. */
export const rights: Record<
  Exclude<Role, "publisher">,
  { schemas: string[]; reads: string[]; runs: string[] }
> = {
  authenticator: {
    schemas: ["publication", "request"],
    reads: ["publication.served_schemas"],
    runs: ["request.pre_config"],
  },
  gateway: {
    schemas: ["request"],
    reads: ["request.keys"],
    runs: [
      "request.authorize",
      "request.decide",
      "request.find_retirement",
      "request.refuse",
      "request.matches_etag",
    ],
  },
  api_public: {
    schemas: ["api_v1_1_0", "disclosed", "dissemination", "request", "suppressed"],
    reads: readable,
    runs: servedFunctions,
  },
  api_tribal: {
    schemas: [
      "access",
      "admin_api_v1_1_0",
      "api_v1_1_0",
      "disclosed",
      "dissemination",
      "request",
      "suppressed",
    ],
    reads: readable,
    runs: [
      ...servedFunctions,
      "admin_api_v1_1_0.request_file_access",
      "request.issue_file_access",
      "access.issue_access_token",
    ],
  },
  api_owner: {
    schemas: ["admin_api_v1_1_0", "api_v1_1_0", "dissemination", "request"],
    reads: [
      ...prefix("api_v1_1_0", [...tables, ...totals]),
      ...prefix("dissemination", [...tables, ...totals, "data_set"]),
    ],
    runs: ["admin_api_v1_1_0.request_file_access", relationships],
  },
  report_service: {
    schemas: ["access", "publication"],
    reads: ["publication.served_schemas"],
    runs: [
      "access.find_report_of_token",
      "access.find_request_of_token",
      "access.record_key_use",
      "access.redeem_access_token",
      "publication.describe_api",
      "publication.describe_service",
      "publication.describe_totals",
      "publication.is_open",
      "publication.is_public_report",
    ],
  },
  key_operator: {
    schemas: ["access"],
    reads: ["access.agreement_overview", "access.events", "access.key_overview"],
    runs: [
      "access.decide_agreement",
      "access.issue_key",
      "access.request_agreement",
      "access.resolve_agreement",
      "access.resolve_key",
      "access.revoke_agreement",
      "access.revoke_key",
      "access.rotate_key",
      "access.verify_key",
    ],
  },
  deployment_planner: {
    schemas: ["access", "deployment", "publication"],
    reads: [
      "access.tiers",
      "deployment.api_schemas",
      "deployment.migrations",
      "deployment.retired_versions",
      "publication.data_sets",
      "publication.served_schemas",
    ],
    runs: [],
  },
};

// The previous data set has the rights it had when it was live.
