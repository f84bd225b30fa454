// Written by npm run db:types from db/contracts. Do not edit.
//
// import { PostgrestClient } from "@supabase/postgrest-js";
// const api = new PostgrestClient<Database, { PostgrestVersion: "12" }, "api_v1_1_0">(baseUrl, {
//   headers: { "x-api-key": key }, schema: "api_v1_1_0",
// });
export {};
