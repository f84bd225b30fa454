import { Command } from "commander";
import { z } from "zod";
import { describeError } from "../service/describe-error.ts";
import { readSecretFiles } from "../service/read-secret-files.ts";
import { readVariables } from "../service/read-variables.ts";
import { prepareKongDatabase } from "./stack/kong-database.ts";

new Command("kong-database")
  .description("Makes the role and the database of Kong on the server of this service. What is there stays.")
  .allowExcessArguments(false)
  .addHelpText(
    "after",
    `
Environment; * may also stand in a file that <NAME>_FILE names:
  PGHOST, PGPORT, PGDATABASE, PGUSER, PGPASSWORD *   the server, as its superuser
  KONG_PG_PASSWORD *                                 what Kong is to connect with`,
  )
  .parse();

const environment = z.object({
  PGHOST: z.string("should be the server's name"),
  PGPORT: z.string().default("5432"),
  PGDATABASE: z.string().default("postgres"),
  PGUSER: z.string().default("postgres"),
  PGPASSWORD: z.string("should be the superuser's password"),
  KONG_PG_PASSWORD: z.string("should be the password of Kong's role"),
});

try {
  const secrets = ["PGPASSWORD", "KONG_PG_PASSWORD"] as const;
  const data = readVariables(environment, readSecretFiles(process.env, secrets));
  const url = new URL(`postgres://${data.PGHOST}:${data.PGPORT}/${data.PGDATABASE}`);
  url.username = data.PGUSER;
  url.password = data.PGPASSWORD;
  await prepareKongDatabase(url.href, data.KONG_PG_PASSWORD);
} catch (error) {
  process.stderr.write(`kong-database: ${describeError(error)}\n`);
  process.exitCode = 1;
}
