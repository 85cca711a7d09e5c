/** Contents of a chain's tables, on one server or on a cluster of Citus: all indexed and derived rows, as text that can be compared. */
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { datasets } from '@chainstead/datasets';
import { type Database, hexTextOld, sql } from '@chainstead/db';
import { createSubjectProjections, datasetsOf, subjectProjectionsOf } from '@chainstead/sync';
import { readTableRows, type TableRows } from '@chainstead/testkit';

/** Subjects of a derived state: all that its dataset's rows name. */
const SUBJECTS: Readonly<Record<string, string>> = {
  'erc20-wallet-tokens': 'SELECT DISTINCT account AS subject FROM erc20_transfer_sides WHERE chain_id = $1',
  'erc20-token-holders': 'SELECT DISTINCT token AS subject FROM erc20_transfer_sides WHERE chain_id = $1',
  'erc20-token-counts': 'SELECT DISTINCT token AS subject FROM erc20_transfer_sides WHERE chain_id = $1',
  'erc20-wallet-approvals': 'SELECT DISTINCT owner AS subject FROM erc20_approvals WHERE chain_id = $1',
  'nft-wallet-tokens': `SELECT DISTINCT subject FROM (SELECT from_address AS subject FROM nft_transfers WHERE chain_id = $1
    UNION ALL SELECT to_address FROM nft_transfers WHERE chain_id = $1) AS moved`,
  'wallet-counts-of-erc20-transfers':
    'SELECT DISTINCT account AS subject FROM erc20_transfer_sides WHERE chain_id = $1',
  'wallet-counts-of-erc20-approvals': 'SELECT DISTINCT owner AS subject FROM erc20_approvals WHERE chain_id = $1',
  'wallet-counts-of-nft-transfers': 'SELECT DISTINCT to_address AS subject FROM nft_transfers WHERE chain_id = $1',
  'nft-collection-owners': 'SELECT DISTINCT token_address AS subject FROM nft_transfers WHERE chain_id = $1',
};

/** Asks about every wallet and contract of the chain, so that all that can be kept is kept. @param most of each kind, in the order of addresses */
export async function keepEverything(database: Database, chain: Chain, most = Number.POSITIVE_INFINITY): Promise<void> {
  const projections = createSubjectProjections(database);
  for (const of of subjectProjectionsOf(datasetsOf(chain, datasets))) {
    const { name } = of.state;
    const subjects = SUBJECTS[name];
    if (subjects === undefined) throw new Error(`SUBJECTS has no query for ${name}`);
    const rows = await database.query<{ subject: Address }>(
      `SELECT ${hexTextOld('subject')} AS subject FROM (${subjects}) AS found ORDER BY 1`,
      [chain.id],
    );
    for (const { subject } of rows.slice(0, most)) {
      const progress = await projections.keep(chain, of, subject, 60_000);
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
