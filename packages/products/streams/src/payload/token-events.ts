import type { Chain } from '@chainstead/chains';
import type { Address, Log } from '@chainstead/core';
import {
  type Approval,
  decodeApproval,
  decodeErc20Transfer,
  decodeNftTransfers,
  type Erc20Transfer,
  NFT_TRANSFER_KINDS,
} from '@chainstead/events/token-events';
import type { MatchedLog } from '../matching/match.ts';
import type { TokenContractType } from '../webhook.ts';

/** Amounts and ids are decimal digits. */
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

/** A TransferBatch yields one per id. Topic count separates ERC-20 from ERC-721. No ERC-2309. */
export function decodeTokenEvents(logs: readonly MatchedLog[], chain: Chain): TokenEvent[] {
  const transfers = nftTransfers(logs, chain);
  return logs.flatMap((log): readonly TokenEvent[] => {
    const transfer = decodeErc20Transfer(log, chain);
    if (transfer !== null) return [{ type: 'erc20Transfer', log, ...transfer }];
    const approval = decodeApproval(log);
    return approval === null ? (transfers.get(log) ?? []) : [{ log, ...approval }];
  });
}

const { erc721, unindexed, erc1155Single, erc1155Batch } = NFT_TRANSFER_KINDS;
const STANDARDS: ReadonlyMap<number, TokenContractType> = new Map<number, TokenContractType>([
  [erc721, 'ERC721'],
  [unindexed, 'ERC721'],
  [erc1155Single, 'ERC1155'],
  [erc1155Batch, 'ERC1155'],
]);

function nftTransfers(logs: readonly MatchedLog[], chain: Chain): ReadonlyMap<MatchedLog, readonly TokenEvent[]> {
  const matched = new Map<Log, MatchedLog>(
    logs.map((log) => [{ ...log, blockNumber: 0, blockHash: log.transactionHash, blockTimestamp: null }, log]),
  );
  const { transfers } = decodeNftTransfers([...matched.keys()], chain);
  const events = transfers.flatMap(({ kind, log: whole, operator, from, to, tokenId, amount }) => {
    const [standard, log] = [STANDARDS.get(kind), matched.get(whole)];
    if (standard === undefined || log === undefined) return [];
    return [{ type: 'nftTransfer', log, standard, operator, from, to, tokenId, amount } as const];
  });
  return Map.groupBy(events, ({ log }) => log);
}
