import {
  type AddressLabel,
  type Indexed,
  type IndexedColumns,
  type LabelEntry,
  type PageBlock,
  readBlocks,
  readIndexed,
  readLabels,
  readUntorn,
} from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { type PackedTexts, type RowOf, readPackedPage } from '@chainstead/db/packed-rows';
import {
  NFT_TRANSFERS,
  type NftTransferKey,
  type NftTransfersQuery,
  nftTransfersStatement,
} from './nft-transfers-statement.ts';

/** One transfer of a page. Addresses and hashes are lower-case hexadecimal text, amounts and ids decimal digits. */
export type NftTransferItem = RowOf<typeof NFT_TRANSFERS>;

/** What is known of a contract. */
export interface ShownContract {
  /** Null while it is not known, as texts. */
  readonly contractType: 'ERC721' | 'ERC1155' | null;
  readonly name: string | null;
  readonly symbol: string | null;
  readonly possibleSpam: boolean;
  readonly verified: boolean;
}

export interface NftTransfersPage {
  /** At most `query.limit`; fewer, though more follow, where only some contracts of a busy wallet are asked for. */
  readonly transfers: readonly NftTransferItem[];
  /** Where the next page begins; null where none follows. */
  readonly next: NftTransferKey | null;
  blockOf(transfer: NftTransferItem): PageBlock;
  contractOf(token: Address): ShownContract;
  labelOf(address: Address): AddressLabel;
  /** Of the wallet or the contract: by the chain's own coverage, and by what was read of its history alone. */
  readonly indexed: Indexed;
  /** The newest block that the answer could contain: what a cursor pins as its upper bound. */
  readonly newestBlock: number;
}

/**
 * A page of NFT transfers with everything that is shown beside them, in one statement.
 * @param scanMax how many transfers of a wallet are looked through for those of some contracts
 * @param isSpread whether tables are distributed
 * @throws {TornPageError} when a transfer comes without its block again and again
 */
export async function getNftTransfers(
  database: ReadDatabase,
  chain: Chain,
  query: NftTransfersQuery,
  { scanMax, isSpread = false }: { readonly scanMax?: number; readonly isSpread?: boolean },
): Promise<NftTransfersPage> {
  return readUntorn(async () => {
    const read = await readPackedPage<NftTransferItem, PageRow>(database, NFT_TRANSFERS, (select) =>
      nftTransfersStatement(chain, query, { select, isSpread, ...(scanMax !== undefined && { scanMax }) }),
    );
    return pageOf(query, read);
  });
}

function pageOf(
  query: NftTransfersQuery,
  { rows, page }: { readonly rows: readonly NftTransferItem[]; readonly page: PageRow },
): NftTransfersPage {
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
}

/** The only row of the statement. */
interface PageRow extends IndexedColumns, PackedTexts {
  /** Block, transaction, log, item. */
  readonly stop: readonly [number, number, number, number] | null;
  readonly contracts: readonly ContractEntry[] | null;
  /** Packed: `blocksOf`. */
  readonly blocks: string | null;
  readonly labels: readonly LabelEntry[] | null;
}

/** The address as hexadecimal digits, then name, symbol, contract type, whether spam, whether verified. */
type ContractEntry = readonly [string, string | null, string | null, 'ERC721' | 'ERC1155' | null, boolean, boolean];

function nextKey(
  { limit }: NftTransfersQuery,
  rows: readonly NftTransferItem[],
  stop: PageRow['stop'],
): NftTransferKey | null {
  const last = rows[limit - 1];
  if (rows.length > limit && last !== undefined)
    return {
      blockNumber: last.block_number,
      transactionIndex: last.transaction_index,
      logIndex: last.log_index,
      item: last.item,
    };
  if (stop === null) return null;
  const [blockNumber, transactionIndex, logIndex, item] = stop;
  return { blockNumber, transactionIndex, logIndex, item };
}

const UNKNOWN_CONTRACT: ShownContract = {
  contractType: null,
  name: null,
  symbol: null,
  possibleSpam: false,
  verified: false,
};
