// Stands where Kong is not installed: what `kong start` runs here is the embedded gateway on Kong's own settings,
// so that all around Kong can be tested: its environment, its process, the first configuration, the probe.
import { writeFileSync } from "node:fs";
import { pino } from "pino";
import { startEmbeddedGateway } from "../../../gateway/embedded/start-embedded-gateway.ts";

writeFileSync(`${process.env.KONG_PREFIX}/pid`, String(process.pid));

function readListener(name: string) {
  const [host = "", port] = (process.env[name] ?? "").split(":");
  return { host, port: Number(port) };
}
await startEmbeddedGateway({
  proxy: readListener("KONG_PROXY_LISTEN"),
  // Kong has no token of its own.
  admin: { ...readListener("KONG_ADMIN_LISTEN"), token: "" },
  gatewayToken: process.env.GATEWAY_TOKEN,
  logger: pino({ level: "silent" }),
});
