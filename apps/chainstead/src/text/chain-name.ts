import type { ChainRegistry } from '@chainstead/chains';
import type { ChainStatus } from '@chainstead/sync';

/** Returns a chain's name: from this configuration, otherwise from the ingest process, otherwise its ID. */
export function chainName({ chainId, key }: Pick<ChainStatus, 'chainId' | 'key'>, registry: ChainRegistry): string {
  return registry.find(chainId)?.key ?? key ?? String(chainId);
}
