import type { Address, Log } from '@chainstead/core';
import type { WatchedBlock } from '@chainstead/sync';
import { transactionParties } from './transaction-parties.ts';

/** An address as a word: 32 bytes of which the first twelve are zero. */
const PADDING = '0'.repeat(24);
const WORD_DIGITS = 64;
const PREFIX_DIGITS = 2;

/**
 * Adds every address that a stream may match in this block: sender and receiver of transactions and internal transfers, and
 * those of `visitLogAddresses`. One set for a batch of blocks makes one query of the watched addresses for all of them.
 */
export function candidateAddresses(block: WatchedBlock, found: Set<Address> = new Set()): Set<Address> {
  for (const { from, to } of transactionParties(block)) {
    if (from !== null) found.add(from);
    if (to !== null) found.add(to);
  }
  const add = (address: Address): void => void found.add(address);
  for (const log of block.logs) visitLogAddresses(log, add);
  for (const { from, to } of block.internalTransfers ?? []) found.add(from).add(to);
  return found;
}

/**
 * Every address that occurs in a log: its emitter, topics 1 to 3, and whole 32-byte words of the data; of topics and words
 * those whose upper twelve bytes are zero. A small number looks the same and is visited too; an address may come twice.
 */
export function visitLogAddresses(log: Log, visit: (address: Address) => void): void {
  visit(log.address);
  for (let place = 1; place < log.topics.length; place++) {
    const topic = log.topics[place];
    if (topic?.startsWith(PADDING, PREFIX_DIGITS)) visit(addressAt(topic, PREFIX_DIGITS));
  }
  const { data } = log;
  for (let at = PREFIX_DIGITS; at + WORD_DIGITS <= data.length; at += WORD_DIGITS)
    if (data.startsWith(PADDING, at)) visit(addressAt(data, at));
}

function addressAt(text: string, wordStart: number): Address {
  return `0x${text.slice(wordStart + PADDING.length, wordStart + WORD_DIGITS)}` as Address;
}
