import { errorText, type Logger } from '@chainstead/core';
import { RpcCallError } from '@chainstead/rpc';
import type { GatewayChain } from '../call.ts';
import type { FilterStore, StoredFilter } from './filter-store.ts';

/** Belongs to one upstream: no two have the same pending transactions. */
interface UpstreamFilter {
  readonly upstream: string;
  readonly id: string;
}

export async function newUpstreamFilter(pool: GatewayChain['pool']): Promise<UpstreamFilter> {
  const { value, upstream } = await pool.request('eth_newPendingTransactionFilter', []);
  return { upstream, id: String(value) };
}

/** JSON text; null if another poll came in between. */
export async function pollPendingFilter(
  { pool }: GatewayChain,
  filter: StoredFilter,
  store: FilterStore,
): Promise<string | null> {
  const { upstream, id } = filter.subject as UpstreamFilter;
  try {
    const { value } = await pool.request('eth_getFilterChanges', [id], { only: upstream });
    await store.touch(filter.id);
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof RpcCallError)) throw error;
  }
  // The upstream dropped the filter: reports transactions from now on.
  const subject = await newUpstreamFilter(pool);
  return (await store.advance(filter, { subject, reported: [] })) ? '[]' : null;
}

/** An unreachable upstream drops the filter after a while. */
export async function removePendingFilter(
  { pool, slug }: GatewayChain,
  filter: StoredFilter,
  logger: Logger,
): Promise<void> {
  const { upstream, id } = filter.subject as UpstreamFilter;
  try {
    await pool.request('eth_uninstallFilter', [id], { only: upstream });
  } catch (error) {
    logger.debug({ chain: slug, error: errorText(error) }, 'Filter of an upstream not removed');
  }
}
