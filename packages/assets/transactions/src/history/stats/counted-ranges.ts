import type { Chain } from '@chainstead/chains';
import type { Address, BlockRange } from '@chainstead/core';
import { addressBytes, type Database, type Sql, sql } from '@chainstead/db';
import { erc20Approvals, erc20Transfers } from '@chainstead/erc20/requests';
import { nftTransfers } from '@chainstead/nft/requests';
import { walletCountsState } from '@chainstead/pages';
import { subjectProjectionsOf } from '@chainstead/sync';
import type { Dataset, SubjectProjection } from '@chainstead/sync/datasets';
import { internalTransfers } from '../../internal-transfers/dataset.ts';
import { accountTransactions } from '../../stored/datasets.ts';
import type { WalletCounts } from './count-rows.ts';

export interface CountedRange extends BlockRange, WalletCounts {}

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
