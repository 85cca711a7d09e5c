import type { ApiContext } from '@chainstead/http';
import type { AptosDatasetName } from '../dataset.ts';
import type { AptosNetwork } from '../transaction.ts';

export interface NetworkChoice {
  /** Networks that are indexed here. Where that is testnet alone, it is what a request that does not say means. */
  readonly indexed: readonly AptosNetwork[];
  /** Datasets that are indexed (`APTOS_DATASETS`). Default: all. */
  readonly datasets?: readonly AptosDatasetName[];
  /** Ports that mean a network: those the program listens on, not a proxy's. */
  readonly ports?: Readonly<Record<number, AptosNetwork>>;
}

/** How the provider's host names for testnet begin: `testnet-aptos-api.…` and `aptos-testnet.…` (docs/provider-contract.md#aptos). */
const TESTNET_HOST = /^(?:testnet-|aptos-testnet)/i;
const MAINNET_HOST = /^(?:mainnet-|aptos-mainnet)/i;

/** The network that a request means where its query does not say: by the port it came to, by its host, or the default. */
export function networkOfRequest(c: ApiContext, choice: NetworkChoice): AptosNetwork {
  const byPort = choice.ports?.[localPortOf(c) ?? -1];
  if (byPort !== undefined) return byPort;
  const host = c.req.header('host') ?? '';
  if (TESTNET_HOST.test(host)) return 'testnet';
  if (MAINNET_HOST.test(host)) return 'mainnet';
  return choice.indexed.length === 1 && choice.indexed[0] === 'testnet' ? 'testnet' : 'mainnet';
}

/** The socket is there where a Node server has taken the request, not in `app.request()`. */
function localPortOf(c: ApiContext): number | undefined {
  const env: unknown = c.env;
  const port = memberOf(memberOf(memberOf(env, 'incoming'), 'socket'), 'localPort');
  return typeof port === 'number' ? port : undefined;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && name in value ? Reflect.get(value, name) : undefined;
}
