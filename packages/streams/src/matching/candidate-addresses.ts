import type { Address, Log } from '@chainstead/core';
import type { WatchedBlock } from '@chainstead/sync';
import { transactionParties } from './transaction-parties.ts';

/** An address as a word: 32 bytes of which the first twelve are zero. */
const PADDING = '0'.repeat(24);
const WORD_DIGITS = 64;
const PREFIX_DIGITS = 2;

/**
 * Whether the forty digits at this place of a text may be an address that anybody looks for. Blocks are full of others, for which
 * no string needs to be made.
 */
export type AddressTest = (text: string, at: number) => boolean;

/** Looks for any. */
export const ANY_ADDRESS: AddressTest = () => true;

/**
 * Adds every address that a stream may match in this block and that passes the test: sender and receiver of transactions and
 * internal transfers, and those of `visitLogAddresses`. One set for a batch of blocks makes one query of the watched addresses for
 * all of them.
 */
export function candidateAddresses(
  block: WatchedBlock,
  found: Set<Address> = new Set(),
  test: AddressTest = ANY_ADDRESS,
): Set<Address> {
  const addPassing = (address: Address): void => {
    if (test(address, PREFIX_DIGITS)) found.add(address);
  };
  for (const { from, to } of transactionParties(block)) {
    if (from !== null) addPassing(from);
    if (to !== null) addPassing(to);
  }
  const add = (address: Address): void => void found.add(address);
  for (const log of block.logs) visitLogAddresses(log, test, add);
  for (const { from, to } of block.internalTransfers ?? []) {
    addPassing(from);
    addPassing(to);
  }
  return found;
}

/**
 * Every address that occurs in a log and passes the test: its emitter, topics 1 to 3, and whole 32-byte words of the data; of topics and words
 * those whose upper twelve bytes are zero. A small number looks the same and is visited too; an address may come twice.
 */
export function visitLogAddresses(log: Log, test: AddressTest, visit: (address: Address) => void): void {
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
