import type { ServerResponse } from "node:http";
import type { Logger } from "pino";
import { Counter, Histogram, Registry } from "prom-client";
import type { Outcome } from "./handle-request.ts";
import type { GatewayConfig } from "./read-config.ts";

/** nginx's status for a client that disconnected. */
const CLIENT_CLOSED = 499;

/**
 * Returns a function that logs and counts a finished request, and the metrics: those of Kong's prometheus plugin that
 * the alert rules and the dashboard in deploy/monitoring use, under Kong's names.
 */
export function createObserver({ service }: GatewayConfig, logger: Logger) {
  const registry = new Registry();
  const labels = { service: service.name, route: service.routes[0].name };
  const requests = new Counter({
    name: "kong_http_requests_total",
    help: 'HTTP responses by service, route, status code and source: "exit" if the gateway answered, "service" if the upstream did.',
    labelNames: ["service", "route", "code", "source"],
    registers: [registry],
  });
  const latency = new Histogram({
    name: "kong_request_latency_ms",
    help: "Time from the first byte of the request to the end of the response.",
    labelNames: ["service", "route"],
    buckets: [25, 50, 80, 100, 250, 400, 700, 1000, 2000, 5000, 10_000, 30_000, 60_000],
    registers: [registry],
  });
  const observe = (outcome: Outcome, response: ServerResponse, milliseconds: number) => {
    logger.info(describeRequest(outcome, response, milliseconds), "request");
    // Like Kong, does not count requests that match no route.
    if (!outcome.isRouted) return;
    requests.inc({ ...labels, code: response.statusCode, source: outcome.source });
    latency.observe(labels, milliseconds);
  };
  return { registry, observe };
}

/** The log line of a request. It never contains a key, a token or a query string. */
function describeRequest({ exchange, ...outcome }: Outcome, response: ServerResponse, milliseconds: number) {
  const { error } = outcome;
  const cause = error instanceof Error ? (error.cause ?? error) : undefined;
  return {
    request_id: outcome.requestId,
    kong_request_id: exchange.id,
    method: exchange.method,
    path: exchange.loggedPath ?? "-",
    status: response.writableFinished ? response.statusCode : CLIENT_CLOSED,
    durationMs: Math.round(milliseconds * 10) / 10,
    ...(cause instanceof Error ? { error: (cause as NodeJS.ErrnoException).code ?? cause.message } : {}),
  };
}
