import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { anchorsOf, DOLLAR } from '@chainstead/markets/requests';
import { readTrades, readTradesSpan, type Trade } from './trades/read-trades.ts';

interface SwapVolume {
  /** Rounded half up once; null: not indexed, or a swap against an anchor has no known value. */
  readonly cents: bigint | null;
  readonly isComplete: boolean;
}

/** As sender or beneficiary. Swaps without an anchor do not count, as in profits. */
export async function readSwapVolume(
  database: ReadDatabase,
  chain: Chain,
  query: { readonly wallet: Address; readonly lastBlock: number; readonly signal: AbortSignal },
): Promise<SwapVolume> {
  const { wallet, lastBlock, signal } = query;
  const { indexed } = await readTradesSpan(database, chain, wallet);
  const { toBlock, complete: isComplete } = indexed;
  if (toBlock === null) return { cents: null, isComplete };
  const { dollar, native, ether, other } = anchorsOf(chain);
  const anchors = new Set([...dollar, ...native, ...ether, ...other]);
  const isAnchored = ({ pool }: Trade) => anchors.has(pool.token0) || anchors.has(pool.token1);
  const last = Math.min(lastBlock, toBlock);
  const reading = { subject: { kind: 'wallet', wallet }, firstBlock: 0, lastBlock: last } as const;
  let sum = 0n;
  for await (const { trades } of readTrades(database, chain, reading)) {
    signal.throwIfAborted();
    for (const trade of trades) {
      if (trade.value === null && isAnchored(trade)) return { cents: null, isComplete };
      sum += trade.value ?? 0n;
    }
  }
  return { cents: (2n * sum * 100n + DOLLAR) / (2n * DOLLAR), isComplete };
}
