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
import type { TokenContractType } from '../webhook.ts';

/** A token event of a log. Amounts and ids are decimal digits. */
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
 * Returns the token transfers and approvals of these logs in order; a TransferBatch yields one per id. The topic count
 * separates ERC-20 from ERC-721. Excludes ERC-2309 (one log for up to millions of tokens), CryptoPunks and malformed
 * events: these remain raw logs.
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

/** Completes a log for the NFT decoders, which expect block logs but don't read the placeholder fields. */
function wholeLog(log: MatchedLog): Log {
  return { ...log, blockNumber: 0, blockHash: log.transactionHash, blockTimestamp: null };
}
