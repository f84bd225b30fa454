import { BlockList, isIP, SocketAddress } from "node:net";

/** Whether an address is a trusted proxy. */
export type TrustCheck = (address: string) => boolean;

const familyOf = (address: string) => (isIP(address) === 6 ? "ipv6" : "ipv4");

/**
 * Reads IP addresses and CIDRs, like Kong's `trusted_ips`.
 * @throws Error that names an entry that is neither
 */
export function readTrustedIps(entries: readonly string[]): TrustCheck {
  const trusted = new BlockList();
  for (const entry of entries) {
    const [address = "", size] = entry.split("/");
    const bits = isIP(address) === 6 ? 128 : 32;
    if (isIP(address) === 0 || !(Number(size ?? bits) <= bits)) {
      throw new Error(`"${entry}" is not an IP address or CIDR (example: 10.0.0.0/8). Correct TRUSTED_IPS.`);
    }
    trusted.addSubnet(address, Number(size ?? bits), familyOf(address));
  }
  return (address) => entries.length > 0 && trusted.check(address, familyOf(address));
}

/** Writes an IPv6 address as nginx does, and an IPv4-mapped one without the prefix `::ffff:`. */
export function normalizeAddress(address: string): string {
  const plain = isIP(address) === 6 ? new SocketAddress({ address, family: "ipv6" }).address : address;
  return plain.replace(/^::ffff:(?=\d+\.)/, "");
}

/**
 * Finds the client's address as nginx does with `real_ip_recursive on`: the last address in X-Forwarded-For that is not
 * a trusted proxy. A peer that is not trusted is the client itself. The search ends at an entry that is not an address.
 */
export function findClientAddress(
  peer: string,
  forwardedFor: readonly string[],
  isTrusted: TrustCheck,
): string {
  let client = peer;
  for (const entry of forwardedFor.join(",").split(",").reverse()) {
    const withPort = /^(?:\[(.*)\]|(\d+\.\d+\.\d+\.\d+))(?::\d+)?$/;
    const address = normalizeAddress(entry.trim().replace(withPort, "$1$2"));
    if (!isTrusted(client) || isIP(address) === 0) break;
    client = address;
  }
  return client;
}
