import { Counter, Histogram, Registry } from "prom-client";

/**
 * What Kong's plugin prometheus tells with status_code_metrics and latency_metrics, as far as rules and dashboard
 * (ops/) ask for it, under Kong's own names. Like Kong, it counts no request that matched no route.
 */
export function createGatewayMetrics() {
  const registry = new Registry();
  const registers = [registry];
  return {
    registry,
    requests: new Counter({
      name: "kong_http_requests_total",
      help: "HTTP status codes per service and route; source exit: the gateway answered, service: the upstream did.",
      labelNames: ["service", "route", "code", "source"],
      registers,
    }),
    latency: new Histogram({
      name: "kong_request_latency_ms",
      help: "Time from the first byte of the request to the end of its answer.",
      labelNames: ["service", "route"],
      buckets: [25, 50, 80, 100, 250, 400, 700, 1000, 2000, 5000, 10_000, 30_000, 60_000],
      registers,
    }),
  };
}
