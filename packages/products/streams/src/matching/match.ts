import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Address, Hash, Hex, Log } from '@chainstead/core';
import type { AbiItem, StreamTransaction } from '../stream.ts';

export interface MatchedLog {
  readonly transactionHash: Hash;
  readonly transactionIndex: number;
  readonly logIndex: number;
  readonly address: Address;
  readonly topics: readonly Hash[];
  readonly data: Hex;
  /** Watched addresses; none if topic0 alone matched. */
  readonly triggeredBy: readonly Address[];
}

export interface MatchedTransaction extends StreamTransaction {
  readonly triggeredBy: readonly Address[];
}

export interface MatchedInternalTransaction {
  readonly index: number;
  readonly transactionHash: Hash;
  readonly from: Address;
  readonly to: Address;
  /** Wei, decimal digits. */
  readonly value: string;
  readonly gas: string | null;
  readonly triggeredBy: readonly Address[];
}

/** In block order. Plain JSON: the same block always yields the same text. */
export interface Match {
  readonly streamId: string;
  readonly logs: readonly MatchedLog[];
  readonly transactions: readonly MatchedTransaction[];
  readonly internalTransactions: readonly MatchedInternalTransaction[];
  readonly triggeredBy: readonly Address[];
  readonly events?: readonly AbiItem[];
}

/** Items, and addresses that caused them. */
export function sizeOf({ logs, transactions, internalTransactions }: Match): number {
  return [logs, transactions, internalTransactions]
    .flat()
    .reduce((size, { triggeredBy }) => size + 1 + triggeredBy.length, 0);
}

export type WatchedAddresses = ReadonlyMap<Address, readonly string[]>;

export type NamedLogs = ReadonlyMap<Log, readonly { readonly name: string; readonly item: AbiItem | null }[]>;

/** Stored once for all streams: one log may take megabytes. */
export interface BlockItem {
  readonly kind: number;
  readonly place: number;
  readonly text: string;
}

export type ItemPlace = Pick<BlockItem, 'kind' | 'place'>;

type Item = MatchedLog | MatchedTransaction | MatchedInternalTransaction;

/** The order is stored: append only. */
const ITEM_LISTS = ['logs', 'transactions', 'internalTransactions'] as const;

/** Place of an item, then positions in `triggeredBy`. */
type Reference = readonly [place: number, ...causes: number[]];

interface StoredMatch
  extends Pick<Match, 'triggeredBy' | 'events'>,
    Readonly<Record<(typeof ITEM_LISTS)[number], readonly Reference[]>> {}

export function itemsOf(match: Match): (ItemPlace & { readonly render: () => string })[] {
  return ITEM_LISTS.flatMap((list, kind) =>
    match[list].map(({ triggeredBy: _, ...item }: Item) => ({
      kind,
      place: placeOf(item),
      render: () => JSON.stringify(item),
    })),
  );
}

export function referenceText({ streamId: _, triggeredBy, events, ...lists }: Match): string {
  const causes = new Map(triggeredBy.map((address, index) => [address, index]));
  const refer = (item: Item): Reference => [
    placeOf(item),
    ...item.triggeredBy.flatMap((address) => causes.get(address) ?? []),
  ];
  const stored: StoredMatch = {
    logs: lists.logs.map(refer),
    transactions: lists.transactions.map(refer),
    internalTransactions: lists.internalTransactions.map(refer),
    triggeredBy,
    ...(events === undefined ? {} : { events }),
  };
  return JSON.stringify(stored);
}

/** No validation: the text comes from an internal column. */
export function referredPlaces(text: string): ItemPlace[] {
  const stored: StoredMatch = JSON.parse(text);
  return ITEM_LISTS.flatMap((list, kind) => stored[list].map(([place]) => ({ kind, place })));
}

/** Null if an item is missing. */
export function restoreMatch(
  { streamId }: Pick<Match, 'streamId'>,
  text: string,
  textOf: (place: ItemPlace) => string | null,
): Match | null {
  const { triggeredBy, events, ...stored }: StoredMatch = JSON.parse(text);
  let isWhole = true;
  const restore = (list: (typeof ITEM_LISTS)[number], kind: number) =>
    stored[list].flatMap(([place, ...causes]) => {
      const item = textOf({ kind, place });
      if (item === null) isWhole = false;
      return item === null
        ? []
        : [{ ...JSON.parse(item), triggeredBy: causes.flatMap((at) => triggeredBy[at] ?? []) }];
    });
  const [logs = [], transactions = [], internalTransactions = []] = ITEM_LISTS.map(restore);
  if (!isWhole) return null;
  const described = events === undefined ? {} : { events };
  return { streamId, logs, transactions, internalTransactions, triggeredBy, ...described };
}

function placeOf(item: { readonly logIndex: number } | { readonly index: number }): number {
  return 'logIndex' in item ? item.logIndex : item.index;
}

/** Pauses after each slice of its work. */
export type Sliced<T> = Generator<void, T>;

/** About 20 ms. */
const UNITS_PER_SLICE = 200_000;

/** Other work of the process has a turn between two slices. */
export async function inSlices<T>(work: Sliced<T>): Promise<T> {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    await nextTurn();
  }
}

export type Slices = ReturnType<typeof createSlices>;

export function createSlices() {
  let units = 0;
  return {
    /** @param more units of a `WorkBudget` @returns whether the slice is over */
    worked(more: number): boolean {
      units += more;
      const isOver = units >= UNITS_PER_SLICE;
      if (isOver) units = 0;
      return isOver;
    },
  };
}
