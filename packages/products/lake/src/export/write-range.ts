import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type BlockRange, subtractRanges } from '@chainstead/core';
import { type Database, joinSql, rawSql, type Sql, sql, type Transaction } from '@chainstead/db';
import { copyOut } from '@chainstead/db/server';
import { onFiles } from '../errors.ts';
import { type ExportFolders, fileName, type ManifestFile, PART } from '../manifest/manifest.ts';
import { createCopyRowsReader } from '../parquet/copy-rows-reader.ts';
import { createParquetFile, type ParquetFile } from '../parquet/parquet-file.ts';
import type { ExportTable } from '../tables/export-table.ts';
import { type ExportChain, type RangeFacts, readRangeFacts } from './range-facts.ts';

export interface RangeWrite {
  readonly database: Database;
  readonly chain: ExportChain;
  readonly table: ExportTable;
  readonly folders: ExportFolders;
  readonly range: BlockRange;
  readonly former?: ManifestFile | undefined;
  onRows?(rows: number): void;
}

/** From one snapshot. Null: no longer covered. @throws ExportFolderError, DatabaseError */
export async function writeRange(write: RangeWrite, signal: AbortSignal): Promise<ManifestFile | null> {
  const { database, folders, range, former } = write;
  const path = fileName(range);
  const part = join(folders.state, `${path}${PART}`);
  // Cuts the connection after a failure: the server would send the remaining rows.
  const failed = new AbortController();
  const reading = database.until(AbortSignal.any([signal, failed.signal]));
  try {
    const facts = await reading.transaction(async (transaction) => {
      try {
        return await copyRange(transaction, write, part);
      } catch (error) {
        failed.abort(error);
        throw error;
      }
    });
    if (facts === null) return null;
    const { rows, bytes, sha256, ...rest } = facts;
    const { from, to } = range;
    const entry = { from, to, rows, path: rows === 0 ? null : path, bytes: rows === 0 ? 0 : bytes };
    const written: ManifestFile = { ...entry, sha256: rows === 0 ? null : sha256, ...rest };
    const isKept = written.path === null || (former?.path === path && former.sha256 === written.sha256);
    // Invariant: LAKE-WHOLE-FILES
    await onFiles(part, () => (isKept ? rm(part) : rename(part, join(folders.data, path))));
    return written;
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

type Written = RangeFacts & { readonly rows: number; readonly bytes: number; readonly sha256: string };

async function copyRange(transaction: Transaction, write: RangeWrite, part: string): Promise<Written | null> {
  const { chain, table, range } = write;
  await transaction.query(sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY`);
  // Without it, a dense range is sorted on disk, which takes longer.
  await transaction.query(sql`SET LOCAL work_mem = '64MB'`);
  const facts = await readRangeFacts(transaction, chain, table, range);
  if (subtractRanges([range], facts.proof).length > 0) return null;
  const hasBlockTime = table.columns.some(({ expression }) => expression === null);
  const times = hasBlockTime ? await readTimes(transaction, chain, range) : new Map<number, bigint>();
  const file = await onFiles(part, () => createParquetFile(part, table.columns));
  try {
    await copyRows(transaction, write, file, times, part);
    return { ...facts, ...(await onFiles(part, () => file.finish())) };
  } finally {
    file.abandon();
  }
}

async function copyRows(
  { client }: Transaction,
  { chain, table, range, onRows }: RangeWrite,
  file: ParquetFile,
  times: ReadonlyMap<number, bigint>,
  part: string,
): Promise<void> {
  const fields = table.columns.flatMap(({ expression }, index) => (expression === null ? [] : [index]));
  const ofField = fields.flatMap((index) => file.values[index] ?? []);
  const time = table.columns.findIndex(({ expression }) => expression === null);
  const ofTime = file.values[time];
  const number = 0;
  let rows = 0;
  const reader = createCopyRowsReader(fields.length + 1, (source, offsets, lengths) => {
    for (let field = 0; field < ofField.length; field++)
      ofField[field]?.add(source, offsets[field + 1] ?? 0, lengths[field + 1] ?? 0);
    ofTime?.addValue(times.get(source.readInt32BE(offsets[number])) ?? null);
    file.endRow();
    rows += 1;
  });
  for await (const chunk of copyOut(client, selection(chain, table, range))) {
    await onFiles(part, () => reader.push(chunk));
    onRows?.(rows);
    rows = 0;
  }
  reader.end();
}

/** COPY takes no parameters: all values in the text are integers. */
function selection({ id }: ExportChain, { columns, source, order }: ExportTable, { from, to }: BlockRange): Sql {
  const integer = (value: number): Sql => {
    if (!Number.isSafeInteger(value)) throw new RangeError(`${value} is not an integer`);
    return rawSql(value);
  };
  const expressions = columns.flatMap(({ expression }) => expression ?? []);
  // Not the column's name, which would make the order ambiguous.
  return sql`SELECT block_number::integer AS "block of the time", ${joinSql(expressions)} ${source}
    AND chain_id = ${integer(id)} AND block_number BETWEEN ${integer(from)} AND ${integer(to)} ORDER BY ${joinSql(order)}`;
}

/** Microseconds since 1970 by block, from stored headers. */
async function readTimes(
  transaction: Transaction,
  { id }: ExportChain,
  { from, to }: BlockRange,
): Promise<ReadonlyMap<number, bigint>> {
  const rows = await transaction.query<{ number: number; seconds: number }>(
    sql`SELECT block_number AS number, extract(epoch FROM block_timestamp)::bigint AS seconds FROM blocks
      WHERE chain_id = ${id} AND block_number BETWEEN ${from} AND ${to}`,
  );
  return new Map(rows.map(({ number, seconds }) => [number, BigInt(seconds) * 1_000_000n]));
}
