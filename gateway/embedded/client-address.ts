import type { IncomingMessage } from "node:http";
import { isIP, SocketAddress } from "node:net";
import proxyAddr from "@fastify/proxy-addr";

/** Whether an address is a trusted proxy. */
export type TrustCheck = (address: string | undefined) => boolean;

/**
 * Reads IP addresses and CIDRs, like Kong's `trusted_ips`.
 * @throws Error that names an entry that is neither
 */
export function readTrustedIps(entries: readonly string[]): TrustCheck {
  try {
    const isTrusted = proxyAddr.compile([...entries]);
    return (address = "") => isTrusted(address, 0);
  } catch (error) {
    const hint = "Set it to IP addresses or CIDRs, such as 10.0.0.0/8, separated by commas.";
    throw new Error(`TRUSTED_IPS is malformed (${(error as Error).message}). ${hint}`, { cause: error });
  }
}

/**
 * Finds the client's address as nginx does with `real_ip_recursive on`: the last address in X-Forwarded-For that is not
 * a trusted proxy. A peer that is not trusted is the client itself. The search ends at an entry that is not an address.
 */
export function findClientAddress(request: IncomingMessage, isTrusted: TrustCheck): string {
  return normalizeAddress(proxyAddr.all(request, isTrusted).findLast((address) => isIP(address) > 0));
}

/** Writes an IPv6 address as nginx does, and an IPv4-mapped one without the prefix `::ffff:`. */
function normalizeAddress(address = ""): string {
  const plain = isIP(address) === 6 ? new SocketAddress({ address, family: "ipv6" }).address : address;
  return plain.replace(/^::ffff:(?=\d+\.)/, "");
}
