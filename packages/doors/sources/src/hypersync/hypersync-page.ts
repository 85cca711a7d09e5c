import { type BlockRange, getOrCompute, isObject } from '@chainstead/core';
import { converting } from '../conversion/converting.ts';
import { integer, type Json, toCamelCase } from '../conversion/forms.ts';
import type { BlockRows } from '../conversion/source-block.ts';
import type { CreateFault } from '../http-stream/http-stream.ts';
import type { JsonLine } from '../http-stream/json-lines.ts';

export interface HyperSyncPage {
  /** Covered blocks; null: none yet. */
  readonly range: BlockRange | null;
  /** Ascending; rows in the order of the chain, by the names of JSON-RPC. */
  readonly blocks: readonly NumberedRows[];
  /** Height of the instance that answered; null: not named. */
  readonly height: number | null;
  readonly guard: RollbackGuard | null;
}

export interface NumberedRows extends BlockRows {
  readonly number: number;
}

export interface RollbackGuard {
  readonly number: number;
  readonly hash: string;
  readonly timestamp: number;
  readonly firstParentHash: string;
}

/** Batches come in any order and repeat rows. @throws SourceError */
export function readPage({ json, bytes }: JsonLine, asked: BlockRange, fault: CreateFault): HyperSyncPage {
  if (!isObject(json)) throw fault('wrong', 'a page is not an object');
  const next = json.next_block;
  if (!isBlockNumber(next)) throw fault('wrong', 'a page has no next_block');
  if (next < asked.from || next > asked.to + 1)
    throw fault('wrong', `next_block is ${next} for blocks ${asked.from} to ${asked.to}`);
  const height = isBlockNumber(json.archive_height) ? json.archive_height : null;
  if (next === asked.from) return { range: null, blocks: [], height, guard: null };
  const range = { from: asked.from, to: next - 1 };
  const rows = readBlocks(json.data, range, fault);
  const blocks = rows.map((block) => ({ ...block, bytes: Math.ceil(bytes / rows.length) }));
  return { range, blocks, height, guard: readGuard(json.rollback_guard) };
}

function readBlocks(data: unknown, range: BlockRange, fault: CreateFault): Omit<NumberedRows, 'bytes'>[] {
  const batches = Array.isArray(data) ? data : [data];
  const headers = new Map<number, Json>();
  const transactions = new Map<number, Map<number, Json>>();
  const logs = new Map<number, Map<number, Json>>();
  const at = (value: unknown, name: string): number => converting(fault, () => integer(value, name));

  function each(name: string, visit: (row: Json, number: number) => void): void {
    for (const batch of batches) {
      const rows = (isObject(batch) ? batch[name] : null) ?? [];
      if (!Array.isArray(rows)) throw fault('wrong', `${name} is not a list`);
      for (const row of rows) {
        if (!isObject(row)) throw fault('wrong', `${name} has a row that is not an object`);
        const number = at(row.block_number ?? row.number, 'block_number');
        if (number < range.from || number > range.to)
          throw fault('wrong', `${name} has a row of block ${number}, outside ${range.from} to ${range.to}`);
        visit(withCamelCase(row), number);
      }
    }
  }

  each('blocks', (row, number) => headers.set(number, headers.get(number) ?? row));
  each('transactions', (row, number) =>
    place(transactions, number, at(row.transactionIndex, 'transaction_index'), row),
  );
  each('logs', (row, number) => place(logs, number, at(row.logIndex, 'log_index'), row));
  const orphan = [...transactions.keys(), ...logs.keys()].find((number) => !headers.has(number));
  if (orphan !== undefined) throw fault('wrong', `block ${orphan} has rows but no header`);
  return [...headers]
    .toSorted(([left], [right]) => left - right)
    .map(([number, header]) => ({
      number,
      header,
      transactions: inOrder(transactions.get(number)),
      logs: inOrder(logs.get(number)),
    }));
}

/** The first of repeated rows stays: roots decide in any case. */
function place(blocks: Map<number, Map<number, Json>>, number: number, index: number, row: Json): void {
  const rows = getOrCompute(blocks, number, () => new Map<number, Json>());
  if (!rows.has(index)) rows.set(index, row);
}

function inOrder(rows: ReadonlyMap<number, Json> | undefined): Json[] {
  return [...(rows ?? [])].toSorted(([left], [right]) => left - right).map(([, row]) => row);
}

function readGuard(json: unknown): RollbackGuard | null {
  if (!isObject(json)) return null;
  const { block_number: number, hash, timestamp, first_parent_hash: firstParentHash } = json;
  if (!isBlockNumber(number) || typeof hash !== 'string' || typeof firstParentHash !== 'string') return null;
  return {
    number,
    hash: hash.toLowerCase(),
    timestamp: Number(timestamp),
    firstParentHash: firstParentHash.toLowerCase(),
  };
}

function withCamelCase(row: Json): Json {
  const named: Record<string, unknown> = {};
  for (const name in row) named[camelCase(name)] = row[name];
  return named;
}

const CAMEL_CASE = new Map<string, string>();

/** Few names, many rows. */
function camelCase(name: string): string {
  let camel = CAMEL_CASE.get(name);
  if (camel === undefined) {
    camel = toCamelCase(name);
    // A source may invent names without end.
    if (CAMEL_CASE.size < 1_000) CAMEL_CASE.set(name, camel);
  }
  return camel;
}

function isBlockNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
