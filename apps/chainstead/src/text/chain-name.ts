import type { ChainRegistry } from '@chainstead/chains';
import type { ChainStatus } from '@chainstead/sync/ingest';

/** From the configuration, the ingest process, or its id. */
export function chainName(
  { chainId, key }: Pick<ChainStatus, 'chainId' | 'key'>,
  registry: ChainRegistry,
): string {
  return registry.find(chainId)?.key ?? key ?? String(chainId);
}
