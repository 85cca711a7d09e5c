import { addressAt, decimalAt } from '@chainstead/abi';
import type { Chain } from '@chainstead/chains';
import type { Address, Hash, Log } from '@chainstead/core';
import { decodeNftMovements, MOVEMENT_KINDS, transferParties } from '@chainstead/token-events';
import type { MatchedLog } from '../matching/match.ts';
import type { TokenContractType } from './webhook.ts';

/** What a log says of tokens. Amounts and ids are decimal digits. */
export type TokenEvent = { readonly log: MatchedLog } & (
  | { readonly type: 'erc20Transfer'; readonly from: Address; readonly to: Address; readonly value: string }
  | { readonly type: 'erc20Approval'; readonly owner: Address; readonly spender: Address; readonly value: string }
  | { readonly type: 'nftApproval'; readonly owner: Address; readonly approved: Address; readonly tokenId: string }
  | {
      readonly type: 'approvalForAll';
      readonly account: Address;
      readonly operator: Address;
      readonly approved: boolean;
    }
  | NftTransferEvent
);

interface NftTransferEvent {
  readonly type: 'nftTransfer';
  readonly standard: TokenContractType;
  readonly operator: Address | null;
  readonly from: Address;
  readonly to: Address;
  readonly tokenId: string;
  readonly amount: string;
}

/** keccak256 of `Approval(address,address,uint256)` (EIP-20 with three topics, EIP-721 with four). */
const APPROVAL_TOPIC = '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925' as Hash;
/** keccak256 of `ApprovalForAll(address,address,bool)` (EIP-721 and EIP-1155). */
const APPROVAL_FOR_ALL_TOPIC = '0x17307eab39ab6107e8899845ad3d59bd9653f200f220920489ca2b5937696c31' as Hash;
/** `0x` and 32 bytes. */
const WORD_LENGTH = 66;

/**
 * Transfers and approvals of tokens in these logs, in their order; a TransferBatch gives one for each id. ERC-20 and
 * ERC-721 are told apart by the number of topics. ERC-2309 (one log, up to millions of tokens) and CryptoPunks are not
 * among them, nor is what does not have its event's shape: those stay raw logs.
 */
export function decodeTokenEvents(logs: readonly MatchedLog[], chain: Chain): TokenEvent[] {
  const movements = nftTransfers(logs, chain);
  return logs.flatMap((log): readonly TokenEvent[] => {
    const event = decodeErc20Transfer(log, chain) ?? decodeApproval(log);
    return event === null ? (movements.get(log) ?? []) : [event];
  });
}

function decodeErc20Transfer(log: MatchedLog, chain: Chain): TokenEvent | null {
  const parties = chain.erc20Exclusions.includes(log.address) ? null : transferParties(log);
  return parties === null ? null : { type: 'erc20Transfer', log, ...parties, value: decimalAt(log.data) };
}

function decodeApproval(log: MatchedLog): TokenEvent | null {
  const [topic0, first, second, id] = log.topics;
  if (topic0 !== APPROVAL_TOPIC && topic0 !== APPROVAL_FOR_ALL_TOPIC) return null;
  const owner = addressAt(first);
  const other = addressAt(second);
  if (owner === null || other === null) return null;
  if (topic0 === APPROVAL_TOPIC && id !== undefined)
    return log.data === '0x' ? { type: 'nftApproval', log, owner, approved: other, tokenId: decimalAt(id) } : null;
  if (id !== undefined || log.data.length !== WORD_LENGTH) return null;
  const value = decimalAt(log.data);
  return topic0 === APPROVAL_TOPIC
    ? { type: 'erc20Approval', log, owner, spender: other, value }
    : { type: 'approvalForAll', log, account: owner, operator: other, approved: value !== '0' };
}

function nftTransfers(logs: readonly MatchedLog[], chain: Chain): ReadonlyMap<MatchedLog, readonly TokenEvent[]> {
  const matched = new Map<Log, MatchedLog>(logs.map((log) => [wholeLog(log), log]));
  const events = new Map<MatchedLog, TokenEvent[]>();
  for (const movement of decodeNftMovements([...matched.keys()], chain).movements) {
    const standard = standardOf(movement.kind);
    const log = matched.get(movement.log);
    if (standard === null || log === undefined) continue;
    const { operator, from, to, tokenId, amount } = movement;
    const event: TokenEvent = { type: 'nftTransfer', log, standard, operator, from, to, tokenId, amount };
    const known = events.get(log);
    if (known === undefined) events.set(log, [event]);
    else known.push(event);
  }
  return events;
}

function standardOf(kind: number): TokenContractType | null {
  const { erc721, unindexed, erc1155Single, erc1155Batch } = MOVEMENT_KINDS;
  if (kind === erc721 || kind === unindexed) return 'ERC721';
  return kind === erc1155Single || kind === erc1155Batch ? 'ERC1155' : null;
}

/** The decoders of NFT events take logs of whole blocks; they read none of what is not known here. */
function wholeLog(log: MatchedLog): Log {
  return { ...log, blockNumber: 0, blockHash: log.transactionHash, blockTimestamp: null };
}
