/** Counts the rows of a wallet between two blocks, in one statement for any number of such spans. */
import type { Chain } from '@chainstead/chains';
import type { Address, BlockRange } from '@chainstead/core';
import {
  addressBytes,
  type Bind,
  type Database,
  expectedTrueOld,
  plainText,
  type Statement,
  whereOld,
} from '@chainstead/db';
import { addressKey } from '@chainstead/db/address-key';
import { HAS_ROLE, IN_HISTORY } from '@chainstead/transactions';

/** The counts of a wallet's rows. */
export interface WalletCounts {
  /** Transactions that it sent. */
  readonly sent: number;
  /** Transactions of its history, with any part of it. */
  readonly involved: number;
  /** Logs that moved NFTs to it or from it, each once. */
  readonly nftTransfers: number;
  /** Logs that moved ERC-20 tokens to it or from it, each once. */
  readonly tokenTransfers: number;
}

/** A range of an index with rows of a wallet. */
interface Source {
  readonly table: string;
  readonly key: string;
  readonly account: string;
  /** SQL of a row's contribution, 0 or 1. @default 0 */
  readonly sent?: string;
  readonly nft?: string;
  readonly token?: string;
  /** SQL; rows that don't match belong to another source. @default all rows count */
  readonly also?: string;
}

/** Rows without a role have numbers below zero. */
const SENT = `CASE WHEN ${plainText(HAS_ROLE)} THEN roles & 1 ELSE 0 END`;

const SOURCES: readonly Source[] = [
  { table: 'account_transactions', key: 'account_key', account: 'account', sent: SENT, also: plainText(IN_HISTORY) },
  { table: 'internal_transfers', key: 'account_key', account: 'account' },
  { table: 'erc20_transfer_sides', key: 'account_key', account: 'account', token: '1' },
  // A log that moved several tokens has a row for each, and one wallet on each side.
  {
    table: 'nft_transfers',
    key: 'address_key(from_address)',
    account: 'from_address',
    nft: '(item = 0)::int',
  },
  {
    table: 'nft_transfers',
    key: 'address_key(to_address)',
    account: 'to_address',
    nft: '(item = 0)::int',
    also: 'from_address <> to_address',
  },
  { table: 'erc20_approvals', key: 'owner_key', account: 'owner' },
];

/** The counts of spans, added up. */
export interface CountedRows {
  readonly counts: WalletCounts;
  /** Whether a table has more rows than the limit: then the counts are not usable. */
  readonly isOver: boolean;
}

/** @param most maximum rows of a table in one of the spans; more are not counted */
export async function countRows(
  database: Pick<Database, 'query'>,
  chain: Chain,
  wallet: Address,
  spans: readonly BlockRange[],
  most: number,
): Promise<CountedRows> {
  if (spans.length === 0) return { counts: NOTHING, isOver: false };
  const { text, values } = countStatement(chain, wallet, spans, most);
  const [row] = await database.query<CountRow>(text, values);
  if (row === undefined) throw new RangeError('The statement gives one row');
  return {
    counts: { sent: row.sent, involved: row.involved, nftTransfers: row.nfts, tokenTransfers: row.tokens },
    isOver: row.most_rows > most,
  };
}

/** Adds the counts of two disjoint spans. */
export function plus(one: WalletCounts, other: WalletCounts): WalletCounts {
  return {
    sent: one.sent + other.sent,
    involved: one.involved + other.involved,
    nftTransfers: one.nftTransfers + other.nftTransfers,
    tokenTransfers: one.tokenTransfers + other.tokenTransfers,
  };
}

const NOTHING: WalletCounts = { sent: 0, involved: 0, nftTransfers: 0, tokenTransfers: 0 };

interface CountRow {
  readonly sent: number;
  readonly involved: number;
  readonly nfts: number;
  readonly tokens: number;
  readonly most_rows: number;
}

/** A part is a source in a span. Each stops one row above its limit. */
function countStatement(chain: Chain, wallet: Address, spans: readonly BlockRange[], most: number): Statement {
  const parameters = bindWallet(chain, wallet);
  const limit = parameters.bind(most + 1);
  const parts = spans.flatMap((span) =>
    SOURCES.map(
      (
        source,
      ) => `(SELECT block_number, transaction_index, ${source.sent ?? '0'} AS sent, ${source.nft ?? '0'} AS nft, ${source.token ?? '0'} AS token
        FROM ${source.table} ${whereOld(rowsOf(source, span, parameters))} ORDER BY block_number LIMIT ${limit})`,
    ),
  );
  const named = parts.map((part, place) => `SELECT ${place} AS part, rows.* FROM ${part} AS rows`);
  return {
    text: `WITH rows AS MATERIALIZED (${named.join('\n    UNION ALL ')})
SELECT coalesce(sum(sent), 0)::int8 AS sent, count(*) AS involved, coalesce(sum(nfts), 0)::int8 AS nfts, coalesce(sum(tokens), 0)::int8 AS tokens,
  (SELECT coalesce(max(held), 0) FROM (SELECT count(*) AS held FROM rows GROUP BY part) AS parts) AS most_rows
FROM (SELECT max(sent) AS sent, sum(nft) AS nfts, sum(token) AS tokens FROM rows GROUP BY block_number, transaction_index) AS places`,
    values: parameters.values,
  };
}

/** Returns the block of the row after that many rows of a span, in block order; null: it has no more. */
export async function blockBeyond(
  database: Pick<Database, 'query'>,
  chain: Chain,
  wallet: Address,
  span: BlockRange,
  rows: number,
): Promise<number | null> {
  const parameters = bindWallet(chain, wallet);
  const count = parameters.bind(rows);
  const parts = SOURCES.map(
    (source) => `(SELECT block_number FROM ${source.table} ${whereOld(rowsOf(source, span, parameters))}
      ORDER BY block_number LIMIT ${count}::bigint + 1)`,
  );
  const [row] = await database.query<{ block: number }>(
    `SELECT block_number::int8 AS block FROM (${parts.join(' UNION ALL ')}) AS rows ORDER BY block_number OFFSET ${count} LIMIT 1`,
    parameters.values,
  );
  return row?.block ?? null;
}

interface Parameters {
  readonly values: readonly unknown[];
  readonly bind: Bind;
  readonly key: string;
  readonly wallet: string;
  readonly chainId: string;
}

function bindWallet(chain: Chain, address: Address): Parameters {
  const values: unknown[] = [];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const [key, wallet] = [`${bind(addressKey(address))}::bigint`, `${bind(addressBytes(address))}::bytea`];
  return { values, bind, key, wallet, chainId: bind(chain.id) };
}

function rowsOf(
  { key, account, also }: Source,
  { from, to }: BlockRange,
  { bind, ...parameters }: Parameters,
): readonly string[] {
  return [
    `${key} = ${parameters.key}`,
    expectedTrueOld(`${account} = ${parameters.wallet}`),
    `chain_id = ${parameters.chainId}`,
    `block_number BETWEEN ${bind(from)}::int AND ${bind(to)}::int`,
    ...(also === undefined ? [] : [also]),
  ];
}
