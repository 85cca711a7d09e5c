/** Contents of a chain's tables, on one server or on a cluster of Citus: all indexed and derived rows, as text that can be compared. */
import type { Chain } from '@chainstead/chains';
import { type Address, waitingAtMost } from '@chainstead/core';
import { type Database, hexText, type Sql, sql } from '@chainstead/db';
import { subjectProjectionsOf } from '@chainstead/sync';
import { datasetsOf } from '@chainstead/sync/datasets';
import { createSubjectProjections } from '@chainstead/sync/ingest';
import { readTableRows, type TableRows } from '@chainstead/testkit';
import { datasets } from 'chainstead/src/datasets/index.ts';

/** Subjects of a derived state: all that its dataset's rows name. */
const SUBJECTS: Readonly<Record<string, Sql>> = {
  'erc20-wallet-tokens': sql`SELECT account AS subject, chain_id FROM erc20_transfer_sides`,
  'erc20-token-holders': sql`SELECT token AS subject, chain_id FROM erc20_transfer_sides`,
  'erc20-token-counts': sql`SELECT token AS subject, chain_id FROM erc20_transfer_sides`,
  'erc20-wallet-approvals': sql`SELECT owner AS subject, chain_id FROM erc20_approvals`,
  'nft-wallet-tokens': sql`SELECT from_address AS subject, chain_id FROM nft_transfers
    UNION ALL SELECT to_address, chain_id FROM nft_transfers`,
  'wallet-counts-of-erc20-transfers': sql`SELECT account AS subject, chain_id FROM erc20_transfer_sides`,
  'wallet-counts-of-erc20-approvals': sql`SELECT owner AS subject, chain_id FROM erc20_approvals`,
  'wallet-counts-of-nft-transfers': sql`SELECT to_address AS subject, chain_id FROM nft_transfers`,
  'nft-collection-owners': sql`SELECT token_address AS subject, chain_id FROM nft_transfers`,
};

/** Asks about every wallet and contract of the chain, so that all that can be kept is kept. @param most of each kind, in the order of addresses */
export async function keepEverything(
  database: Database,
  chain: Chain,
  most = Number.POSITIVE_INFINITY,
): Promise<void> {
  const projections = createSubjectProjections(database);
  for (const of of subjectProjectionsOf(datasetsOf(chain, datasets))) {
    const { name } = of.state;
    const subjects = SUBJECTS[name];
    if (subjects === undefined) throw new Error(`SUBJECTS has no query for ${name}`);
    const rows = await database.query<{ subject: Address }>(
      sql`SELECT DISTINCT ${hexText('subject')} AS subject FROM (${subjects}) AS found WHERE chain_id = ${chain.id} ORDER BY 1`,
    );
    for (const { subject } of rows.slice(0, most)) {
      const progress = await waitingAtMost(60_000, () => projections.keep(chain, of, subject));
      if (progress !== 'built') throw new Error(`${name} of ${subject} is not counted: ${progress}`);
    }
  }
}

/** Makes one partition of each table for all heights of the chain: recorded blocks lie far apart, and would each need separate partitions. */
export async function makePlaces(database: Database, chain: Chain): Promise<void> {
  for (const { table } of datasetsOf(chain, datasets))
    if (table.isPartitioned)
      await database.query(sql`SELECT attach_partition(to_regclass(${table.name}), ${chain.id}, 0, NULL)`);
}

/** The rows of every table that the chain's datasets fill. */
export function dumpEverything(database: Database, chain: Chain): Promise<TableRows> {
  return readTableRows(database, chain.id, datasetsOf(chain, datasets));
}

/** How many rows each table has, to see that something was compared. */
export function countRows(dump: TableRows): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(dump).map(([table, rows]) => [table, rows.length]));
}
