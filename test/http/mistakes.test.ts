import { expect, it } from "vitest";
import { type Request, request, target } from "../support/target.ts";

// A client that makes a mistake learns from the hint which parameter is wrong, and what to send instead.

type Mistake = [request: string, named: string[], options?: Request & { status?: number; code?: string }];

/** Mistakes in queries. Each hint names the parameter, and what to send instead. */
const queries: Mistake[] = [
  // Parameters of other APIs.
  ["general?page=3", ["`page`", "`general`", "limit=100&offset=200"]],
  ["general?page=3&limit=10", ["`page`", "limit=10&offset=20"]],
  ["general?pageNumber=2&pageSize=25", ["limit=25&offset=25"]],
  ["general?per_page=5", ["`per_page`", "`general`", "limit=5"]],
  ["general?pageSize=5", ["`pageSize`", "limit=5"]],
  ["findings?page_size=5", ["`page_size`", "`findings`", "limit=5"]],
  ["general?page[size]=5", ["`page[size]`", "limit=5"]],
  ["general?page%5Bnumber%5D=2", ["`page[number]`", "limit=100&offset=100"]],
  ["general?size=7", ["`size`", "limit=7"]],
  ["general?count=7", ["`count`", "limit=7", "count=exact"]],
  ["general?count=true", ["`count`", "count=exact"]],
  ["general?top=eq.7", ["`top`", "limit="]],
  ["general?$top=5", ["`$top`", "limit=5"]],
  ["general?$skip=5", ["`$skip`", "offset=5"]],
  ["general?start=5", ["`start`", "offset=5"]],
  ["general?cursor=abc", ["`cursor`", "offset="]],
  ["general?$filter=audit_year%20eq%202023", ["`$filter`", "audit_year=eq.2023"]],
  ["general?where=audit_year%3D2023", ["`where`", "audit_year=eq.2023"]],
  ["general?$select=report_id,audit_year", ["`$select`", "select=report_id,audit_year"]],
  ["general?fields=report_id", ["`fields`", "select=report_id"]],
  ["general?$expand=findings", ["`$expand`", "select=*,findings(*)"]],
  ["general?$orderby=audit_year%20desc", ["`$orderby`", "order=audit_year.desc"]],
  ["general?sort=-audit_year", ["`sort`", "order=audit_year.desc"]],
  ["general?sort_by=audit_year", ["`sort_by`", "order=audit_year.asc"]],
  ["general?orderBy=audit_year:desc", ["`orderBy`", "order=audit_year.desc"]],
  ["general?q=ranch", ["`q`", "words=plfts(names).ranch"]],
  ["general?search=ranch", ["`search`", "words=plfts(names).ranch"]],
  ["general?query=ranch", ["`query`", "words=plfts(names).ranch"]],
  ["general?words=ranch", ["`words`", "words=plfts(names).ranch"]],
  ["general?group_by=audit_year", ["`group_by`", "totals_by_state"]],
  ["general?distinct=true", ["`distinct`", "totals_by_state"]],
  ["general?output=csv", ["`output`", "format=csv"]],
  ["general?select=*,findings(*)&findings.page=2", ["`page`", "`findings`", "findings.offset=100"]],
  ["general?limt=1", ["`limt`", "limit=1"]],
  ["general?Offset=20", ["`Offset`", "offset=20"]],
  ["general?utm_source=x", ["`utm_source`", "`general`", "/reference"]],
  // Values without an operator, or with another API's.
  ["general?audit_year=2023", ["`audit_year`", "`audit_year=eq.2023`"]],
  ["general?auditee_state=CA&audit_year=eq.2023", ["`auditee_state=eq.CA`"]],
  ["general?audit_year==2023", ["`audit_year=eq.2023`"]],
  ["general?audit_year=eq2023", ["`audit_year=eq.2023`"]],
  ["general?audit_year=eq:2023", ["`audit_year=eq.2023`"]],
  ["general?audit_year=%222023%22", ["`audit_year=eq.2023`"]],
  ["general?audit_year=%3E2023", ["`audit_year=gt.2023`"]],
  ["general?audit_year%3E=2023", ["`audit_year=gte.2023`"]],
  ["general?audit_year!=2023", ["`audit_year=neq.2023`"]],
  ["general?audit_year=ne.2023", ["`audit_year=neq.2023`"]],
  ["general?audit_year=not.2023", ["`audit_year=neq.2023`"]],
  ["general?audit_year=2022,2023", ["`audit_year=in.(2022,2023)`"]],
  ["general?audit_year=in.2022,2023", ["`audit_year=in.(2022,2023)`"]],
  ["general?audit_year=in.[2022,2023]", ["`audit_year=in.(2022,2023)`"]],
  ["general?auditee_name=%25ranch%25", ["`auditee_name=ilike.*ranch*`"]],
  ["general?auditee_name=is.not.null", ["`auditee_name=not.is.null`"]],
  ["general?auditee_name=not.null", ["`auditee_name=not.is.null`"]],
  ["general?auditee_name=", ["`auditee_name=is.null`"]],
  ["general?filter[audit_year]=2023", ["`filter[audit_year]`", "`audit_year=eq.2023`"]],
  ["general?audit_year[gte]=2023", ["`audit_year[gte]`", "`audit_year=gte.2023`"]],
  ["general?audit_year__lte=2023", ["`audit_year__lte`", "`audit_year=lte.2023`"]],
  ["general?select=*,findings(*)&findings.audit_year=2023", ["`findings.audit_year=eq.2023`"]],
  // Names of other columns.
  ["general?auditee_nam=eq.x", ["`auditee_nam`", "`auditee_name`"]],
  ["general?auditeeName=eq.x", ["`auditeeName`", "`auditee_name`"]],
  ["general?auditee_nmae=x", ["`auditee_nmae`", "`auditee_name`"]],
  ["general?state=eq.CA", ["`state`", "`auditee_state`"]],
  [
    "federal_awards?select=report_id,amount_expanded",
    ["`amount_expanded`", "`federal_awards`", "`amount_expended`"],
  ],
  // Words that people and other APIs have for columns.
  ["general?uei=eq.ABC123DEF456", ["`uei`", "`auditee_uei`"]],
  ["general?ein=eq.43015799", ["`auditee_ein`"]],
  ["general?EIN=43015799", ["`EIN`", "`auditee_ein`"]],
  ["general?city=eq.Boise", ["`auditee_city`"]],
  ["general?year=2023", ["`audit_year`"]],
  ["general?fiscalYear=eq.2023", ["`audit_year`"]],
  ["general?name=ilike.*ranch*", ["`auditee_name`"]],
  ["general?recipient_name=ilike.*ranch*", ["`auditee_name`"]],
  ["general?zip_code=eq.83702", ["`auditee_zip`"]],
  ["general?firm=ilike.*smith*", ["`auditor_firm_name`"]],
  ["general?agency=eq.93", ["`cognizant_agency`"]],
  ["general?date=gte.2023-01-01", ["`fac_accepted_date`"]],
  ["general?id=eq.2023-06-GSAFAC-0000000001", ["`report_id`"]],
  ["general?select=report_id,uei", ["`uei`", "`auditee_uei`"]],
  ["general?order=date.desc", ["`fac_accepted_date`"]],
  ...["federal_awards?aln=93.778", "federal_awards?cfda_number=eq.93.778"].map(
    (path): Mistake => [
      path,
      ["`federal_awards`", "`federal_agency_prefix=eq.93&federal_award_extension=eq.778`"],
    ],
  ),
  ["federal_awards?cfda=eq.93778", ["`cfda`", "`federal_agency_prefix` or `federal_award_extension`"]],
  ["federal_awards?order=assistance_listing", ["`federal_agency_prefix` or `federal_award_extension`"]],
  ["federal_awards?agency=eq.93", ["`federal_agency_prefix`"]],
  ["federal_awards?program_name=ilike.*medicaid*", ["`federal_program_name`"]],
  ["federal_awards?amount=gte.750000", ["`amount_expended`"]],
  [
    "federal_awards?state=eq.CA",
    ["`general` has `auditee_state`", "`select=*,general!inner(*)`", "`general.auditee_state=eq.CA`"],
  ],
  ["federal_awards?ein=043015799", ["`general.auditee_ein=eq.043015799`"]],
  ["findings?material_weakness=eq.Y", ["`is_material_weakness`"]],
  ["findings?repeat=eq.Y", ["`is_repeat_finding`"]],
  ["findings?auditee_name=ilike.*ranch*", ["`general.auditee_name=ilike.*ranch*`"]],
  ["findings_text?text=ilike.*cash*", ["`text`", "`finding_text`"], { code: "42703" }],
  [
    "general?aln=93.778",
    ["`federal_awards.federal_agency_prefix=eq.93&federal_awards.federal_award_extension=eq.778`"],
  ],
  ["general?reference_number=eq.2023-001", ["`findings.reference_number=eq.2023-001`"]],
  ["general?select=*,findings(*)&findings.year=eq.2023", ["`findings`", "`audit_year`"]],
  ["passthrough?uei=eq.x", ["`auditee_uei`"]],
  ["totals_by_program?cfda=eq.93.778", ["`totals_by_program`", "`aln`"]],
  ["totals_by_state?state=eq.CA", ["`auditee_state`"]],
  ["totals_by_agency?agency=eq.93", ["`federal_agency_prefix`"]],
  // Misspelt columns.
  ["general?order=audit_yaer.desc", ["`audit_yaer`", "`audit_year`"]],
  ["general?or=(audit_yer.eq.2023,audit_year.eq.2022)", ["`audit_yer`", "`audit_year`"]],
  ["general?select=f:findings(reference_num)", ["`reference_num`", "`findings`", "`reference_number`"]],
  ["general?select=*,findings(*)&findings.audit_yer=eq.1", ["`audit_yer`", "`findings`", "`audit_year`"]],
  ["general?select=report_id,findings", ["`findings`", "findings(*)"]],
  ["general?select=*,finding(*)", ["`finding`", "`findings`"]],
  ["general?select=*,general(*)", ["`general(…)`"]],
  ["general?findings.reference_number=eq.2023-001", ["`findings`", "select=*,findings(*)"]],
  // Lists, orders and conditions.
  ["general?select=report_id%20audit_year", ["select=report_id,"]],
  ["general?select=count(*)", ["count=exact"]],
  ["general?order=audit_year%20desc", ["order=audit_year.desc"]],
  ["general?order=-audit_year", ["order=audit_year.desc"]],
  ["general?or=audit_year.eq.2023,audit_year.eq.2022", ["or=(audit_year.eq.2023,"]],
  ["general?or=(audit_year=2023)", ["or=(audit_year.eq.2023,"]],
  ["general?=eq.2023", ["audit_year=eq.2023"]],
  ["general?order=findings(reference_number)&select=*,findings(*)", ["findings.order="]],
  // Values that the column's type does not have.
  ["general?fac_accepted_date=gte.2023", ["`fac_accepted_date=gte.2023-01-01`"], { code: "22007" }],
  ["general?fac_accepted_date=lt.30/06/2023", ["`fac_accepted_date=lt.2023-06-30`"], { code: "22008" }],
  ["general?fac_accepted_date=eq.null", ["`fac_accepted_date=is.null`"]],
  ["general?total_amount_expended=gte.$750,000", ["`total_amount_expended=gte.750000`"], { code: "22P02" }],
  ["general?total_amount_expended=gte.99999999999999999999", ["`total_amount_expended`"], { code: "22003" }],
  ["general?or=(fac_accepted_date.gte.x,audit_year.eq.2023)", ["2023-06-30"]],
  ["general?select=auditee_name::date", ["`select`"], { code: "22007" }],
  ["general?is_public=eq.yess", ["`is_public=eq.true`"]],
  ["federal_awards?is_major=is.true", ["`is_major`", "`is_major=eq.Yes`"], { code: "42804" }],
  [
    "general?total_amount_expended=ilike.*7*",
    ["`total_amount_expended`", "gte"],
    { code: "42883", status: 404 },
  ],
  ["general?auditee_name=ilike.*a*&total_amount_expended=ilike.*7*", ["gte"], { code: "42883", status: 404 }],
  ["general?auditee_name=fts.polk%20county", ["`auditee_name=plfts."], { code: "42601" }],
  ["general?auditee_name=match.(", ["`auditee_name=ilike."], { code: "2201B" }],
  ["general?select=audit_year::foo", ["`select`"], { code: "42704" }],
  // Filters without "=", which PostgREST would leave out.
  ["general?audit_year%3E2023", ["`audit_year=gt.2023`"], { code: "request_refused" }],
  ["general?audit_year<2023", ["`audit_year=lt.2023`"], { code: "request_refused" }],
];

/** Mistakes in paths, headers and calls. */
const others: Mistake[] = [
  ["finding", ["`finding`", "`findings`"], { status: 404 }],
  ["unified", ["/federal_awards?select=*,general(*)"], { status: 404 }],
  ["general", ["`api_v1_1_0`", "`api_v1_2_0`"], { status: 406, headers: { "accept-profile": "api_v1_2_0" } }],
  ["general", ["`api_v1_1_0`", "`api_v1_3_0`"], { status: 406, headers: { "accept-profile": "api_v1_3_0" } }],
  ["general", ["Accept-Profile"], { status: 406, headers: { "accept-profile": "v1" } }],
  ["general?limit=2", ["Accept"], { status: 406, headers: { accept: "application/vnd.pgrst.object+json" } }],
  ["general?limit=1", ["handling=strict"], { headers: { prefer: "handling=strict,a=b" }, code: "PGRST122" }],
  ["rpc/no_such_function", ["/rpc/request_file_access"], { status: 404, method: "POST", body: "{}" }],
  [
    "rpc/request_file_access",
    ["application/json"],
    { status: 415, method: "POST", body: "{}", headers: { "content-type": "text/plain" } },
  ],
];

it.each([...queries, ...others])("/%s gets a hint that names %j", async (path, named, options = {}) => {
  const { status = 400, code, ...rest } = options;
  const answer = await request(`/${path}`, { key: "individual", ...rest });
  expect([answer.status, answer.json?.hint], answer.text).toEqual([status, expect.any(String)]);
  for (const name of named) expect(answer.json.hint).toContain(name);
  if (code !== undefined) expect(answer.json.code).toBe(code);
});

it("a hint repeats nothing that is long or needs escaping, and no error repeats a key", async () => {
  const key = target.keys.individual;
  for (const query of [
    `apikey=${key}`,
    `%61pi_key=${key}`,
    `q=${key}`,
    `x-api-key=eq.${key}`,
    `audit_year=${key}`,
    `${key}=1`,
    `audit_year=${"9".repeat(5000)}`,
    `audit_year=${encodeURIComponent('a"b\\c\n<script>')}`,
    `${encodeURIComponent('a"b\\c')}=1`,
    `audit_year=${"%22".repeat(5000)}`,
  ]) {
    const { status, json, text } = await request(`/general?${query}`, { key: "individual" });
    expect([status, typeof json?.hint], text).toEqual([400, "string"]);
    expect(text).not.toContain(key);
    expect(json.hint.length, json.hint).toBeLessThan(400);
    expect(json.hint).not.toMatch(/["\\\n]|9{100}/);
  }
});

it("an error to HEAD has no body", async () => {
  const { status, text } = await request("/general?per_page=5", { key: "individual", method: "HEAD" });
  expect([status, text]).toEqual([400, ""]);
});
