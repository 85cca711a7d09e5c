import type { Match, MatchedInternalTransaction, MatchedLog, MatchedTransaction } from './match.ts';

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
