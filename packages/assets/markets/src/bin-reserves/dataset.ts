import type { Log } from '@chainstead/core';
import { type Dataset, type DecodeContext, defineTable } from '@chainstead/sync/datasets';
import { BIN_CHANGE_TOPICS, type BinChange, decodeBinChanges } from '../events/bin-events.ts';
import { exchangesOf } from '../exchanges/custom-exchanges.ts';
import { liquidityBook1, liquidityBook2 } from '../exchanges/families.ts';
import { poolKey } from '../pools/pool-creation.ts';
import { binReservesOfChanges } from './bin-reserves-projection.ts';
import { type BinChangeRow, binChanges as table } from './schema.ts';

export const binChanges: Dataset<BinChangeRow> = {
  name: 'bin-changes',
  topics: (chain) => {
    const hasBins = exchangesOf(chain).all.some(({ exchange: { family } }) => LIQUIDITY_BOOKS.has(family));
    return hasBins ? BIN_CHANGE_TOPICS : [];
  },
  table: defineTable(table),
  decode,
  projections: [binReservesOfChanges],
  // Prices of old blocks need them.
  isKeptWhole: true,
};

const LIQUIDITY_BOOKS: ReadonlySet<unknown> = new Set([liquidityBook1, liquidityBook2]);

function decode(logs: readonly Log[], { chain }: DecodeContext): BinChangeRow[] {
  const sums = new Map<string, BinChange & { readonly blockNumber: number }>();
  for (const log of logs)
    for (const change of decodeBinChanges(log)) {
      const key = `${log.blockNumber} ${change.pool} ${change.bin}`;
      const before = sums.get(key);
      const amount0 = (before?.amount0 ?? 0n) + change.amount0;
      const amount1 = (before?.amount1 ?? 0n) + change.amount1;
      sums.set(key, { ...change, amount0, amount1, blockNumber: log.blockNumber });
    }
  return [...sums.values()]
    .filter(({ amount0, amount1 }) => amount0 !== 0n || amount1 !== 0n)
    .map(({ pool, bin, amount0, amount1, blockNumber }) => ({
      ...{ poolKey: poolKey(pool), chainId: chain.id, blockNumber, bin, pool },
      ...{ amount0: amount0.toString(), amount1: amount1.toString() },
    }));
}
