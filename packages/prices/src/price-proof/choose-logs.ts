import type { PriceExplanation } from '../token-price/serve/price-explanation.ts';
import { RECEIPT_BLOCKS_MAX } from '../token-price/serve/price-proof-document.ts';
import type { LogOfBlock } from './evidence-kind.ts';
import type { LogsOfPool } from './stored-logs.ts';

type Candidate = PriceExplanation['candidates'][number];
type Anchor = PriceExplanation['anchors'][number];

/** Pools and feeds with the logs to prove. */
export interface StoredFacts {
  readonly pools: readonly { readonly candidate: Candidate; readonly stored: LogsOfPool }[];
  readonly feeds: readonly {
    readonly anchor: Anchor;
    readonly log: (LogOfBlock & { readonly block: number }) | null;
  }[];
}

/** Logs to prove, by block. */
export type ChosenLogs = ReadonlyMap<number, readonly LogOfBlock[]>;

/** Returns the logs to prove: those of feeds, and those in the newest blocks of each pool. A busy pool leaves room for the others. */
export function chooseLogs({ pools, feeds }: StoredFacts): ChosenLogs {
  const ofFeeds = feeds.flatMap(({ log }) => (log === null ? [] : [log]));
  const ofPools = pools.flatMap(({ stored }) => stored.logs);
  const ranked = pools.flatMap(({ stored }) => newestBlocks(stored).map((block, rank) => ({ block, rank })));
  const newest = ranked.toSorted((one, other) => one.rank - other.rank || other.block - one.block);
  const all = new Set([...ofFeeds, ...newest].map(({ block }) => block));
  const wanted = new Set([...all].slice(0, RECEIPT_BLOCKS_MAX));
  const logs = [...ofFeeds, ...ofPools].filter(({ block }) => wanted.has(block));
  const byBlock = Map.groupBy(logs, ({ block }) => block);
  return new Map([...byBlock].map(([block, of]) => [block, distinct(of)]));
}

function newestBlocks({ logs }: LogsOfPool): readonly number[] {
  return [...new Set(logs.map(({ block }) => block))].toReversed();
}

function distinct(logs: readonly LogOfBlock[]): readonly LogOfBlock[] {
  const byPlace = new Map(logs.map((log) => [keyOf(log), log]));
  return [...byPlace.values()].map(({ transactionIndex, logIndex }) => ({ transactionIndex, logIndex }));
}

/** Identifies a log in its block. */
export function keyOf({ transactionIndex, logIndex }: LogOfBlock): string {
  return `${transactionIndex} ${logIndex}`;
}
