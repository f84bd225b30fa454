import ipaddr from "ipaddr.js";

/** The part of an IP address that counts as one client: for IPv6 the /64, because a client has all addresses in it. */
export function groupAddress(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const ip = ipaddr.process(address);
  return ip instanceof ipaddr.IPv6 ? ip.parts.slice(0, 4).join(":") : ip.toString();
}
