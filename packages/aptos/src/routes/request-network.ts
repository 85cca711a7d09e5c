import type { ApiContext } from '@chainstead/http';
import type { AptosDatasetName } from '../dataset.ts';
import type { AptosNetwork } from '../transaction.ts';

export interface NetworkChoice {
  /** Networks indexed here. If this is only testnet, it is the default of a request. */
  readonly indexed: readonly AptosNetwork[];
  /** Indexed datasets (`APTOS_DATASETS`). Default: all. */
  readonly datasets?: readonly AptosDatasetName[];
  /** Networks by port: the ports that the program listens on, not a proxy's. */
  readonly ports?: Readonly<Record<number, AptosNetwork>>;
}

/**
 * Prefixes of the hosted API's host names for testnet: `testnet-aptos-api.…` and `aptos-testnet.…`
 * (docs/api/aptos.md#aptos-routes).
 */
const TESTNET_HOST = /^(?:testnet-|aptos-testnet)/i;
const MAINNET_HOST = /^(?:mainnet-|aptos-mainnet)/i;

/** Returns the network of a request without a network parameter: by its port, by its host, or the default. */
export function networkOfRequest(c: ApiContext, choice: NetworkChoice): AptosNetwork {
  const byPort = choice.ports?.[localPortOf(c) ?? -1];
  if (byPort !== undefined) return byPort;
  const host = c.req.header('host') ?? '';
  if (TESTNET_HOST.test(host)) return 'testnet';
  if (MAINNET_HOST.test(host)) return 'mainnet';
  return choice.indexed.length === 1 && choice.indexed[0] === 'testnet' ? 'testnet' : 'mainnet';
}

/** The socket exists if a Node server handles the request, but not in `app.request()`. */
function localPortOf(c: ApiContext): number | undefined {
  const env: unknown = c.env;
  const port = memberOf(memberOf(memberOf(env, 'incoming'), 'socket'), 'localPort');
  return typeof port === 'number' ? port : undefined;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && name in value ? Reflect.get(value, name) : undefined;
}
