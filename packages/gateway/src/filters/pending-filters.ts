import { errorText, type Logger } from '@chainstead/core';
import { RpcCallError } from '@chainstead/rpc';
import type { GatewayChain } from '../call.ts';
import type { FilterStore, StoredFilter } from './filter-store.ts';

/** A filter of waiting transactions is one of an upstream: no two have the same ones. */
interface UpstreamFilter {
  readonly upstream: string;
  readonly id: string;
}

/** Makes one. @returns the subject of the filter that stands for it */
export async function newUpstreamFilter(pool: GatewayChain['pool']): Promise<UpstreamFilter> {
  const { value, upstream } = await pool.request('eth_newPendingTransactionFilter', []);
  return { upstream, id: String(value) };
}

/** What its upstream has to tell, as JSON text; null where another poll came in between. */
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
  // The upstream forgot it: what comes from now on is told.
  const subject = await newUpstreamFilter(pool);
  return (await store.advance(filter, { subject, told: [] })) ? '[]' : null;
}

/** Where the upstream can't be told, it forgets the filter by itself. */
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
