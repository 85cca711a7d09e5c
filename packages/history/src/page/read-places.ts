import type { Chain } from '@chainstead/chains';
import { parseHash } from '@chainstead/core';
import { InconsistentPageError, type Indexed, type IndexedColumns, readIndexed } from '@chainstead/data-api';
import { hexText, type ReadDatabase, sql } from '@chainstead/db';
import { internalTransfers } from '@chainstead/transactions';
import type { HistoryQuery, PlacedTransaction } from './history-query.ts';
import {
  ASSET_MOVEMENT_DATASETS,
  coverageStatement,
  historyDatasets,
  placesStatement,
  TRANSFERS,
} from './places-statement.ts';

/** A wallet's transactions, and their coverage. */
export interface IndexedPlaces {
  /** One more than requested if more follow. */
  readonly places: readonly PlacedTransaction[];
  /** The common coverage of the history's datasets: complete only if transactions without legs are stored too. */
  readonly indexed: Indexed;
  /** Whether internal transfers are also indexed for all requested blocks. */
  readonly isTraced: boolean;
  /** The newest block with all legs known; null if there is none. */
  readonly syncedBlock: number | null;
}

/** Returns a wallet's transactions. @throws {InconsistentPageError} for one without its own row */
export async function readPlaces(database: ReadDatabase, chain: Chain, query: HistoryQuery): Promise<IndexedPlaces> {
  const [[row], others, traces] = await Promise.all([
    database.select<IndexedColumns & { readonly places: readonly PlaceEntry[] | null }>(placesStatement(chain, query)),
    readAllCovered(database, chain, query),
    chain.internalTransfers === 'all' ? readCovered(database, chain, internalTransfers.name, query) : null,
  ]);
  const entries = row?.places ?? [];
  const hashes = await readHashes(database, chain, entries);
  const places = entries.map(([blockNumber, transactionIndex, hash]) => {
    const reported = hash === null ? hashes.get(`${blockNumber} ${transactionIndex}`) : `0x${hash}`;
    // Rows of both tables are written and removed together.
    if (reported === undefined) throw new InconsistentPageError(blockNumber);
    return { blockNumber, transactionIndex, hash: parseHash(reported) };
  });
  const legs = [readIndexed(row), ...others.flatMap(({ dataset, indexed }) => (isLeg(dataset) ? [indexed] : []))];
  const indexed = [readIndexed(row), ...others.map((other) => other.indexed)].reduce(together);
  const syncedBlock = legs.reduce(together).toBlock;
  return {
    places,
    indexed: { ...indexed, complete: indexed.complete && chain.transactions.mode !== 'off' },
    isTraced: traces?.complete === true && reaches(traces, query, syncedBlock),
    syncedBlock,
  };
}

/** Whether a dataset's newest block is as high as the requested ones: without a bound, its own newest counts. */
function reaches({ toBlock }: Indexed, query: HistoryQuery, syncedBlock: number | null): boolean {
  const bounds = [query.toBlock, query.pinnedBlock, syncedBlock].filter((bound) => bound !== null);
  return toBlock !== null && toBlock >= Math.min(...bounds);
}

/** Block, index, hash without `0x`, key of the stored row. */
type PlaceEntry = readonly [number, number, string | null, string | null];

/** The hashes of transactions that only their stored rows have, by position. */
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

/** The coverage of the datasets other than token transfers. */
function readAllCovered(database: ReadDatabase, chain: Chain, query: HistoryQuery): Promise<readonly Covered[]> {
  return Promise.all(
    historyDatasets(chain)
      .filter((dataset) => dataset !== TRANSFERS)
      .map(async (dataset) => ({ dataset, indexed: await readCovered(database, chain, dataset, query) })),
  );
}

async function readCovered(
  database: ReadDatabase,
  chain: Chain,
  dataset: string,
  query: HistoryQuery,
): Promise<Indexed> {
  const [row] = await database.select<IndexedColumns>(coverageStatement(chain, dataset, query));
  return readIndexed(row);
}

interface Covered {
  readonly dataset: string;
  readonly indexed: Indexed;
}

function isLeg(dataset: string): boolean {
  return ASSET_MOVEMENT_DATASETS.some((leg) => leg === dataset);
}

function together(one: Indexed, other: Indexed): Indexed {
  const isNone = one.fromBlock === null || other.fromBlock === null || one.toBlock === null || other.toBlock === null;
  const span = isNone
    ? null
    : {
        from: Math.max(Number(one.fromBlock), Number(other.fromBlock)),
        to: Math.min(Number(one.toBlock), Number(other.toBlock)),
      };
  const isEmpty = span === null || span.from > span.to;
  return {
    fromBlock: isEmpty ? null : span.from,
    toBlock: isEmpty ? null : span.to,
    complete: one.complete && other.complete,
  };
}
