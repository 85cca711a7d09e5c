import type { Chain } from '@chainstead/chains';
import type { ChainId } from '@chainstead/core';
import type { StreamConfig } from '../stream.ts';
import type { OffersTraces } from '../stream-services.ts';
import { ValidationFailedError } from './validation-failed.ts';

/** Without trace nodes, the stream would match none. @throws ValidationFailedError */
export async function requireTraces(
  offersTraces: OffersTraces,
  { includeInternalTxs, chainIds }: Pick<StreamConfig, 'includeInternalTxs' | 'chainIds'>,
  chainOf: (id: ChainId) => Chain | null,
): Promise<void> {
  if (!includeInternalTxs) return;
  const chains = chainIds.map(chainOf).filter((chain) => chain !== null);
  const offered = await Promise.all(chains.map(offersTraces));
  const without = chains.filter((_, index) => offered[index] === false).map(({ key }) => key);
  if (without.length === 0) return;
  const message = `no node of ${without.join(', ')} gives traces (debug_traceBlockByHash or trace_block)`;
  throw new ValidationFailedError([{ path: 'includeInternalTxs', message, value: true }]);
}
