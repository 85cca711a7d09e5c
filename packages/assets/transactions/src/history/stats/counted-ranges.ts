import type { Chain } from '@chainstead/chains';
import type { Address, BlockRange } from '@chainstead/core';
import { addressBytes, type Database, joinSql, rawSql, type Sql, sql, where } from '@chainstead/db';
import { erc20Approvals, erc20Transfers } from '@chainstead/erc20/requests';
import { nftTransfers } from '@chainstead/nft/requests';
import { walletCountsState } from '@chainstead/pages';
import { subjectProjectionsOf } from '@chainstead/sync';
import type { Dataset, SubjectProjection } from '@chainstead/sync/datasets';
import { internalTransfers } from '../../internal-transfers/dataset.ts';
import { HAS_ROLE } from '../../stored/account-transactions-page.ts';
import { accountTransactions } from '../../stored/datasets.ts';
import { NFT_FROM_OTHERS, rowsOfWallet, WALLET_TABLES, type WalletTable } from '../page/places-page.ts';

interface CountedRange extends BlockRange, WalletCounts {}

export const ALL_BLOCKS: BlockRange = { from: 0, to: 2_147_483_647 };

interface Following {
  readonly dataset: Dataset;
  readonly state: SubjectProjection;
}

/** They delete a wallet's spans when rows change. */
const FOLLOWINGS = [
  erc20Transfers as Dataset,
  erc20Approvals as Dataset,
  nftTransfers as Dataset,
  accountTransactions as Dataset,
  internalTransfers as Dataset,
].map((dataset): Following => {
  const name = walletCountsState(dataset.name);
  const following = subjectProjectionsOf([dataset]).find(({ state }) => state.name === name);
  if (following === undefined) throw new RangeError(`Nothing follows the rows of ${dataset.name}`);
  return following;
});

/** `all`: known to the chain's writer. `lacking`: those that don't follow the wallet yet. */
export async function readFollowings(
  database: Pick<Database, 'query'>,
  chain: Chain,
  wallet: Address,
): Promise<{ readonly all: readonly Following[]; readonly lacking: readonly Following[] }> {
  const rows = await database.query<{ state: string; isFollowed: boolean }>(
    sql`SELECT state, is_followed FROM (${standingsOf(chain, wallet)}) AS standing`,
  );
  const all = FOLLOWINGS.filter(({ state }) => rows.some((row) => row.state === state.name));
  return {
    all,
    lacking: all.filter(({ state }) => rows.some((row) => row.state === state.name && !row.isFollowed)),
  };
}

/** Known to the writer, or following before. Programs remove states that they don't know. */
function standingsOf({ id }: Chain, wallet: Address): Sql {
  const states = FOLLOWINGS.map(({ state }) => state.name);
  return sql`SELECT given.state, coalesce(known.version = 1 AND stored.built_to IS NULL AND NOT stored.is_stale, false) AS is_followed
  FROM unnest(${states}::text[]) AS given(state)
  LEFT JOIN projections AS known ON known.chain_id = ${id} AND known.state = given.state
  LEFT JOIN subject_projections AS stored ON stored.chain_id = ${id} AND stored.state = given.state AND stored.subject = ${addressBytes(wallet)}::bytea
  WHERE known.state IS NOT NULL OR stored.state IS NOT NULL`;
}

/** Ascending. None unless all changes of the wallet's rows are followed. */
export async function readCountedRanges(
  database: Pick<Database, 'query'>,
  chain: Chain,
  wallet: Address,
): Promise<readonly CountedRange[]> {
  return database.query<CountedRange>(
    sql`SELECT first_block AS "from", last_block AS "to", sent, involved, nft_transfers, token_transfers FROM wallet_counts
      WHERE wallet = ${addressBytes(wallet)} AND chain_id = ${chain.id}
        AND NOT EXISTS (SELECT FROM (${standingsOf(chain, wallet)}) AS standing WHERE NOT is_followed)
      ORDER BY first_block`,
  );
}

export async function saveCountedRange(
  database: Pick<Database, 'query'>,
  chain: Chain,
  wallet: Address,
  { from, to, sent, involved, nftTransfers: nfts, tokenTransfers: tokens }: CountedRange,
): Promise<void> {
  await database.query(
    sql`INSERT INTO wallet_counts (wallet, chain_id, first_block, last_block, sent, involved, nft_transfers, token_transfers)
     VALUES (${addressBytes(wallet)}, ${chain.id}, ${from}, ${to}, ${sent}, ${involved}, ${nfts}, ${tokens})`,
  );
}

export async function deleteCountedRanges(
  database: Pick<Database, 'query'>,
  chain: Chain,
  wallet: Address,
): Promise<void> {
  await database.query(
    sql`DELETE FROM wallet_counts WHERE wallet = ${addressBytes(wallet)} AND chain_id = ${chain.id}`,
  );
}

export interface WalletCounts {
  readonly sent: number;
  readonly involved: number;
  readonly nftTransfers: number;
  readonly tokenTransfers: number;
}

interface Source extends WalletTable {
  /** 0 or 1. @default 0 */
  readonly sent?: Sql;
  readonly nft?: Sql;
  readonly token?: Sql;
}

/** Rows without a role have numbers below zero. */
const SENT = sql`CASE WHEN ${HAS_ROLE} THEN roles & 1 ELSE 0 END`;

const SOURCES: readonly Source[] = [
  { ...WALLET_TABLES.account, sent: SENT },
  WALLET_TABLES.internal,
  { ...WALLET_TABLES.token, token: sql`1` },
  // A log that moved several tokens has a row for each, and one wallet on each side.
  { ...WALLET_TABLES.nftFrom, nft: sql`(item = 0)::int` },
  { ...NFT_FROM_OTHERS, nft: sql`(item = 0)::int` },
  WALLET_TABLES.approval,
];

/** @param most rows of a table in a span @returns `isOver`: exceeded, so counts are unusable */
export async function countRows(
  database: Pick<Database, 'query'>,
  chain: Chain,
  wallet: Address,
  spans: readonly BlockRange[],
  most: number,
): Promise<{ readonly counts: WalletCounts; readonly isOver: boolean }> {
  if (spans.length === 0) return { counts: NOTHING, isOver: false };
  const [row] = await database.query<WalletCounts & { readonly rowsMax: number }>(
    countStatement(chain, wallet, spans, most),
  );
  if (row === undefined) throw new RangeError('The statement gives one row');
  const { rowsMax, ...counts } = row;
  return { counts, isOver: rowsMax > most };
}

export function plus(a: WalletCounts, b: WalletCounts): WalletCounts {
  return {
    sent: a.sent + b.sent,
    involved: a.involved + b.involved,
    nftTransfers: a.nftTransfers + b.nftTransfers,
    tokenTransfers: a.tokenTransfers + b.tokenTransfers,
  };
}

const NOTHING: WalletCounts = { sent: 0, involved: 0, nftTransfers: 0, tokenTransfers: 0 };

function countStatement(chain: Chain, wallet: Address, spans: readonly BlockRange[], most: number): Sql {
  const limit = sql`${most + 1}`;
  const none = rawSql('0');
  const parts = spans.flatMap((span) =>
    SOURCES.map(
      (source) =>
        sql`(SELECT block_number, transaction_index, ${source.sent ?? none} AS sent, ${source.nft ?? none} AS nft, ${source.token ?? none} AS token
        FROM ${rowsIn(span, source, chain, wallet)} ORDER BY block_number LIMIT ${limit})`,
    ),
  );
  const named = parts.map((part, index) => sql`SELECT ${rawSql(index)} AS part, rows.* FROM ${part} AS rows`);
  return sql`WITH rows AS MATERIALIZED (${joinSql(named, '\n    UNION ALL ')})
SELECT coalesce(sum(sent), 0)::int8 AS sent, count(*) AS involved, coalesce(sum(nfts), 0)::int8 AS "nftTransfers", coalesce(sum(tokens), 0)::int8 AS "tokenTransfers",
  (SELECT coalesce(max(held), 0) FROM (SELECT count(*) AS held FROM rows GROUP BY part) AS parts) AS "rowsMax"
FROM (SELECT max(sent) AS sent, sum(nft) AS nfts, sum(token) AS tokens FROM rows GROUP BY block_number, transaction_index) AS places`;
}

/** Null: there are no more rows. */
export async function blockBeyond(
  database: Pick<Database, 'query'>,
  chain: Chain,
  wallet: Address,
  span: BlockRange,
  rows: number,
): Promise<number | null> {
  const count = sql`${rows}::bigint`;
  const parts = SOURCES.map(
    (source) =>
      sql`(SELECT block_number FROM ${rowsIn(span, source, chain, wallet)} ORDER BY block_number LIMIT ${count} + 1)`,
  );
  const [row] = await database.query<{ block: number }>(
    sql`SELECT block_number::int8 AS block FROM (${joinSql(parts, ' UNION ALL ')}) AS rows ORDER BY block_number OFFSET ${count} LIMIT 1`,
  );
  return row?.block ?? null;
}

function rowsIn({ from, to }: BlockRange, source: Source, { id }: Chain, wallet: Address): Sql {
  const { also = sql`true` } = source;
  const inSpan = sql`chain_id = ${id} AND block_number BETWEEN ${from}::int AND ${to}::int`;
  return sql`${rawSql(source.table)} ${where([...rowsOfWallet(source, wallet), inSpan, also])}`;
}
