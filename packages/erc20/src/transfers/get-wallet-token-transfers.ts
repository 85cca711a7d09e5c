import { type Indexed, type IndexedColumns, readIndexed, type TablesInUse } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { type PackedTexts, type RowOf, readPackedPage } from '@chainstead/db/packed-rows';
import {
  BLOCKS,
  type NftRows,
  TRANSFERS,
  type WalletTransfersQuery,
  walletTransfersStatement,
} from './wallet-transfers-statement.ts';

export type { TransferKey, WalletTransfersQuery } from './wallet-transfers-statement.ts';

/** One transfer of a wallet's page. Addresses and hashes are lower-case hexadecimal text. */
export type TransferRow = RowOf<typeof TRANSFERS>;

/** What is known of a token. */
export interface TokenMetadata {
  readonly name: string | null;
  readonly symbol: string | null;
  readonly decimals: number | null;
  readonly logo: string | null;
  readonly verified: boolean | null;
  readonly possibleSpam: boolean | null;
}

/** A block that transfers are in. */
export type TransferBlock = RowOf<typeof BLOCKS>;

export interface AddressLabel {
  readonly label: string | null;
  readonly entity: string | null;
  readonly entityLogo: string | null;
}

export interface WalletTransfersPage {
  /** At most `query.limit`. */
  readonly transfers: readonly TransferRow[];
  /** Whether another row follows. */
  readonly hasNext: boolean;
  /** @throws RangeError when the block of a transfer is not in the database, which writes both at once */
  blockOf(transfer: TransferRow): TransferBlock;
  tokenOf(token: Address): TokenMetadata;
  labelOf(address: Address): AddressLabel;
  readonly indexed: Indexed;
  /** The newest block that the answer could contain: what a cursor pins as its upper bound. Null in an empty database. */
  readonly newestBlock: number | null;
  /** Rows of the whole answer, when asked for and no more than {@link COUNT_MAX}; else null. */
  readonly count: number | null;
}

/** An exact total is counted up to here. */
export const COUNT_MAX = 10_000;

/**
 * A page of a wallet's ERC-20 transfers with everything that is shown beside them.
 * @param tables that hold rows (`createTablesInUse`)
 */
export async function getWalletTokenTransfers(
  database: Database,
  chain: Chain,
  query: WalletTransfersQuery,
  tables: TablesInUse,
): Promise<WalletTransfersPage> {
  const read = (nfts: NftRows) =>
    readPackedPage<TransferRow, PageRow>(database, TRANSFERS, (select) =>
      walletTransfersStatement(chain, query, { countMax: COUNT_MAX, nfts, tables, select }),
    );
  const found = await read('shown');
  const hasNfts = found.page.tokens?.some(([, , , , , , , isNft]) => isNft === true) === true;
  return pageOf(query, hasNfts ? await read('left out') : found);
}

/** The only row of the statement. */
interface PageRow extends IndexedColumns, PackedTexts {
  readonly newest: number | null;
  readonly total: number | null;
  /** Packed {@link BLOCKS}. */
  readonly blocks: string | null;
  readonly tokens: readonly TokenEntry[] | null;
  readonly labels: readonly LabelEntry[] | null;
}

/** The address as hexadecimal digits, then name, symbol, decimals, logo, whether verified, whether spam, whether of NFTs. */
type TokenEntry = readonly [
  string,
  string | null,
  string | null,
  number | null,
  string | null,
  boolean | null,
  boolean | null,
  boolean | null,
];

/** The address as hexadecimal digits, then label, entity, the entity's logo. */
type LabelEntry = readonly [string, string | null, string | null, string | null];

function pageOf(
  query: WalletTransfersQuery,
  { rows: transfers, page: row }: { readonly rows: readonly TransferRow[]; readonly page: PageRow },
): WalletTransfersPage {
  const found = BLOCKS.read({ packed_bytes: row.blocks, packed_texts: null, packed_json: null }) ?? [];
  const blocks = new Map(found.map((block) => [block.block_number, block]));
  const tokens = new Map<string, TokenMetadata>();
  for (const [address, name, symbol, decimals, logo, verified, possibleSpam] of row.tokens ?? [])
    tokens.set(`0x${address}`, { name, symbol, decimals, logo, verified, possibleSpam });
  const labels = new Map<string, AddressLabel>();
  for (const [address, label, entity, entityLogo] of row.labels?.toReversed() ?? [])
    labels.set(`0x${address}`, { label, entity, entityLogo });
  return {
    transfers: transfers.slice(0, query.limit),
    hasNext: transfers.length > query.limit,
    blockOf({ block_number: number }) {
      const block = blocks.get(number);
      if (block === undefined) throw new RangeError(`Block ${number} of a transfer is not in the database`);
      return block;
    },
    tokenOf: (token) => tokens.get(token) ?? UNKNOWN_TOKEN,
    labelOf: (address) => labels.get(address) ?? NO_LABEL,
    indexed: readIndexed(row),
    newestBlock: row.newest,
    count: row.total !== null && row.total <= COUNT_MAX ? row.total : null,
  };
}

const UNKNOWN_TOKEN: TokenMetadata = {
  name: null,
  symbol: null,
  decimals: null,
  logo: null,
  verified: null,
  possibleSpam: null,
};
const NO_LABEL: AddressLabel = { label: null, entity: null, entityLogo: null };
