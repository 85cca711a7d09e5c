import { type Address, type Hash, keccak256Hex, type Log } from '@chainstead/core';
import { addressAt, bigIntAt, wordCount } from '@chainstead/events/abi';

export type EventLog = Pick<Log, 'address' | 'topics' | 'data'>;

/** Other contracts use a topic0 with other numbers of topics (topic0 included) or words. */
export function eventLayout(signature: string, topics: number, words: number): EventLayout {
  return { topic: keccak256Hex(Buffer.from(signature)), topics, words };
}

export interface EventLayout {
  readonly topic: Hash;
  readonly topics: number;
  readonly words: number;
}

export function hasLayout({ topic, topics, words }: EventLayout, log: EventLog): boolean {
  return log.topics[0] === topic && log.topics.length === topics && wordCount(log.data) === words;
}

export function topicAddress(log: EventLog, place: number): Address | null {
  return addressAt(log.topics[place]);
}

const SIGN_BIT = 1n << 255n;
const TWO_POW_256 = 1n << 256n;

export function signedAt(log: EventLog, place: number): bigint {
  return signed(bigIntAt(log.data, place));
}

export function signedTopic(log: EventLog, place: number): bigint {
  const topic = log.topics[place];
  return topic === undefined ? 0n : signed(BigInt(topic));
}

function signed(value: bigint): bigint {
  return value < SIGN_BIT ? value : value - TWO_POW_256;
}

export function fitsSigned(value: bigint, bits: number): boolean {
  return BigInt.asIntN(bits, value) === value;
}

export function fitsUnsigned(value: bigint, bits: number): boolean {
  return BigInt.asUintN(bits, value) === value;
}
