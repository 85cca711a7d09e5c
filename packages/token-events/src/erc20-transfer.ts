import type { Address, Hash, Log } from '@chainstead/core';
import { TRANSFER_TOPIC } from './topics.ts';

/** An address as a topic: 32 bytes of which the first twelve are zero. */
const ADDRESS_TOPIC_PREFIX = `0x${'0'.repeat(24)}`;
const ADDRESS_TOPIC_DIGITS_FROM = ADDRESS_TOPIC_PREFIX.length;
/** `0x` and 32 bytes. */
const WORD_LENGTH = 66;

/** Sender and receiver of a log that is a standard ERC-20 transfer; null for any other. */
export function transferParties(
  log: Pick<Log, 'topics' | 'data'>,
): { readonly from: Address; readonly to: Address } | null {
  const [topic0, from, to] = log.topics;
  if (topic0 !== TRANSFER_TOPIC || log.topics.length !== 3 || log.data.length !== WORD_LENGTH) return null;
  if (from === undefined || to === undefined) return null;
  if (!from.startsWith(ADDRESS_TOPIC_PREFIX) || !to.startsWith(ADDRESS_TOPIC_PREFIX)) return null;
  return { from: addressOf(from), to: addressOf(to) };
}

function addressOf(topic: Hash): Address {
  return `0x${topic.slice(ADDRESS_TOPIC_DIGITS_FROM)}` as Address;
}
