import type { Chain } from '@chainstead/chains';
import { parseHash } from '@chainstead/core';
import { hexText, type ReadDatabase, sql } from '@chainstead/db';
import { InconsistentPageError, type Indexed, type IndexedColumns, readIndexed } from '@chainstead/pages';
import { internalTransfers } from '../../index.ts';
import type { HistoryQuery } from './history-query.ts';
import {
  ASSET_MOVEMENT_DATASETS,
  coverageStatement,
  historyDatasets,
  placesStatement,
  TRANSFERS,
} from './places-statement.ts';

/** `isTraced`: in all blocks. @throws {InconsistentPageError} for a transaction without its row */
export async function readPlaces(database: ReadDatabase, chain: Chain, query: HistoryQuery) {
  const readCovered = async (dataset: string): Promise<Indexed> => {
    const [row] = await database.select<IndexedColumns>(coverageStatement(chain, dataset, query));
    return readIndexed(row);
  };
  const otherDatasets = historyDatasets(chain).filter((dataset) => dataset !== TRANSFERS);
  const [[row], others, traces] = await Promise.all([
    database.select<IndexedColumns & { readonly places: readonly PlaceEntry[] | null }>(placesStatement(chain, query)),
    Promise.all(otherDatasets.map(async (dataset) => ({ dataset, indexed: await readCovered(dataset) }))),
    chain.internalTransfers === 'all' ? readCovered(internalTransfers.name) : null,
  ]);
  const entries = row?.places ?? [];
  const hashes = await readHashes(database, chain, entries);
  const places = entries.map(([block, transaction, hash]) => {
    const reported = hash === null ? hashes.get(`${block} ${transaction}`) : `0x${hash}`;
    // Both tables are written and removed together.
    if (reported === undefined) throw new InconsistentPageError(block);
    return { block, transaction, hash: parseHash(reported) };
  });
  const isLeg = (dataset: string): boolean => ASSET_MOVEMENT_DATASETS.some((leg) => leg === dataset);
  const legs = [readIndexed(row), ...others.flatMap(({ dataset, indexed }) => (isLeg(dataset) ? [indexed] : []))];
  const indexed = [readIndexed(row), ...others.map((other) => other.indexed)].reduce(together);
  const syncedBlock = legs.reduce(together).toBlock;
  const highest = [query.toBlock, query.pinnedBlock, syncedBlock].filter((bound) => bound !== null);
  const { complete = false, toBlock: tracedTo = null } = traces ?? {};
  return {
    places,
    indexed: { ...indexed, complete: indexed.complete && chain.transactions.mode !== 'off' },
    isTraced: complete && tracedTo !== null && tracedTo >= Math.min(...highest),
    syncedBlock,
  };
}

type PlaceEntry = readonly [number, number, string | null, string | null];

async function readHashes(database: ReadDatabase, chain: Chain, places: readonly PlaceEntry[]) {
  const wanted = places.filter(([, , hash]) => hash === null);
  if (wanted.length === 0) return new Map<string, string>();
  const rows = await database.select<{ block: number; index: number; hash: string }>(
    sql`SELECT row.block_number::int8 AS block, row.transaction_index AS index, ${hexText('row.transaction_hash')} AS hash
     FROM unnest(${wanted.map(([, , , key]) => key)}::bigint[], ${wanted.map(([block]) => block)}::int[], ${wanted.map(([, index]) => index)}::int[]) AS wanted(key, block, index)
     JOIN transactions AS row ON row.transaction_key = wanted.key AND row.chain_id = ${chain.id} AND row.block_number = wanted.block
       AND row.transaction_index = wanted.index`,
  );
  return new Map(rows.map(({ block, index, hash }) => [`${block} ${index}`, hash]));
}

function together(a: Indexed, b: Indexed): Indexed {
  const complete = a.complete && b.complete;
  if (a.fromBlock === null || b.fromBlock === null || a.toBlock === null || b.toBlock === null)
    return { fromBlock: null, toBlock: null, complete };
  const [from, to] = [Math.max(a.fromBlock, b.fromBlock), Math.min(a.toBlock, b.toBlock)];
  return from > to ? { fromBlock: null, toBlock: null, complete } : { fromBlock: from, toBlock: to, complete };
}
