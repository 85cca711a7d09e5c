import { type Address, getOrCompute, type Log } from '@chainstead/core';
import type { WatchedBlock } from '@chainstead/sync';
import { partiesOf, type TransactionParties, visitTransactions } from './transaction-parties.ts';

const PADDING = '0'.repeat(24);
const WORD_DIGITS = 64;
const ADDRESS_LENGTH = 42;
const PREFIX_DIGITS = 2;

/** May be a watched address: forty hex digits at this index. Avoids a string for each. */
export type AddressTest = (text: string, at: number) => boolean;

export const ANY_ADDRESS: AddressTest = () => true;

export interface BlockSightings {
  readonly block: WatchedBlock;
  readonly transactions: readonly TransactionParties[];
  readonly internalTransfers: readonly number[];
  readonly logs: ReadonlyMap<number, ReadonlySet<Address>>;
}

/** Addresses of parties, emitters, topics 1 to 3 and 32-byte data words (upper 12 bytes zero). */
export function sightAddresses(block: WatchedBlock, test: AddressTest = ANY_ADDRESS): BlockSightings {
  const transactions: TransactionParties[] = [];
  visitTransactions(block, (hash, raw) => {
    if (passes(raw.from, test) || passes(raw.to, test)) transactions.push({ hash, ...partiesOf(raw) });
  });
  const logs = new Map<number, Set<Address>>();
  for (const [index, log] of block.logs.entries())
    visitLogAddresses(log, test, (address) => getOrCompute(logs, index, () => new Set()).add(address));
  const internalTransfers = (block.internalTransfers ?? []).flatMap(({ from, to }, index) =>
    passes(from, test) || passes(to, test) ? [index] : [],
  );
  return { block, transactions, internalTransfers, logs };
}

export function collectAddresses(
  { block, transactions, internalTransfers, logs }: BlockSightings,
  sighted: Set<Address> = new Set(),
): Set<Address> {
  const transfers = internalTransfers.map((index) => block.internalTransfers?.[index]);
  for (const parties of [...transactions, ...transfers])
    for (const address of [parties?.from ?? null, parties?.to ?? null])
      if (address !== null) sighted.add(address);
  for (const addresses of logs.values()) for (const address of addresses) sighted.add(address);
  return sighted;
}

function passes(value: unknown, test: AddressTest): boolean {
  return typeof value === 'string' && value.length === ADDRESS_LENGTH && test(value, PREFIX_DIGITS);
}

function visitLogAddresses(log: Log, test: AddressTest, visit: (address: Address) => void): void {
  if (test(log.address, PREFIX_DIGITS)) visit(log.address);
  for (let index = 1; index < log.topics.length; index++) {
    const topic = log.topics[index];
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
