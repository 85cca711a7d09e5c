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
}

/**
 * Opens connections only to addresses that were checked. undici calls a connector for every new connection, IP literals
 * included (it calls `connect.lookup` for names alone), and the connection goes to the checked address itself: nothing is
 * resolved a second time, so an answer that changes in between (DNS rebinding) changes nothing. SNI, certificate check and
 * `Host` keep the name.
 */
export function createCheckedConnector(options: CheckedConnectorOptions): buildConnector.connector {
  const connect = buildConnector({ timeout: options.connectTimeoutMs });
  return (target, callback) => {
    checkedAddresses(target.hostname, options).then(
      (addresses) => connectToFirst(connect, target, addresses, callback),
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
    );
  };
}

/** Every address of a host, all of them allowed: one that is not spoils the host. @throws BlockedAddressError, DnsFailedError */
async function checkedAddresses(hostname: string, options: CheckedConnectorOptions): Promise<readonly string[]> {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  const addresses = isIP(bare) === 0 ? await resolveName(bare, options) : [bare];
  for (const address of addresses) {
    const range = options.check(address);
    if (range !== null) throw new BlockedAddressError(bare, address, range);
  }
  return addresses;
}

async function resolveName(hostname: string, options: CheckedConnectorOptions): Promise<readonly string[]> {
  let addresses: readonly string[];
  const timer = new AbortController();
  try {
    // A resolver that never answers would hold the connection's place for good.
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

/** Tries the addresses in the resolver's order until one answers. */
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
  connect({ ...target, hostname: address }, (...result) => {
    if (result[0] !== null && others.length > 0) connectToFirst(connect, target, others, callback);
    else callback(...result);
  });
}
