import type { Chain } from '@chainstead/chains';
import type { Address, Log } from '@chainstead/core';
import {
  type Approval,
  decodeApproval,
  decodeErc20Transfer,
  decodeNftTransfers,
  type Erc20Transfer,
  NFT_TRANSFER_KINDS,
} from '@chainstead/token-events';
import type { MatchedLog } from '../matching/match.ts';
import type { TokenContractType } from './webhook.ts';

/** What a log says of tokens. Amounts and ids are decimal digits. */
export type TokenEvent = { readonly log: MatchedLog } & (
  | ({ readonly type: 'erc20Transfer' } & Erc20Transfer)
  | Approval
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

/**
 * Transfers and approvals of tokens in these logs, in their order; a TransferBatch gives one for each id. ERC-20 and
 * ERC-721 are told apart by the number of topics. ERC-2309 (one log, up to millions of tokens) and CryptoPunks are not
 * among them, nor is what does not have its event's shape: those stay raw logs.
 */
export function decodeTokenEvents(logs: readonly MatchedLog[], chain: Chain): TokenEvent[] {
  const transfers = nftTransfers(logs, chain);
  return logs.flatMap((log): readonly TokenEvent[] => {
    const event = erc20Transfer(log, chain) ?? approval(log);
    return event === null ? (transfers.get(log) ?? []) : [event];
  });
}

function erc20Transfer(log: MatchedLog, chain: Chain): TokenEvent | null {
  const transfer = decodeErc20Transfer(log, chain);
  return transfer === null ? null : { type: 'erc20Transfer', log, ...transfer };
}

function approval(log: MatchedLog): TokenEvent | null {
  const approved = decodeApproval(log);
  return approved === null ? null : { log, ...approved };
}

function nftTransfers(logs: readonly MatchedLog[], chain: Chain): ReadonlyMap<MatchedLog, readonly TokenEvent[]> {
  const matched = new Map<Log, MatchedLog>(logs.map((log) => [wholeLog(log), log]));
  const events = new Map<MatchedLog, TokenEvent[]>();
  for (const transfer of decodeNftTransfers([...matched.keys()], chain).transfers) {
    const standard = standardOf(transfer.kind);
    const log = matched.get(transfer.log);
    if (standard === null || log === undefined) continue;
    const { operator, from, to, tokenId, amount } = transfer;
    const event: TokenEvent = { type: 'nftTransfer', log, standard, operator, from, to, tokenId, amount };
    const known = events.get(log);
    if (known === undefined) events.set(log, [event]);
    else known.push(event);
  }
  return events;
}

function standardOf(kind: number): TokenContractType | null {
  const { erc721, unindexed, erc1155Single, erc1155Batch } = NFT_TRANSFER_KINDS;
  if (kind === erc721 || kind === unindexed) return 'ERC721';
  return kind === erc1155Single || kind === erc1155Batch ? 'ERC1155' : null;
}

/** The decoders of NFT events take logs of whole blocks; they read none of what is not known here. */
function wholeLog(log: MatchedLog): Log {
  return { ...log, blockNumber: 0, blockHash: log.transactionHash, blockTimestamp: null };
}
