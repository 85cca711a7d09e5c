import type { Chain } from '@chainstead/chains';
import type { Address, Hash, Log } from '@chainstead/core';
import { decimalAt } from '../abi/index.ts';
import { isNativeTransferLog } from './native-transfer.ts';
import { TRANSFER_TOPIC, WORD_LENGTH } from './topics.ts';

export interface Erc20Transfer {
  readonly from: Address;
  readonly to: Address;
  readonly value: string;
}

/** EIP-20's shape, and no exclusion. Null for clients' native transfers (EIP-7708). */
export function decodeErc20Transfer(
  log: Pick<Log, 'address' | 'topics' | 'data'>,
  chain: Pick<Chain, 'erc20Exclusions'>,
): Erc20Transfer | null {
  const [topic0, from, to] = log.topics;
  if (topic0 !== TRANSFER_TOPIC || log.topics.length !== 3 || log.data.length !== WORD_LENGTH) return null;
  if (from === undefined || to === undefined || chain.erc20Exclusions.includes(log.address)) return null;
  if (isNativeTransferLog(log)) return null;
  // addressAt would take twice the time: every log of a backfill passes here.
  if (!from.startsWith(ADDRESS_TOPIC_PREFIX) || !to.startsWith(ADDRESS_TOPIC_PREFIX)) return null;
  return { from: addressOf(from), to: addressOf(to), value: decimalAt(log.data) };
}

const ADDRESS_TOPIC_PREFIX = `0x${'0'.repeat(24)}`;
const ADDRESS_TOPIC_DIGITS_FROM = ADDRESS_TOPIC_PREFIX.length;

function addressOf(topic: Hash): Address {
  return `0x${topic.slice(ADDRESS_TOPIC_DIGITS_FROM)}` as Address;
}
