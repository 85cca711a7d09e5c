/** Stretches of blocks of which it is counted what a wallet has there (`wallet_counts`). */
import { walletCountsState } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Address, BlockRange } from '@chainstead/core';
import { addressBytes, type Database } from '@chainstead/db';
import { erc20Approvals, erc20Transfers } from '@chainstead/erc20';
import { nftTransfers } from '@chainstead/nft';
import { type Dataset, type SubjectState, subjectStatesOf } from '@chainstead/sync';
import { accountTransactions, internalTransfers } from '@chainstead/transactions';
import type { WalletCounts } from './count-rows.ts';

export interface Stretch extends BlockRange, WalletCounts {}

/** Heights of rows are of four bytes. */
export const ALL_BLOCKS: BlockRange = { from: 0, to: 2_147_483_647 };

/** By which a wallet's stretches go when rows of a dataset come or go. */
export interface Following {
  readonly dataset: Dataset;
  readonly state: SubjectState;
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
  const following = subjectStatesOf([dataset]).find(({ state }) => state.name === name);
  if (following === undefined) throw new RangeError(`Nothing follows the rows of ${dataset.name}`);
  return following;
}

/**
 * By what changes of a wallet's rows are followed: `all` that whoever writes the chain's rows knows, and those of them that are not followed for the
 * wallet.
 */
export async function readFollowings(
  database: Pick<Database, 'query'>,
  chain: Chain,
  wallet: Address,
): Promise<{ readonly all: readonly Following[]; readonly lacking: readonly Following[] }> {
  const rows = await database.query<{ state: string; is_followed: boolean }>(
    `SELECT state, is_followed FROM (${STANDINGS}) AS standing`,
    parametersOf(chain, wallet),
  );
  const all = FOLLOWINGS.filter(({ state }) => rows.some((row) => row.state === state.name));
  return { all, lacking: all.filter(({ state }) => rows.some((row) => row.state === state.name && !row.is_followed)) };
}

/**
 * The states that matter: those that whoever writes the chain's rows knows, and those that followed the wallet before. A program that does not know
 * one of them strikes it off when it writes rows: the wallet's are not followed from then on.
 */
const STANDINGS = `SELECT given.state, coalesce(known.version = 1 AND kept.built_to IS NULL AND NOT kept.is_stale, false) AS is_followed
  FROM unnest($3::text[]) AS given(state)
  LEFT JOIN derived_states AS known ON known.chain_id = $2 AND known.state = given.state
  LEFT JOIN kept_subjects AS kept ON kept.chain_id = $2 AND kept.state = given.state AND kept.subject = $1::bytea
  WHERE known.state IS NOT NULL OR kept.state IS NOT NULL`;

/** The stretches that count: none unless all changes of the wallet's rows are followed. Ascending. */
export async function readStretches(
  database: Pick<Database, 'query'>,
  chain: Chain,
  wallet: Address,
): Promise<readonly Stretch[]> {
  const rows = await database.query<StretchRow>(
    `SELECT first_block, last_block, sent, involved, nft_transfers, token_transfers FROM wallet_counts
      WHERE wallet = $1::bytea AND chain_id = $2 AND NOT EXISTS (SELECT FROM (${STANDINGS}) AS standing WHERE NOT is_followed)
      ORDER BY first_block`,
    parametersOf(chain, wallet),
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

function parametersOf(chain: Chain, wallet: Address): readonly unknown[] {
  return [addressBytes(wallet), chain.id, FOLLOWINGS.map(({ state }) => state.name)];
}

interface StretchRow {
  readonly first_block: number;
  readonly last_block: number;
  readonly sent: number;
  readonly involved: number;
  readonly nft_transfers: number;
  readonly token_transfers: number;
}

/** Whether two readings gave the same. */
export function isSame(some: readonly Stretch[], others: readonly Stretch[]): boolean {
  return JSON.stringify(some) === JSON.stringify(others);
}

export async function saveStretch(
  database: Pick<Database, 'query'>,
  chain: Chain,
  wallet: Address,
  { from, to, sent, involved, nftTransfers: nfts, tokenTransfers: tokens }: Stretch,
): Promise<void> {
  await database.query(
    `INSERT INTO wallet_counts (wallet, chain_id, first_block, last_block, sent, involved, nft_transfers, token_transfers)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [addressBytes(wallet), chain.id, from, to, sent, involved, nfts, tokens],
  );
}

export async function forgetStretches(database: Pick<Database, 'query'>, chain: Chain, wallet: Address): Promise<void> {
  await database.query('DELETE FROM wallet_counts WHERE wallet = $1 AND chain_id = $2', [
    addressBytes(wallet),
    chain.id,
  ]);
}
