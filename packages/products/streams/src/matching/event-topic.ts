import { type Hash, keccak256Hex } from '@chainstead/core';
import { toEventSignature } from 'viem/utils';
import type { AbiItem } from '../stream.ts';

const HASH = /^0x[0-9a-f]{64}$/i;
const SIGNATURE = /^([\w$]+)(\(.*\))$/;
const TYPE =
  /^(?:(?:u?int(?:8|16|24|32|40|48|56|64|72|80|88|96|1[0-9][0-9]|2[0-4][0-9]|25[0-6])|address|bool|bytes(?:[1-9]|[12]\d|3[0-2])?|string|function|u?fixed(?:\d+x\d+))(?:\[\d*\])*|(?:\[\d*\])*)$/;

/** A signature (with names, `indexed` and `uint`) or a hash. Null for any other text. */
export function topicOf(signature: string): Hash | null {
  if (HASH.test(signature)) return signature.toLowerCase() as Hash;
  return selectorOf(signature.trim());
}

/** Null for other items, anonymous events and unknown types. */
export function topicOfEvent(item: AbiItem): Hash | null {
  if (item.type !== 'event' || item.anonymous === true || item.name === undefined) return null;
  return selectorOf({ ...item, inputs: item.inputs ?? [] });
}

export interface EventTopic {
  readonly signature: string;
  readonly topic0: Hash;
}

export function eventsOf(abi: readonly AbiItem[]): readonly EventTopic[] {
  const events = new Map<Hash, EventTopic>();
  for (const item of abi) {
    const topic0 = topicOfEvent(item);
    const signature = topic0 === null ? null : canonicalSignature({ ...item, inputs: item.inputs ?? [] });
    if (topic0 !== null && signature !== null) events.set(topic0, { signature, topic0 });
  }
  return [...events.values()];
}

function selectorOf(event: unknown): Hash | null {
  const canonical = canonicalSignature(event);
  return canonical === null ? null : keccak256Hex(Buffer.from(canonical));
}

function canonicalSignature(event: unknown): string | null {
  let signature: string;
  try {
    signature = toEventSignature(event as Parameters<typeof toEventSignature>[0]);
  } catch {
    // No topic0 if viem can't parse it; validation reports it to the owner.
    return null;
  }
  const [, name, inputs] = SIGNATURE.exec(signature) ?? [];
  if (name === undefined || inputs === undefined) return null;
  const canonical = inputs.replace(/\b(u?int)\b/g, '$1256');
  return canonical.split(/[(),]/).every((type) => TYPE.test(type)) ? `${name}${canonical}` : null;
}
