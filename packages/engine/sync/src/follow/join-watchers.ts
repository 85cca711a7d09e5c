import type { BlockWatcher, WatchNeeds } from '../read/block-watcher.ts';

export function joinWatchers(watchers: readonly BlockWatcher[]): BlockWatcher {
  return {
    async needs(chain) {
      const needs: WatchNeeds[] = [];
      for (const watcher of watchers) needs.push(await watcher.needs(chain));
      return {
        transactions: needs.some(({ transactions }) => transactions),
        provenTransactions: needs.some(({ provenTransactions }) => provenTransactions === true),
        internalTransfers: needs.some(({ internalTransfers }) => internalTransfers),
      };
    },
    async prepare(chain, blocks, unmatched) {
      for (const watcher of watchers) await watcher.prepare?.(chain, blocks, unmatched);
    },
    async committed(transaction, chain, blocks, unmatched) {
      for (const watcher of watchers) await watcher.committed(transaction, chain, blocks, unmatched);
    },
    async rolledBack(transaction, chain, ancestor) {
      for (const watcher of watchers) await watcher.rolledBack(transaction, chain, ancestor);
    },
    rows: {
      datasets: (chain) => watchers.flatMap(({ rows }) => rows?.datasets(chain) ?? []),
      async select(transaction, chain, blocks) {
        const selected = [];
        for (const { rows } of watchers)
          if (rows !== undefined) selected.push(...(await rows.select(transaction, chain, blocks)));
        return selected;
      },
    },
  };
}
