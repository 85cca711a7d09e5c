import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { buildConnector } from 'undici';
import type { AddressCheck } from './address-policy.ts';
import { BlockedAddressError, DnsFailedError } from './egress-error.ts';

/** All addresses of a host name, IPv4 and IPv6. */
export type Resolver = (hostname: string) => Promise<readonly string[]>;

/** The machine's own resolver, hosts file included: what a connection would use. */
export const systemResolver: Resolver = async (hostname) =>
  (await lookup(hostname, { all: true, verbatim: true })).map((found) => found.address);

export interface CheckedConnectorOptions {
  readonly check: AddressCheck;
  readonly resolve: Resolver;
  /** For resolving, and for each address that is tried. Milliseconds. */
  readonly connectTimeoutMs: number;
  /** The one origin (scheme, host and port) that may have private addresses. It loses that with its first public address. */
  readonly privateOrigin?: string | undefined;
}

/**
 * undici calls a connector for every new connection, IP literals included (it calls `connect.lookup` for names alone).
 * The connection goes to the checked address itself: nothing is resolved a second time, so a response that changes in
 * between (DNS rebinding) changes nothing. SNI, certificate check and `Host` keep the name.
 */
export function createCheckedConnector(options: CheckedConnectorOptions): buildConnector.connector {
  const connect = buildConnector({ timeout: options.connectTimeoutMs });
  const isOpen = createPrivateOrigin(options.privateOrigin);
  return (target, callback) => {
    checkedAddresses(target, options, isOpen).then(
      (addresses) => connectToFirst(connect, target, addresses, callback),
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
    );
  };
}

/** Whether a target may have its addresses, which are blocked. @param isPrivate whether all of them are */
type IsOpen = (target: buildConnector.Options, isPrivate: boolean) => boolean;

/** A name of a public server that leads to a private address the next time was rebound. */
function createPrivateOrigin(origin: string | undefined): IsOpen {
  let wasPublic = false;
  return ({ protocol, host }, isPrivate) => {
    if (origin === undefined || `${protocol}//${host}` !== origin) return false;
    wasPublic ||= !isPrivate;
    return !wasPublic;
  };
}

/** Every address of a host, all of them allowed: one that is not spoils the host. @throws BlockedAddressError, DnsFailedError */
async function checkedAddresses(
  target: buildConnector.Options,
  options: CheckedConnectorOptions,
  isOpen: IsOpen,
): Promise<readonly string[]> {
  const bare = target.hostname.replace(/^\[(.*)\]$/, '$1');
  const addresses = isIP(bare) === 0 ? await resolveName(bare, options) : [bare];
  const blocked = addresses.flatMap((address) => {
    const range = options.check(address);
    return range === null ? [] : [new BlockedAddressError(bare, address, range)];
  });
  // Invariant: EGRESS-PUBLIC-ADDRESS
  if (!isOpen(target, blocked.length === addresses.length) && blocked[0] !== undefined) throw blocked[0];
  return addresses;
}

async function resolveName(hostname: string, options: CheckedConnectorOptions): Promise<readonly string[]> {
  let addresses: readonly string[];
  const timer = new AbortController();
  try {
    // A resolver that never responds would hold the connection's place permanently.
    addresses = await Promise.race([
      options.resolve(hostname),
      setTimeout(options.connectTimeoutMs, [], { signal: timer.signal, ref: false }),
    ]);
  } catch (cause) {
    throw new DnsFailedError(hostname, cause);
  } finally {
    timer.abort();
  }
  if (addresses.length === 0) throw new DnsFailedError(hostname, new Error('no addresses'));
  return addresses;
}

function connectToFirst(
  connect: buildConnector.connector,
  target: buildConnector.Options,
  addresses: readonly string[],
  callback: buildConnector.Callback,
): void {
  const [address, ...others] = addresses;
  if (address === undefined) {
    callback(new Error('No address to connect to'), null);
    return;
  }
  // Invariant: EGRESS-PUBLIC-ADDRESS
  connect({ ...target, hostname: address }, (...result) => {
    if (result[0] !== null && others.length > 0) connectToFirst(connect, target, others, callback);
    else callback(...result);
  });
}
