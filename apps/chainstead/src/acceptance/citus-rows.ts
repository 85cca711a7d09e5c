/** What a database holds of a chain, on one server or on a cluster of Citus: all that is indexed, kept for everybody, as text that can be compared. */
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { datasets } from '@chainstead/datasets';
import { type Database, hexText } from '@chainstead/db';
import { createKeptSubjects, datasetsOf, subjectStatesOf } from '@chainstead/sync';

/** Whom a state may be kept for: everybody that its dataset's rows name. */
const SUBJECTS: Readonly<Record<string, string>> = {
  'erc20-wallet-tokens': 'SELECT DISTINCT account AS subject FROM erc20_transfers WHERE chain_id = $1',
  'erc20-token-holders': 'SELECT DISTINCT token AS subject FROM erc20_transfers WHERE chain_id = $1',
  'erc20-token-counts': 'SELECT DISTINCT token AS subject FROM erc20_transfers WHERE chain_id = $1',
  'erc20-wallet-approvals': 'SELECT DISTINCT owner AS subject FROM erc20_approvals WHERE chain_id = $1',
  'nft-wallet-tokens': `SELECT DISTINCT subject FROM (SELECT from_address AS subject FROM nft_transfers WHERE chain_id = $1
    UNION ALL SELECT to_address FROM nft_transfers WHERE chain_id = $1) AS moved`,
  'wallet-counts-of-erc20-transfers': 'SELECT DISTINCT account AS subject FROM erc20_transfers WHERE chain_id = $1',
  'wallet-counts-of-erc20-approvals': 'SELECT DISTINCT owner AS subject FROM erc20_approvals WHERE chain_id = $1',
  'wallet-counts-of-nft-transfers': 'SELECT DISTINCT to_address AS subject FROM nft_transfers WHERE chain_id = $1',
  'nft-collection-owners': 'SELECT DISTINCT token_address AS subject FROM nft_transfers WHERE chain_id = $1',
};

/** Rows of what is indexed, and of what follows from it. */
const TABLES = [
  'erc20_transfers',
  'wrapped_coin_moves',
  'erc20_approvals',
  'nft_transfers',
  'nft_trades',
  'nft_metadata_events',
  'nft_malformed_logs',
  'punk_bids',
  'nft_sale_days',
  'erc20_wallet_tokens',
  'erc20_wallet_approvals',
  'erc20_token_counts',
  'erc20_holders',
  'erc20_holder_counts',
  'erc20_holder_minutes',
  'nft_wallet_tokens',
  'nft_wallet_collections',
  'nft_collection_balances',
  'nft_collection_ids',
  'nft_collection_owners',
  'nft_collection_counts',
] as const;

/** What says when something was done is not compared. */
const IS_CLOCK = /_at$/;

/** Asks about every wallet and contract of the chain, so that all that can be kept is kept. @param most of each kind, in the order of addresses */
export async function keepEverything(database: Database, chain: Chain, most = Number.POSITIVE_INFINITY): Promise<void> {
  const kept = createKeptSubjects(database);
  for (const of of subjectStatesOf(datasetsOf(chain, datasets))) {
    const { name } = of.state;
    const subjects = SUBJECTS[name];
    if (subjects === undefined) throw new Error(`Nobody says whom ${name} is kept for`);
    const rows = await database.query<{ subject: Address }>(
      `SELECT ${hexText('subject')} AS subject FROM (${subjects}) AS found ORDER BY 1`,
      [chain.id],
    );
    for (const { subject } of rows.slice(0, most)) {
      const progress = await kept.keep(chain, of, subject, 60_000);
      if (progress !== 'built') throw new Error(`${name} of ${subject} is not counted: ${progress}`);
    }
  }
}

/** Makes one partition of each table for all heights of the chain: recorded blocks lie far apart, and would each want partitions of their own. */
export async function makePlaces(database: Database, chain: Chain): Promise<void> {
  for (const { table } of datasetsOf(chain, datasets))
    if (table.isPartitioned)
      await database.query('SELECT attach_partition(to_regclass($1), $2, 0, NULL)', [table.name, chain.id]);
}

/** Of each table its rows, sorted. */
export async function dumpEverything(
  database: Database,
  chain: Chain,
): Promise<Readonly<Record<string, readonly string[]>>> {
  const dump: Record<string, readonly string[]> = {};
  for (const table of TABLES) {
    const columns = await database.query<{ name: string }>(
      `SELECT attname AS name FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attname`,
      [table],
    );
    const compared = columns.flatMap(({ name }) => (IS_CLOCK.test(name) ? [] : [name]));
    const rows = await database.query<Record<string, string | null>>(
      `SELECT ${compared.map((name) => `${name}::text AS ${name}`).join(', ')} FROM ${table} WHERE chain_id = $1`,
      [chain.id],
    );
    dump[table] = rows.map((row) => compared.map((name) => `${name}=${row[name]}`).join(' ')).toSorted();
  }
  return dump;
}

/** How many rows each table has, to see that something was compared. */
export function countRows(dump: Readonly<Record<string, readonly string[]>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(dump).map(([table, rows]) => [table, rows.length]));
}
