import type { BlockRange, ChainId } from '@chainstead/core';
import { type Database, hexText, rawSql, type Sql, sql, type Transaction } from '@chainstead/db';
import { readRevisions } from '@chainstead/sync';
import { readChainState } from '@chainstead/sync/checkpoint';
import { listCoverage } from '@chainstead/sync/requests';
import type { ManifestFile } from '../manifest/manifest.ts';
import type { ExportTable } from '../tables/export-table.ts';

export interface ExportChain {
  readonly id: ChainId;
  readonly key: string;
  readonly reorgDepthMax: number;
}

export type RangeFacts = Pick<ManifestFile, 'proof' | 'first_block' | 'last_block' | 'revision'>;

/** Final by depth: a reorg removes at most `reorgDepthMax` blocks. Null before the first start. */
export async function readFinalBlock(
  source: Pick<Database, 'query'>,
  { id, reorgDepthMax }: ExportChain,
): Promise<number | null> {
  const state = await readChainState(source, id);
  if (state === null) return null;
  return Math.max(state.firstFollowed - 1, (state.checkpoint?.number ?? 0) - reorgDepthMax);
}

export async function readCovered(
  source: Pick<Database, 'query'>,
  { id }: ExportChain,
  { dataset }: ExportTable,
  within: BlockRange,
): Promise<ManifestFile['proof']> {
  const coverage = await listCoverage(source, id, within);
  return coverage
    .filter((covered) => covered.dataset === dataset)
    .map(({ range: { from, to }, proof, reason }) => {
      return { from: Math.max(from, within.from), to: Math.min(to, within.to), level: proof, reason };
    });
}

export async function readRangeFacts(
  transaction: Transaction,
  chain: ExportChain,
  table: ExportTable,
  range: BlockRange,
): Promise<RangeFacts> {
  const [revision = ''] = await readRevisions(transaction, chain.id, table.dataset, [range]);
  const edge = (order: 'ASC' | 'DESC'): Sql =>
    sql`(SELECT block_number AS number, ${hexText('block_hash')} AS hash FROM blocks
       WHERE chain_id = ${chain.id} AND block_number BETWEEN ${range.from} AND ${range.to} ORDER BY block_number ${rawSql(order)} LIMIT 1)`;
  const edges = await transaction.query<{ number: number; hash: string }>(
    sql`${edge('ASC')} UNION ALL ${edge('DESC')}`,
  );
  return {
    proof: joinLevels(await readCovered(transaction, chain, table, range)),
    first_block: edges[0] ?? null,
    last_block: edges[1] ?? null,
    revision,
  };
}

export type ChangeCause = 'reorg' | 'reindex';

export async function findChanged(
  source: Pick<Database, 'query'>,
  chain: ExportChain,
  table: ExportTable,
  files: readonly ManifestFile[],
): Promise<ReadonlyMap<ManifestFile, ChangeCause>> {
  const revisions = await readRevisions(source, chain.id, table.dataset, files);
  const edges = files
    .flatMap(({ first_block: first, last_block: last }) => [first, last])
    .filter((edge) => edge !== null);
  const stored = await source.query<{ number: number; hash: string }>(
    sql`SELECT block_number AS number, ${hexText('block_hash')} AS hash FROM blocks WHERE chain_id = ${chain.id} AND block_number = ANY(${edges.map(({ number }) => number)}::bigint[])`,
  );
  const hashes = new Map(stored.map(({ number, hash }) => [number, hash]));
  const isReplaced = (edge: ManifestFile['last_block']): boolean => {
    const hash = edge === null ? undefined : hashes.get(edge.number);
    return hash !== undefined && hash !== edge?.hash;
  };
  const changed = new Map<ManifestFile, ChangeCause>();
  for (const [index, file] of files.entries()) {
    if (isReplaced(file.first_block) || isReplaced(file.last_block)) changed.set(file, 'reorg');
    else if (file.revision !== revisions[index]) changed.set(file, 'reindex');
  }
  return changed;
}

export function joinLevels(levels: ManifestFile['proof']): ManifestFile['proof'] {
  const joined: ManifestFile['proof'] = [];
  for (const level of levels) {
    const last = joined.at(-1);
    if (
      last !== undefined &&
      last.to + 1 === level.from &&
      last.level === level.level &&
      last.reason === level.reason
    )
      joined[joined.length - 1] = { ...last, to: level.to };
    else joined.push(level);
  }
  return joined;
}
