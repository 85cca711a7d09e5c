import type { ChainRegistry } from '@chainstead/chains';
import type { ChainStatus } from '@chainstead/sync';

/** What a chain is called: as configured here, else as where it was ingested, else its id. */
export function chainName({ chainId, key }: Pick<ChainStatus, 'chainId' | 'key'>, registry: ChainRegistry): string {
  return registry.find(chainId)?.key ?? key ?? String(chainId);
}
