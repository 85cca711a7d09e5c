import type { Address, Log } from '@chainstead/core';
import type { WatchedBlock } from '@chainstead/sync';
import { partiesOf, type TransactionParties, visitTransactions } from './transaction-parties.ts';

/** An address as a word: 32 bytes of which the first twelve are zero. */
const PADDING = '0'.repeat(24);
const WORD_DIGITS = 64;
const ADDRESS_LENGTH = 42;
const PREFIX_DIGITS = 2;

/**
 * Whether the forty digits at this place of a text, in any letter case, may be an address that anybody looks for. Blocks are full of
 * others, for which no string needs to be made.
 */
export type AddressTest = (text: string, at: number) => boolean;

/** Looks for any. */
export const ANY_ADDRESS: AddressTest = () => true;

/** Where addresses that passed a test occur in a block: found in one look, as most blocks have thousands and few of them concern anybody. */
export interface BlockSightings {
  readonly block: WatchedBlock;
  /** Those that one of them sends or receives, in the block's order. */
  readonly transactions: readonly TransactionParties[];
  /** Places of internal transfers that one of them sends or receives, ascending. */
  readonly internalTransfers: readonly number[];
  /** Of each log that has any, by its place, ascending. One may come twice. */
  readonly logs: ReadonlyMap<number, readonly Address[]>;
}

/**
 * Looks for every address that a stream may match: sender and receiver of transactions and internal transfers, and of logs the
 * emitter, topics 1 to 3, and whole 32-byte words of the data; of topics and words those whose upper twelve bytes are zero. A small
 * number looks the same and is sighted too.
 */
export function sightAddresses(block: WatchedBlock, test: AddressTest = ANY_ADDRESS): BlockSightings {
  const transactions: TransactionParties[] = [];
  visitTransactions(block, (hash, raw) => {
    if (passes(raw.from, test) || passes(raw.to, test)) transactions.push({ hash, ...partiesOf(raw) });
  });
  const logs = new Map<number, Address[]>();
  for (let place = 0; place < block.logs.length; place++) {
    const log = block.logs[place];
    if (log === undefined) continue;
    visitLogAddresses(log, test, (address) => {
      const known = logs.get(place);
      if (known === undefined) logs.set(place, [address]);
      else known.push(address);
    });
  }
  const internalTransfers = (block.internalTransfers ?? []).flatMap(({ from, to }, place) =>
    passes(from, test) || passes(to, test) ? [place] : [],
  );
  return { block, transactions, internalTransfers, logs };
}

/** Adds the addresses of sightings to a set: one set for many blocks makes one query of what is watched. */
export function collectAddresses(
  { block, transactions, internalTransfers, logs }: BlockSightings,
  found: Set<Address> = new Set(),
): Set<Address> {
  const add = (address: Address | null): void => {
    if (address !== null) found.add(address);
  };
  for (const { from, to } of transactions) {
    add(from);
    add(to);
  }
  for (const addresses of logs.values()) for (const address of addresses) found.add(address);
  for (const place of internalTransfers) {
    add(block.internalTransfers?.[place]?.from ?? null);
    add(block.internalTransfers?.[place]?.to ?? null);
  }
  return found;
}

function passes(value: unknown, test: AddressTest): boolean {
  return typeof value === 'string' && value.length === ADDRESS_LENGTH && test(value, PREFIX_DIGITS);
}

function visitLogAddresses(log: Log, test: AddressTest, visit: (address: Address) => void): void {
  if (test(log.address, PREFIX_DIGITS)) visit(log.address);
  for (let place = 1; place < log.topics.length; place++) {
    const topic = log.topics[place];
    if (topic?.startsWith(PADDING, PREFIX_DIGITS) && test(topic, PREFIX_DIGITS + PADDING.length))
      visit(addressAt(topic, PREFIX_DIGITS));
  }
  const { data } = log;
  for (let at = PREFIX_DIGITS; at + WORD_DIGITS <= data.length; at += WORD_DIGITS)
    if (data.startsWith(PADDING, at) && test(data, at + PADDING.length)) visit(addressAt(data, at));
}

function addressAt(text: string, wordStart: number): Address {
  return `0x${text.slice(wordStart + PADDING.length, wordStart + WORD_DIGITS)}` as Address;
}
