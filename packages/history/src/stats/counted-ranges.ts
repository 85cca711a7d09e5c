/** Spans of blocks with stored counts of a wallet (`wallet_counts`). */

import type { Chain } from '@chainstead/chains';
import type { Address, BlockRange } from '@chainstead/core';
import { walletCountsState } from '@chainstead/data-api';
import { addressBytes, type Database, type Sql, sql } from '@chainstead/db';
import { erc20Approvals, erc20Transfers } from '@chainstead/erc20';
import { nftTransfers } from '@chainstead/nft';
import { type Dataset, type SubjectProjection, subjectProjectionsOf } from '@chainstead/sync';
import { accountTransactions, internalTransfers } from '@chainstead/transactions';
import type { WalletCounts } from './count-rows.ts';

export interface CountedRange extends BlockRange, WalletCounts {}

/** Heights of rows have four bytes. */
export const ALL_BLOCKS: BlockRange = { from: 0, to: 2_147_483_647 };

/** The states that delete a wallet's spans when rows of a dataset change. */
export interface Following {
  readonly dataset: Dataset;
  readonly state: SubjectProjection;
}

const FOLLOWINGS: readonly Following[] = [
  followingOf(erc20Transfers as Dataset),
  followingOf(erc20Approvals as Dataset),
  followingOf(nftTransfers as Dataset),
  followingOf(accountTransactions as Dataset),
  followingOf(internalTransfers as Dataset),
];

function followingOf(dataset: Dataset): Following {
  const name = walletCountsState(dataset.name);
  const following = subjectProjectionsOf([dataset]).find(({ state }) => state.name === name);
  if (following === undefined) throw new RangeError(`Nothing follows the rows of ${dataset.name}`);
  return following;
}

/**
 * Returns the states that follow changes of a wallet's rows: `all` that the chain's writer knows, and those of them
 * that don't follow the wallet yet.
 */
export async function readFollowings(
  database: Pick<Database, 'query'>,
  chain: Chain,
  wallet: Address,
): Promise<{ readonly all: readonly Following[]; readonly lacking: readonly Following[] }> {
  const rows = await database.query<{ state: string; is_followed: boolean }>(
    sql`SELECT state, is_followed FROM (${standingsOf(chain, wallet)}) AS standing`,
  );
  const all = FOLLOWINGS.filter(({ state }) => rows.some((row) => row.state === state.name));
  return { all, lacking: all.filter(({ state }) => rows.some((row) => row.state === state.name && !row.is_followed)) };
}

/**
 * The relevant states: those that the chain's writer knows, and those that followed the wallet before. A program that
 * does not know one of them removes it when it writes rows: the wallet is not followed from then on.
 */
function standingsOf({ id }: Chain, wallet: Address): Sql {
  const states = FOLLOWINGS.map(({ state }) => state.name);
  return sql`SELECT given.state, coalesce(known.version = 1 AND stored.built_to IS NULL AND NOT stored.is_stale, false) AS is_followed
  FROM unnest(${states}::text[]) AS given(state)
  LEFT JOIN projections AS known ON known.chain_id = ${id} AND known.state = given.state
  LEFT JOIN subject_projections AS stored ON stored.chain_id = ${id} AND stored.state = given.state AND stored.subject = ${addressBytes(wallet)}::bytea
  WHERE known.state IS NOT NULL OR stored.state IS NOT NULL`;
}

/** Returns the valid spans: none unless all changes of the wallet's rows are followed. Ascending. */
export async function readCountedRanges(
  database: Pick<Database, 'query'>,
  chain: Chain,
  wallet: Address,
): Promise<readonly CountedRange[]> {
  const rows = await database.query<SpanRow>(
    sql`SELECT first_block, last_block, sent, involved, nft_transfers, token_transfers FROM wallet_counts
      WHERE wallet = ${addressBytes(wallet)} AND chain_id = ${chain.id}
        AND NOT EXISTS (SELECT FROM (${standingsOf(chain, wallet)}) AS standing WHERE NOT is_followed)
      ORDER BY first_block`,
  );
  return rows.map((row) => ({
    from: row.first_block,
    to: row.last_block,
    sent: row.sent,
    involved: row.involved,
    nftTransfers: row.nft_transfers,
    tokenTransfers: row.token_transfers,
  }));
}

interface SpanRow {
  readonly first_block: number;
  readonly last_block: number;
  readonly sent: number;
  readonly involved: number;
  readonly nft_transfers: number;
  readonly token_transfers: number;
}

/** Returns whether two reads had the same result. */
export function isSame(some: readonly CountedRange[], others: readonly CountedRange[]): boolean {
  return JSON.stringify(some) === JSON.stringify(others);
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
