import { type Address, type Hash, type Hex, keccak256Hex, type Log } from '@chainstead/core';
import { abiSignature, decodeAbi } from '@chainstead/events/abi';
import type { AbiEvent, AbiParameter } from 'abitype';
import type { AbiEventParametersToPrimitiveTypes } from 'viem';
import type { TradedItem } from './marketplace.ts';

export function topicOf(event: AbiEvent): Hash {
  return layoutOf(event).topic;
}

type EventArguments<Event extends AbiEvent> = AbiEventParametersToPrimitiveTypes<
  Event['inputs'],
  { EnableUnion: false; IndexedOnly: false; Required: true }
>;

/** Null for another event or an invalid encoding. Arguments and struct members need names. */
export function eventArguments<const Event extends AbiEvent>(event: Event, log: Log): EventArguments<Event> | null {
  const { topic, indexed, data } = layoutOf(event);
  const [topic0, ...topics] = log.topics;
  if (topic0 !== topic || topics.length !== indexed.length) return null;
  try {
    const values: readonly unknown[] = decodeAbi(data, log.data);
    const args: unknown = Object.fromEntries([
      ...indexed.map((input, index) => [input[0].name, decodeAbi(input, topics[index] ?? '0x')[0]]),
      ...data.map(({ name }, index) => [name, values[index]]),
    ]);
    return args as EventArguments<Event>;
  } catch {
    return null;
  }
}

export function lowerCase(address: Hex): Address {
  return address.toLowerCase() as Address;
}

interface EventLayout {
  readonly topic: Hash;
  readonly indexed: readonly (readonly [AbiParameter])[];
  readonly data: readonly AbiParameter[];
}

const layouts = new WeakMap<AbiEvent, EventLayout>();

function layoutOf(event: AbiEvent): EventLayout {
  const cached = layouts.get(event);
  if (cached !== undefined) return cached;
  const layout = {
    topic: keccak256Hex(Buffer.from(abiSignature(event.name, event.inputs))),
    indexed: event.inputs.filter((input) => input.indexed === true).map((input) => [input] as const),
    data: event.inputs.filter((input) => input.indexed !== true),
  };
  layouts.set(event, layout);
  return layout;
}

/** The zero address, the usual placeholder, Polygon's system contract. */
const NATIVE_PLACEHOLDERS: ReadonlySet<string> = new Set([
  `0x${'0'.repeat(40)}`,
  `0x${'e'.repeat(40)}`,
  `0x${'1010'.padStart(40, '0')}`,
]);

/** Null for the native token. The wrapped native token is an ERC-20. */
export function paymentToken(named: string): Address | null {
  const token = named.toLowerCase() as Address;
  return NATIVE_PLACEHOLDERS.has(token) ? null : token;
}

/** Null if the lists differ in length or are empty. */
export function tradedItems(
  token: `0x${string}`,
  ids: readonly bigint[],
  amounts: readonly bigint[],
): readonly TradedItem[] | null {
  if (ids.length === 0 || ids.length !== amounts.length) return null;
  return ids.map((id, index) => tradedItem(token, id, amounts[index]));
}

export function tradedItem(token: `0x${string}`, id: bigint, amount: bigint = 1n): TradedItem {
  return { token: lowerCase(token), tokenId: id.toString(), amount: amount.toString() };
}
