/** Disk space of a row by the layout of Postgres pages, for tables that have no rows to measure. */
import type { RowTable } from '../dataset/row-table.ts';

/** With the pointer in its page. */
const ROW_HEADER = 28;
/** With the pointer in its page. */
const INDEX_ENTRY = 12;
/** Text and bytea begin with their length. */
const LENGTH_BYTES = 1;
/** COPY sends four numbers before the digits; a stored number has two bytes, and its length. */
const NUMERIC_LESS = 5;
const FIELD_LENGTH_AT = 2;
const FIELD_LENGTH_BYTES = 4;
const ALIGNMENT = 8;
const PARTIAL_SHARE = 0.5;
/** B-tree pages after inserts in no order. */
const INDEX_FILL = 0.8;

/** With its entries in all indexes, in bytes. @param line in COPY's binary format */
export function bytesOfRow({ columns, types, key, indexes = [] }: RowTable, line: string): number {
  const widths = new Map<string, number>();
  let at = FIELD_LENGTH_AT;
  for (const column of columns) {
    const length = lengthAt(line, at);
    at += FIELD_LENGTH_BYTES + length;
    widths.set(column, length === 0 ? 0 : length + lengthBytes(types.get(column)?.type ?? ''));
  }
  const widthOf = (names: readonly string[]): number =>
    aligned(names.reduce((sum, name) => sum + (widths.get(name) ?? ALIGNMENT), 0));
  const entries = [{ columns: key, isPartial: false }, ...indexes].map(
    (index) => (INDEX_ENTRY + widthOf(index.columns)) * (index.isPartial ? PARTIAL_SHARE : 1),
  );
  return ROW_HEADER + widthOf(columns) + entries.reduce((sum, bytes) => sum + bytes, 0) / INDEX_FILL;
}

function lengthBytes(type: string): number {
  if (/^(bool|small|int|big|timestamp)/.test(type)) return 0;
  return /^numeric(\(|$)/.test(type) ? -NUMERIC_LESS : LENGTH_BYTES;
}

/** A null value has no bytes: its length is -1. */
function lengthAt(line: string, at: number): number {
  let length = 0;
  for (let byte = 0; byte < FIELD_LENGTH_BYTES; byte++) length = (length << 8) | line.charCodeAt(at + byte);
  return Math.max(0, length);
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
}
