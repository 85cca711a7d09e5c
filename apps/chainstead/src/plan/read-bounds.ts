import type { Chain } from '@chainstead/chains';
import type { BlockRange } from '@chainstead/core';
import type { UpstreamPool } from '@chainstead/rpc';
import { readSettledHeight } from '@chainstead/sync/ingest';
import { blockAtTime } from '@chainstead/transactions';
import { UsageError } from '../errors/usage-error.ts';

export type BlockBound = { readonly block: number } | { readonly seconds: number };

const BLOCK = /^\d+$/;
const DATE = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2})?Z)?$/;

/** @throws UsageError */
export function parseBound(option: string, text: string): BlockBound {
  const block = BLOCK.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(block)) return { block };
  const time = DATE.test(text) ? Date.parse(text) : Number.NaN;
  // Date.parse accepts February 30.
  if (!Number.isNaN(time) && new Date(time).toISOString().startsWith(text.slice(0, 10)))
    return { seconds: time / 1_000 };
  throw new UsageError(
    `${option} ${text} is not a block or a date`,
    'Use a block number, or a date such as 2023-01-01 or 2023-01-01T12:00Z',
  );
}

interface Reader {
  readonly chain: Chain;
  readonly pool: UpstreamPool;
}

/** Dates count in UTC. @param to absent: the newest final block. @throws UsageError */
export async function resolveBounds(
  reader: Reader,
  { from, to }: { readonly from: BlockBound; readonly to: BlockBound | null },
  signal: AbortSignal,
): Promise<BlockRange> {
  const settled = await readSettledHeight(reader.pool, reader.chain);
  const first = await blockOf(reader, '--from', from, 'after', signal);
  const last = to === null ? settled : await blockOf(reader, '--to', to, 'before', signal);
  if (last > settled)
    throw new UsageError(`Block ${last} is not final: the newest final block is ${settled}`, 'Leave out --to');
  if (first > last)
    throw new UsageError(`The last block ${last} is below the first ${first}`, 'Choose another range');
  return { from: Math.max(first, reader.chain.firstBlock), to: last };
}

async function blockOf(
  { chain, pool }: Reader,
  option: string,
  bound: BlockBound,
  closest: 'after' | 'before',
  signal: AbortSignal,
): Promise<number> {
  if ('block' in bound) return bound.block;
  const time = bound.seconds;
  const { block } = await blockAtTime({ chain, pool, known: async () => [] }, { time, closest }, signal);
  if (closest === 'after' ? block.timestamp >= time : block.timestamp <= time) return block.number;
  const date = new Date(time * 1_000).toISOString();
  const what = closest === 'after' ? 'no block since' : 'no block before';
  throw new UsageError(`${option}: ${chain.key} has ${what} ${date}`, 'Use another date, or a block number');
}
