import { Counter, Histogram, Registry } from "prom-client";

/**
 * Creates the metrics of Kong's prometheus plugin that the alert rules and the dashboard in ops/ use, under Kong's
 * names. Like Kong, the gateway does not count requests that match no route.
 */
export function createGatewayMetrics() {
  const registry = new Registry();
  return {
    registry,
    requests: new Counter({
      name: "kong_http_requests_total",
      help: 'HTTP responses by service, route, status code and source: "exit" if the gateway answered, "service" if the upstream did.',
      labelNames: ["service", "route", "code", "source"],
      registers: [registry],
    }),
    latency: new Histogram({
      name: "kong_request_latency_ms",
      help: "Time from the first byte of the request to the end of the response.",
      labelNames: ["service", "route"],
      buckets: [25, 50, 80, 100, 250, 400, 700, 1000, 2000, 5000, 10_000, 30_000, 60_000],
      registers: [registry],
    }),
  };
}
