import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { buildConnector } from 'undici';
import type { AddressCheck } from './address-policy.ts';
import { BlockedAddressError, DnsFailedError } from './egress-error.ts';

export type Resolver = (hostname: string) => Promise<readonly string[]>;

export const systemResolver: Resolver = async (hostname) =>
  (await lookup(hostname, { all: true, verbatim: true })).map((found) => found.address);

export interface CheckedConnectorOptions {
  readonly check: AddressCheck;
  readonly resolve: Resolver;
  /** For resolving, and for each address tried. */
  readonly connectTimeoutMs: number;
  /** May have private addresses until its first public one. Scheme, host and port. */
  readonly privateOrigin?: string | undefined;
}

/** For IP literals too. Connects to the checked address itself, so rebinding changes nothing. */
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

type IsOpen = (target: buildConnector.Options, isPrivate: boolean) => boolean;

/** A public name that later leads to a private address was rebound. */
function createPrivateOrigin(origin: string | undefined): IsOpen {
  let wasPublic = false;
  return ({ protocol, host }, isPrivate) => {
    if (origin === undefined || `${protocol}//${host}` !== origin) return false;
    wasPublic ||= !isPrivate;
    return !wasPublic;
  };
}

/** One forbidden address spoils the host. @throws BlockedAddressError, DnsFailedError */
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
    // A silent resolver would hold the place permanently.
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
