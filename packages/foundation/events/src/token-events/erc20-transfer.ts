import type { Chain } from '@chainstead/chains';
import type { Address, Hash, Log } from '@chainstead/core';
import { addressAt, decimalAt } from '../abi/index.ts';
import { isNativeTransferLog, TRANSFER_TOPIC, WORD_LENGTH } from './topics.ts';

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

/** Amounts and ids are decimal digits. */
export type Approval =
  | { readonly type: 'erc20Approval'; readonly owner: Address; readonly spender: Address; readonly value: string }
  | {
      readonly type: 'nftApproval';
      readonly owner: Address;
      readonly approved: Address;
      readonly tokenId: string;
    }
  | {
      readonly type: 'approvalForAll';
      readonly account: Address;
      readonly operator: Address;
      readonly approved: boolean;
    };

/** The number of topics separates ERC-20 and ERC-721. Null for other logs. */
export function decodeApproval({ topics, data }: Pick<Log, 'topics' | 'data'>): Approval | null {
  const [topic0, first, second, id] = topics;
  if (topic0 !== APPROVAL_TOPIC && topic0 !== APPROVAL_FOR_ALL_TOPIC) return null;
  const owner = addressAt(first);
  const other = addressAt(second);
  if (owner === null || other === null) return null;
  if (topic0 === APPROVAL_TOPIC && id !== undefined)
    return data === '0x' ? { type: 'nftApproval', owner, approved: other, tokenId: decimalAt(id) } : null;
  if (id !== undefined || data.length !== WORD_LENGTH) return null;
  const value = decimalAt(data);
  return topic0 === APPROVAL_TOPIC
    ? { type: 'erc20Approval', owner, spender: other, value }
    : { type: 'approvalForAll', account: owner, operator: other, approved: value !== '0' };
}

/** `Approval(address,address,uint256)`: EIP-20 with three topics, EIP-721 with four. */
export const APPROVAL_TOPIC = '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925' as Hash;
/** `ApprovalForAll(address,address,bool)` (EIP-721, EIP-1155). */
export const APPROVAL_FOR_ALL_TOPIC =
  '0x17307eab39ab6107e8899845ad3d59bd9653f200f220920489ca2b5937696c31' as Hash;
