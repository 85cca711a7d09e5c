import type { Address, Log } from '@chainstead/core';
import type { WatchedBlock } from '@chainstead/sync';
import { partiesOf, type TransactionParties, visitTransactions } from './transaction-parties.ts';

/** Zero padding of an address in a 32-byte word: its first 12 bytes. */
const PADDING = '0'.repeat(24);
const WORD_DIGITS = 64;
const ADDRESS_LENGTH = 42;
const PREFIX_DIGITS = 2;

/**
 * Whether the forty hex digits at this index of a text, in any letter case, may be a watched address. Most addresses in
 * a block are unwatched, and no string needs to be created for them.
 */
export type AddressTest = (text: string, at: number) => boolean;

/** Accepts every address. */
export const ANY_ADDRESS: AddressTest = () => true;

/**
 * Occurrences in a block of addresses that passed a test, found in one pass: most blocks have thousands, few watched.
 */
export interface BlockSightings {
  readonly block: WatchedBlock;
  /** Transactions sent or received by one of the addresses, in block order. */
  readonly transactions: readonly TransactionParties[];
  /** Indexes of internal transfers sent or received by one of the addresses, ascending. */
  readonly internalTransfers: readonly number[];
  /** Addresses by log index, ascending; logs without any are omitted. An address may be repeated. */
  readonly logs: ReadonlyMap<number, readonly Address[]>;
}

/**
 * Finds every address that a stream may match: senders and receivers of transactions and internal transfers; for logs
 * the emitter, topics 1 to 3 and whole 32-byte words of the data. Topics and words count only if their upper 12 bytes
 * are zero. Small numbers look like addresses and are included.
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

/** Adds the sighted addresses to a set: one set for many blocks needs only one query of watched addresses. */
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
