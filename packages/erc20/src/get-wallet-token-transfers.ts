import { type Indexed, type IndexedColumns, readIndexed, unpack } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { Direction } from './schema.ts';
import { type WalletTransfersQuery, walletTransfersStatement } from './wallet-transfers-statement.ts';

export type { TransferKey, WalletTransfersQuery } from './wallet-transfers-statement.ts';

/** One transfer of a wallet's page. Addresses and hashes are lower-case hexadecimal text. */
export interface TransferRow extends TokenColumns {
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
  /** Of the counterparty. */
  readonly label: AddressLabel;
}

/** What is known of the token. */
interface TokenColumns {
  readonly name: string | null;
  readonly symbol: string | null;
  readonly decimals: number | null;
  readonly logo: string | null;
  readonly verified: boolean | null;
  readonly possible_spam: boolean | null;
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
  const labels = new Map(
    first?.labels?.map(([address, label, entity, entityLogo]) => [address, { label, entity, entityLogo }]),
  );
  const labelOf = (address: Address): AddressLabel => labels.get(address) ?? NO_LABEL;
  const transfers = rows.flatMap((row) => (row.packed === null ? [] : [transferOf(row, row.packed, labelOf)]));
  return {
    transfers: transfers.slice(0, query.limit),
    hasNext: transfers.length > query.limit,
    walletLabel: labelOf(query.address),
    indexed: readIndexed(first),
    newestBlock: first?.newest ?? null,
    count: first !== undefined && first.total !== null && first.total <= COUNT_MAX ? first.total : null,
  };
}

const NO_LABEL: AddressLabel = { label: null, entity: null, entityLogo: null };

/** The statement gives one row without a transfer where the page is empty. What is common to all rows is in the first alone. */
interface PageRow extends IndexedColumns, TokenColumns {
  readonly newest: number | null;
  readonly total: number | null;
  readonly labels: readonly (readonly [Address, string | null, string | null, string | null])[] | null;
  readonly packed: string | null;
}

function transferOf(row: TokenColumns, text: string, labelOf: (address: Address) => AddressLabel): TransferRow {
  const [
    block = '',
    transaction,
    log,
    direction,
    value = '',
    timestamp = '',
    token,
    counterparty,
    hash = '',
    blockHash = '',
  ] = unpack(text);
  return {
    block_number: Number(block),
    transaction_index: Number(transaction),
    log_index: Number(log),
    direction: Number(direction) as Direction,
    token: token as Address,
    counterparty: counterparty as Address,
    value,
    transaction_hash: hash,
    block_hash: blockHash,
    block_timestamp: timestamp,
    name: row.name,
    symbol: row.symbol,
    decimals: row.decimals,
    logo: row.logo,
    verified: row.verified,
    possible_spam: row.possible_spam,
    label: labelOf(counterparty as Address),
  };
}
