import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { type Indexed, type IndexedColumns, readIndexed } from '../indexed-blocks/indexed.ts';
import type { Direction } from './schema.ts';
import { type WalletTransfersQuery, walletTransfersStatement } from './wallet-transfers-statement.ts';

export type { TransferKey, WalletTransfersQuery } from './wallet-transfers-statement.ts';

/** One transfer as a wallet's page shows it. Addresses and hashes are lower-case hexadecimal text. */
export interface WalletTransfer {
  readonly blockNumber: number;
  readonly transactionIndex: number;
  readonly logIndex: number;
  /** The wallet's part in it. */
  readonly direction: Direction;
  readonly counterparty: Address;
  readonly value: string;
  readonly transactionHash: string;
  readonly blockHash: string;
  readonly blockTimestamp: Date;
  readonly token: {
    readonly address: Address;
    readonly name: string | null;
    readonly symbol: string | null;
    readonly decimals: number | null;
    readonly logo: string | null;
    readonly verified: boolean;
    readonly possibleSpam: boolean;
  };
  readonly counterpartyLabel: AddressLabel;
}

export interface AddressLabel {
  readonly label: string | null;
  readonly entity: string | null;
  readonly entityLogo: string | null;
}

export interface WalletTransfersPage {
  /** At most `query.limit`. */
  readonly transfers: readonly WalletTransfer[];
  /** Whether another row follows. */
  readonly hasNext: boolean;
  readonly walletLabel: AddressLabel;
  readonly indexed: Indexed;
  /** The newest block that the answer could contain: what a cursor pins as its upper bound. Null in an empty database. */
  readonly newestBlock: number | null;
  /** Rows of the whole answer, when asked for and no more than {@link COUNT_MAX}; else null. */
  readonly count: number | null;
}

/** An exact total is counted up to here. */
export const COUNT_MAX = 10_000;

/** A page of a wallet's ERC-20 transfers with everything that is shown beside them, in one statement. */
export async function getWalletTokenTransfers(
  database: Database,
  chain: Chain,
  query: WalletTransfersQuery,
): Promise<WalletTransfersPage> {
  const statement = walletTransfersStatement(chain, query, COUNT_MAX);
  const rows = await database.query<PageRow>(statement.text, statement.values);
  const [first] = rows;
  const transfers = rows.filter((row): row is TransferPageRow => row.block_number !== null);
  return {
    transfers: transfers.slice(0, query.limit).map(toTransfer),
    hasNext: transfers.length > query.limit,
    walletLabel: {
      label: first?.own_label ?? null,
      entity: first?.own_entity ?? null,
      entityLogo: first?.own_entity_logo ?? null,
    },
    indexed: readIndexed(first),
    newestBlock: first?.newest ?? null,
    count: first !== undefined && first.total !== null && first.total <= COUNT_MAX ? first.total : null,
  };
}

/** The statement gives one row without a transfer where the page is empty. */
type PageRow = CommonColumns & (TransferColumns | { block_number: null });
type TransferPageRow = CommonColumns & TransferColumns;

interface CommonColumns extends IndexedColumns {
  newest: number | null;
  total: number | null;
  own_label: string | null;
  own_entity: string | null;
  own_entity_logo: string | null;
}

interface TransferColumns {
  block_number: number;
  transaction_index: number;
  log_index: number;
  direction: Direction;
  token: Address;
  counterparty: Address;
  value: string;
  transaction_hash: string;
  block_hash: string;
  block_timestamp: Date;
  name: string | null;
  symbol: string | null;
  decimals: number | null;
  logo: string | null;
  verified: boolean | null;
  possible_spam: boolean | null;
  label: string | null;
  entity: string | null;
  entity_logo: string | null;
}

function toTransfer(row: TransferColumns): WalletTransfer {
  return {
    blockNumber: row.block_number,
    transactionIndex: row.transaction_index,
    logIndex: row.log_index,
    direction: row.direction,
    counterparty: row.counterparty,
    value: row.value,
    transactionHash: row.transaction_hash,
    blockHash: row.block_hash,
    blockTimestamp: row.block_timestamp,
    token: {
      address: row.token,
      name: row.name,
      symbol: row.symbol,
      decimals: row.decimals,
      logo: row.logo,
      verified: row.verified ?? false,
      possibleSpam: row.possible_spam ?? false,
    },
    counterpartyLabel: { label: row.label, entity: row.entity, entityLogo: row.entity_logo },
  };
}
