/** The matches of a stream in a block, found by scanning the block per stream: the model of `matchBlock`. */
import type { Address, Log } from '@chainstead/core';
import type { WatchedBlock } from '@chainstead/sync';
import { type Abi, decodeEventLog, toEventSelector } from 'viem';
import type { AbiItem, Stream } from '../../stream.ts';
import { type ModelValue, passesModel } from './filter-model.ts';

/** Index in the block and the watched addresses that caused it, sorted. */
export type NaiveItem = readonly [place: number, causes: readonly Address[]];

export interface NaiveMatch {
  readonly logs: readonly NaiveItem[];
  readonly transactions: readonly NaiveItem[];
  readonly internalTransactions: readonly NaiveItem[];
}

export function scanBlock(
  block: WatchedBlock,
  stream: Stream,
  addresses: ReadonlySet<Address>,
  spam: ReadonlySet<Address>,
): NaiveMatch | null {
  const watched = (all: readonly (Address | null)[]): Address[] =>
    all.filter((one) => one !== null).filter((one) => addresses.has(one));
  const everywhere = stream.allAddresses && (stream.topic0 ?? []).length > 0 && (stream.abi ?? []).length > 0;
  const scanned = block.logs.map((log, place) => {
    const causes = watched(addressesOf(log));
    const dropped = stream.filterPossibleSpamAddresses && spam.has(log.address);
    const [options] = optionsOf(stream, log);
    const passing = options?.filter(({ passes }) => passes(spam));
    const matches =
      !dropped && (everywhere || causes.length > 0) && isEvent(stream, log) && passing?.length !== 0;
    const bringsTransaction =
      matches && (passing ?? []).some(({ includeNativeTxs }) => includeNativeTxs === true);
    return { log, place, causes, dropped, matches, bringsTransaction };
  });
  const found = {
    logs: [] as NaiveItem[],
    transactions: [] as NaiveItem[],
    internalTransactions: [] as NaiveItem[],
  };
  for (const [index, { raw }] of block.receipts.entries()) {
    const parties = watched([raw.from as Address, raw.to as Address | null]);
    const own = scanned.filter(({ log }) => log.transactionIndex === index);
    const bringing = own.filter(({ bringsTransaction }) => bringsTransaction);
    const matching = own.filter(({ matches }) => matches);
    const ofTransaction = [...parties, ...matching.flatMap(({ causes }) => causes)];
    const all = stream.includeAllTxLogs && (parties.length > 0 || matching.length > 0);
    for (const { place, matches, causes, dropped } of own) {
      if (stream.includeContractLogs && matches) found.logs.push(item(place, causes));
      else if (all && !dropped) found.logs.push(item(place, ofTransaction));
    }
    const native = stream.includeNativeTxs ? parties : [];
    if (native.length > 0 || bringing.length > 0)
      found.transactions.push(item(index, [...native, ...bringing.flatMap(({ causes }) => causes)]));
  }
  for (const [place, { from, to, value }] of (block.internalTransfers ?? []).entries()) {
    const causes = watched([from, to]);
    if (stream.includeInternalTxs && value > 0n && causes.length > 0)
      found.internalTransactions.push(item(place, causes));
  }
  return Object.values(found).every((items) => items.length === 0) ? null : found;
}

function item(place: number, causes: readonly Address[]): NaiveItem {
  return [place, [...new Set(causes)].sort()];
}

function addressesOf(log: Log): Address[] {
  const words = [
    ...log.topics.slice(1).map((topic) => topic.slice(2)),
    ...(log.data.slice(2).match(/.{64}/g) ?? []),
  ];
  const addresses = words
    .filter((word) => BigInt(`0x${word}`) < 2n ** 160n)
    .map((word) => `0x${word.slice(24)}` as Address);
  return [log.address, ...addresses];
}

const topicOf = (item: AbiItem) => toEventSelector(item as Parameters<typeof toEventSelector>[0]);
const topicsOf = (item: AbiItem) => 1 + (item.inputs ?? []).filter(({ indexed }) => indexed).length;

function isEvent(stream: Stream, log: Log): boolean {
  const wanted = stream.topic0 ?? [];
  if (wanted.length === 0) return true;
  if (!wanted.some((signature) => toEventSelector(signature) === log.topics[0])) return false;
  const known = (stream.abi ?? []).filter((item) => topicOf(item) === log.topics[0]);
  return known.length === 0 || known.some((item) => topicsOf(item) === log.topics.length);
}

/** Returns the options of the log's topic0 as a list with one list, or an empty list without options. */
function optionsOf(stream: Stream, log: Log) {
  const options = (stream.advancedOptions ?? []).filter(
    ({ topic0 }) => toEventSelector(topic0) === log.topics[0],
  );
  const list = options.map(({ filter = {}, includeNativeTxs }) => ({
    includeNativeTxs,
    passes: (spam: ReadonlySet<Address>) =>
      Object.keys(filter).length === 0 ||
      valuesOf(stream, log, spam).some((values) => passesModel(filter, values)),
  }));
  return list.length === 0 ? [] : [list];
}

/** Returns the log's parameters, decoded as each possible event of the ABI. */
function valuesOf(stream: Stream, log: Log, spam: ReadonlySet<Address>): Map<string, ModelValue>[] {
  const known = (stream.abi ?? []).filter(
    (item) => topicOf(item) === log.topics[0] && topicsOf(item) === log.topics.length,
  );
  return known.map((item) => {
    const { args } = decodeEventLog({
      abi: [item] as Abi,
      topics: [log.topics[0] ?? '0x', ...log.topics.slice(1)],
      data: log.data,
    });
    const values = new Map<string, ModelValue>();
    for (const [name, value] of Object.entries(args ?? {}))
      values.set(name, typeof value === 'string' ? value.toLowerCase() : (value as ModelValue));
    values.set('moralis_streams_contract_address', log.address);
    values.set('moralis_streams_chain_id', 1n);
    return values.set('moralis_streams_possibleSpam', spam.has(log.address));
  });
}
