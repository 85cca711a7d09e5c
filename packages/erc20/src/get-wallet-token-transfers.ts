import { type Indexed, type IndexedColumns, readIndexed } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { Direction } from './schema.ts';
import { type WalletTransfersQuery, walletTransfersStatement } from './wallet-transfers-statement.ts';

export type { TransferKey, WalletTransfersQuery } from './wallet-transfers-statement.ts';

/** One transfer as the database gives it for a wallet's page. Addresses and hashes are lower-case hexadecimal text. */
export interface TransferRow {
  readonly block_number: number;
  readonly transaction_index: number;
  readonly log_index: number;
  /** The wallet's part in it. */
  readonly direction: Direction;
  readonly token: Address;
  readonly counterparty: Address;
  readonly value: string;
  readonly transaction_hash: string;
  readonly block_hash: string;
  /** For `showMoment`. */
  readonly block_timestamp: string;
  /** Of the token, as the five that follow; null while nothing is known of it. */
  readonly name: string | null;
  readonly symbol: string | null;
  readonly decimals: number | null;
  readonly logo: string | null;
  readonly verified: boolean | null;
  readonly possible_spam: boolean | null;
  /** Of the counterparty. */
  readonly label: string | null;
  readonly entity: string | null;
  readonly entity_logo: string | null;
}

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
  const first = rows.find(({ complete }) => complete !== null);
  const transfers = rows.filter((row): row is CommonColumns & TransferRow => row.block_number !== null);
  return {
    transfers: transfers.slice(0, query.limit),
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

/** The statement gives one row without a transfer where the page is empty. What is common to all rows is in the first alone. */
type PageRow = CommonColumns & (TransferRow | { block_number: null });

interface CommonColumns extends IndexedColumns {
  newest: number | null;
  total: number | null;
  own_label: string | null;
  own_entity: string | null;
  own_entity_logo: string | null;
}
