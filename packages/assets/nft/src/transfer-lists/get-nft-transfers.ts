import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { type PackedTexts, type RowOf, readPackedPage } from '@chainstead/db/packed-rows';
import {
  type AddressLabel,
  type Indexed,
  type IndexedColumns,
  type LabelEntry,
  type PageBlock,
  readBlocks,
  readConsistentPage,
  readIndexed,
  readLabels,
} from '@chainstead/pages';
import {
  NFT_TRANSFERS,
  type NftTransferKey,
  type NftTransfersQuery,
  nftTransfersStatement,
} from './nft-transfers-statement.ts';

export type NftTransferItem = RowOf<typeof NFT_TRANSFERS>;

export interface ShownContract {
  readonly contractType: 'ERC721' | 'ERC1155' | null;
  readonly name: string | null;
  readonly symbol: string | null;
  readonly possibleSpam: boolean;
  readonly verified: boolean;
}

export interface NftTransfersPage {
  /** May be fewer than `query.limit` although more follow, for some contracts of a busy wallet. */
  readonly transfers: readonly NftTransferItem[];
  readonly next: NftTransferKey | null;
  blockOf(transfer: NftTransferItem): PageBlock;
  contractOf(token: Address): ShownContract;
  labelOf(address: Address): AddressLabel;
  readonly indexed: Indexed;
  readonly newestBlock: number;
}

/**
 * @param scanMax transfers of a wallet to search for those of some contracts
 * @throws {InconsistentPageError} if a transfer repeatedly comes without its block
 */
export async function getNftTransfers(
  database: ReadDatabase,
  chain: Chain,
  query: NftTransfersQuery,
  { scanMax, isSpread = false }: { readonly scanMax?: number; readonly isSpread?: boolean },
): Promise<NftTransfersPage> {
  return readConsistentPage(async () => {
    const { rows, page } = await readPackedPage<NftTransferItem, TransfersPageColumns>(
      database,
      NFT_TRANSFERS,
      (select) => nftTransfersStatement(chain, query, { select, isSpread, ...(scanMax !== undefined && { scanMax }) }),
    );
    const indexed = readIndexed(page);
    const contracts = new Map<string, ShownContract>();
    for (const [address, name, symbol, contractType, possibleSpam, verified] of page.contracts ?? [])
      contracts.set(`0x${address}`, { name, symbol, contractType, possibleSpam, verified });
    const transfers = rows.slice(0, query.limit);
    return {
      transfers,
      next: nextKey(query, rows, page.stop),
      blockOf: readBlocks(page.blocks, rows),
      contractOf: (token) => contracts.get(token) ?? UNKNOWN_CONTRACT,
      labelOf: readLabels(page.labels),
      indexed,
      newestBlock: Math.max(indexed.toBlock ?? 0, ...transfers.map((row) => row.block_number)),
    };
  });
}

interface TransfersPageColumns extends IndexedColumns, PackedTexts {
  /** Block, transaction, log, item. */
  readonly stop: readonly [number, number, number, number] | null;
  readonly contracts: readonly ContractEntry[] | null;
  readonly blocks: string | null;
  readonly labels: readonly LabelEntry[] | null;
}

/** Hexadecimal digits, name, symbol, contract type, whether spam, whether verified. */
type ContractEntry = readonly [string, string | null, string | null, 'ERC721' | 'ERC1155' | null, boolean, boolean];

function nextKey(
  { limit }: NftTransfersQuery,
  rows: readonly NftTransferItem[],
  stop: TransfersPageColumns['stop'],
): NftTransferKey | null {
  const last = rows[limit - 1];
  const end =
    rows.length > limit && last !== undefined
      ? ([last.block_number, last.transaction_index, last.log_index, last.item] as const)
      : stop;
  if (end === null) return null;
  const [blockNumber, transactionIndex, logIndex, item] = end;
  return { blockNumber, transactionIndex, logIndex, item };
}

const UNKNOWN_CONTRACT = { contractType: null, name: null, symbol: null, possibleSpam: false, verified: false };
