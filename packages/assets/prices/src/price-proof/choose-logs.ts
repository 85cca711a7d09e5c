import type { PriceExplanation } from '../token-price/serve/price-explanation.ts';
import { RECEIPT_BLOCKS_MAX } from '../token-price/serve/price-proof-document.ts';
import type { LogOfBlock } from './evidence-kind.ts';
import type { LogOfPool, LogsOfPool } from './stored-logs.ts';

type Candidate = PriceExplanation['candidates'][number];
type Anchor = PriceExplanation['anchors'][number];

export interface StoredFacts {
  readonly pools: readonly { readonly candidate: Candidate; readonly stored: LogsOfPool }[];
  readonly feeds: readonly { readonly anchor: Anchor; readonly log: LogOfPool | null }[];
}

export type ChosenLogs = ReadonlyMap<number, readonly LogOfBlock[]>;

/** Feeds' logs, and those in each pool's newest blocks. A busy pool leaves room for others. */
export function chooseLogs({ pools, feeds }: StoredFacts): ChosenLogs {
  const ofFeeds = feeds.flatMap(({ log }) => (log === null ? [] : [log]));
  const ofPools = pools.flatMap(({ stored }) => stored.logs);
  const ranked = pools.flatMap(({ stored }) => {
    const newestFirst = [...new Set(stored.logs.map(({ block }) => block))].toReversed();
    return newestFirst.map((block, rank) => ({ block, rank }));
  });
  const newest = ranked.toSorted((a, b) => a.rank - b.rank || b.block - a.block);
  const all = new Set([...ofFeeds, ...newest].map(({ block }) => block));
  const wanted = new Set([...all].slice(0, RECEIPT_BLOCKS_MAX));
  const logs = [...ofFeeds, ...ofPools].filter(({ block }) => wanted.has(block));
  const chosen = new Map<number, Map<string, LogOfBlock>>();
  for (const { block, ...log } of logs)
    chosen.set(block, (chosen.get(block) ?? new Map<string, LogOfBlock>()).set(keyOf(log), log));
  return new Map(chosen.entries().map(([block, distinct]) => [block, [...distinct.values()]]));
}

export function keyOf({ transactionIndex, logIndex }: LogOfBlock): string {
  return `${transactionIndex} ${logIndex}`;
}
