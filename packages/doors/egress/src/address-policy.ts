import ipaddr from 'ipaddr.js';
import { InvalidAllowListError } from './egress-error.ts';

type IpAddress = ipaddr.IPv4 | ipaddr.IPv6;
type IpRange = readonly [address: IpAddress, prefixLength: number];

/** Null: allowed. Otherwise the name of the forbidding range. */
export type AddressCheck = (address: string) => string | null;

/** Azure's metadata host: a public number that only its networks reach. */
const AZURE_WIRE_SERVER = '168.63.129.16';
/** Other addresses are special or unassigned (RFC 4291, 2.4). */
const GLOBAL_UNICAST_V6: IpRange = ipaddr.parseCIDR('2000::/3');
const LOCAL_NAT64 = ipaddr.parseCIDR('64:ff9b:1::/48');

/**
 * Global unicast and the allow-list. Mapped (RFC 4291) and NAT64 (RFC 6052) count as their IPv4;
 * other embeddings (IPv4-compatible, local NAT64, 6to4, Teredo) and unusual spellings are refused.
 * @param allow CIDR ranges, addresses; `true`: everything @throws InvalidAllowListError
 */
export function createAddressCheck(allow: readonly string[] | boolean): AddressCheck {
  const allowed = typeof allow === 'boolean' ? [] : allow.map(parseRange);
  return (text) => {
    const address = parsePlain(text);
    if (address === null) return 'not an IP address';
    if (allow === true) return null;
    const forms = [address, ...embeddedIPv4(address)];
    if (forms.some((form) => allowed.some((range) => contains(range, form)))) return null;
    return rangeOf(address);
  };
}

function parseRange(entry: string): IpRange {
  const [text = '', prefix, ...rest] = entry.trim().split('/');
  const address = parsePlain(text);
  if (address === null || rest.length > 0) throw new InvalidAllowListError(entry);
  const bits = address.kind() === 'ipv4' ? 32 : 128;
  const prefixLength = prefix === undefined ? bits : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN;
  if (!(prefixLength <= bits)) throw new InvalidAllowListError(entry);
  return [address, prefixLength];
}

/** Readers disagree about octal and short forms, so they are no addresses. */
function parsePlain(text: string): IpAddress | null {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  // Only link-local addresses have a zone (%eth0); they are refused anyway.
  if (!text.includes('%') && ipaddr.IPv6.isValid(text)) return ipaddr.IPv6.parse(text);
  return null;
}

function contains([network, prefixLength]: IpRange, address: IpAddress): boolean {
  if (network instanceof ipaddr.IPv4)
    return address instanceof ipaddr.IPv4 && address.match(network, prefixLength);
  return address instanceof ipaddr.IPv6 && address.match(network, prefixLength);
}

function embeddedIPv4(address: IpAddress): readonly ipaddr.IPv4[] {
  if (address instanceof ipaddr.IPv4) return [];
  const range = address.range();
  const isNat64 = range === 'rfc6052' && !contains(LOCAL_NAT64, address);
  return range === 'ipv4Mapped' || isNat64 ? [new ipaddr.IPv4(address.toByteArray().slice(12))] : [];
}

function rangeOf(address: IpAddress): string | null {
  const range = address.range() === 'unicast' ? null : address.range();
  if (address instanceof ipaddr.IPv4) return address.toString() === AZURE_WIRE_SERVER ? 'cloud metadata' : range;
  const [inner] = embeddedIPv4(address);
  if (inner !== undefined) return rangeOf(inner);
  return range ?? (contains(GLOBAL_UNICAST_V6, address) ? null : 'outside of global unicast');
}
