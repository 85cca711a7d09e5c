import { defineError } from '@chainstead/core';
import type { ReadDatabase } from '../database.ts';
import { ROW_BYTES_MAX } from '../readers/read-bounded.ts';
import { asSql, joinSql, rawSql, type Sql, sql } from '../sql.ts';

/** Bytes of fixed width, which is cheapest, or text. Never null. */
export type PackedColumn<Value> = BytesColumn<Value> | NumberColumn<Value> | TextColumn<Value>;

interface BytesColumn<Value> {
  readonly kind: 'bytes';
  readonly packed: Sql;
  readonly width: number;
  read(hexadecimal: string): Value;
}

/** Read from its bytes: parsing its digits takes longer than the rest of its row. */
interface NumberColumn<Value> {
  readonly kind: 'number';
  readonly packed: Sql;
  readonly width: number;
  read(bytes: Buffer, at: number): Value;
}

interface TextColumn<Value> {
  readonly kind: 'text';
  readonly packed: Sql;
  /** Bytes of a long text. */
  readonly size?: Sql;
  read(text: string): Value;
}

/** A page in one result row. Null without rows, or without text columns. */
export interface PackedTexts {
  readonly packedBytes: string | null;
  readonly packedTexts: string | null;
  readonly packedJson: readonly (readonly string[])[] | null;
}

export interface PackedRows<Row> {
  readonly select: Sql;
  /** Slower: for texts that contain separators. */
  readonly selectAsJson: Sql;
  /** Rows of a materialized CTE. SQLSTATE 54000 if they are too many bytes. */
  fitting(cte: string): Sql;
  /** Null if a text contains a separator. @throws PackedRowsError */
  read(texts: PackedTexts): Row[] | null;
}

export type RowOf<Packed> = Packed extends PackedRows<infer Row> ? Readonly<Row> : never;

/** Again as JSON if a text contains a separator. `statementOf`: returns one row. */
export async function readPackedPage<Row, Page extends PackedTexts>(
  database: ReadDatabase,
  packed: PackedRows<Row>,
  statementOf: (select: Sql) => Sql,
): Promise<{ readonly rows: readonly Row[]; readonly page: Page }> {
  for (const select of [packed.select, packed.selectAsJson]) {
    // Invariant: PAGE-ONE-SNAPSHOT
    const [page] = await database.select<Page>(statementOf(select));
    const rows = page === undefined ? null : packed.read(page);
    if (page !== undefined && rows !== null) return { rows, page };
  }
  throw new RangeError('The page has no row, or its texts cannot be separated even as JSON');
}

/** A stored value is longer or shorter than its type. */
export class PackedRowsError extends defineError(
  'PACKED_ROWS',
  (facts: { readonly digits: number; readonly digitsOfRow: number }) => ({
    message: 'A page could not be read: a value in the database has the wrong length for its type',
    facts,
    remedy:
      'Find addresses that are not 20 bytes long and hashes that are not 32 bytes long, then run `chainstead reindex` for their blocks',
  }),
) {}

/**
 * Packs a page into a few texts: reading a row in the driver costs more than all later work on it.
 * One column at least has a fixed width.
 * @example
 * ```ts
 * import { type ReadDatabase, sql } from '@chainstead/db';
 * import { digits, hex, int8, packedRows, readPackedPage } from '@chainstead/db/packed-rows';
 *
 * const ROWS = packedRows({ block: int8('block_number'), token: hex('token', 20), value: digits('value') });
 *
 * export async function readPage(database: ReadDatabase) {
 *   const { rows } = await readPackedPage(database, ROWS, (select) => sql`SELECT ${select} FROM page`);
 *   return rows;
 * }
 * ```
 */
export function packedRows<Columns extends Readonly<Record<string, PackedColumn<unknown>>>>(
  columns: Columns,
): PackedRows<{ [Name in keyof Columns]: ReturnType<Columns[Name]['read']> }> {
  type Row = { [Name in keyof Columns]: ReturnType<Columns[Name]['read']> };
  const all = Object.entries<PackedColumn<unknown>>(columns).map(([name, column]) => ({ name, ...column }));
  const fixed = all.filter((column) => column.kind !== 'text');
  const texts = all.filter((column) => column.kind === 'text');
  const width = fixed.reduce((sum, column) => sum + column.width, 0);
  const allBytes = fixed.map(({ packed }) => packed);
  const packedBytes = sql`encode(string_agg(${joinSql(allBytes, ' || ')}, ''), 'hex') AS packed_bytes`;
  const joined = joinSql(
    texts.map(({ packed }) => sql`string_agg(${packed}, chr(${rawSql(VALUE_END)}))`),
    ` || chr(${COLUMN_END}) || `,
  );
  const sizes = texts.flatMap(({ size }) => (size === undefined ? [] : [sql`coalesce(${size}, 0)`]));
  const json = joinSql(texts.map(({ packed }) => sql`json_agg(${packed})`));
  const select = sql`${packedBytes}, ${texts.length === 0 ? rawSql('NULL') : joined} AS packed_texts, NULL::json AS packed_json`;
  const selectAsJson = sql`${packedBytes}, NULL AS packed_texts, json_build_array(${json}) AS packed_json`;
  const fitting = (cte: string): Sql => {
    const rows = rawSql(cte);
    if (sizes.length === 0) return rows;
    const repeats = sql`CASE WHEN (SELECT sum(${joinSql(sizes, ' + ')}) FROM ${rows}) > ${rawSql(ROW_BYTES_MAX)} THEN ${rawSql(TOO_MANY)} ELSE 0 END`;
    return sql`(SELECT * FROM ${rows} WHERE octet_length(repeat(' ', ${repeats})) = 0) AS fitting`;
  };
  return {
    select,
    selectAsJson,
    fitting,
    read({ packedBytes, packedTexts, packedJson }) {
      if (packedBytes === null) return [];
      const count = packedBytes.length / (2 * width);
      if (!Number.isInteger(count))
        throw new PackedRowsError({ digits: packedBytes.length, digitsOfRow: 2 * width });
      const ofTexts = packedTexts?.split(String.fromCharCode(COLUMN_END)) ?? [];
      const lists = packedJson ?? ofTexts.map((column) => column.split(String.fromCharCode(VALUE_END)));
      // A separator in a text adds columns or values: the counts never match.
      if (lists.length !== texts.length || lists.some((list) => list.length !== count)) return null;
      const bytes = Buffer.from(packedBytes, 'hex');
      const rows: Row[] = [];
      let at = 0;
      for (let index = 0; index < count; index++) {
        const row: Record<string, unknown> = {};
        for (const column of fixed) {
          const end = at + column.width;
          row[column.name] =
            column.kind === 'number' ? column.read(bytes, at) : column.read(packedBytes.slice(2 * at, 2 * end));
          at = end;
        }
        for (const [list, column] of texts.entries()) row[column.name] = column.read(lists[list]?.[index] ?? '');
        rows.push(row as Row);
      }
      return rows;
    },
  };
}

const TOO_MANY = 2_147_483_647;

/** ASCII's unit and record separators. On-chain names almost never have them. */
const VALUE_END = 0x1f;
const COLUMN_END = 0x1e;

export function int4(column: string | Sql): NumberColumn<number> {
  const packed = sql`int4send(${asSql(column)})`;
  return { kind: 'number', packed, width: 4, read: (bytes, at) => bytes.readInt32BE(at) };
}

/** A `bigint` of at most 2^53. */
export function int8(column: string | Sql): NumberColumn<number> {
  return { kind: 'number', packed: sql`int8send(${asSql(column)})`, width: 8, read: readInt8 };
}

/** `0x` and lower-case digits. */
export function hex<Text extends string>(column: string | Sql, width: number): BytesColumn<Text> {
  return { kind: 'bytes', packed: asSql(column), width, read: (digits) => `0x${digits}` as Text };
}

export function hexDigits(column: string | Sql, width: number): BytesColumn<string> {
  return { kind: 'bytes', packed: asSql(column), width, read: (digits) => digits };
}

export function hexOrNull<Text extends string>(column: string | Sql, width: number): BytesColumn<Text | null> {
  return {
    kind: 'bytes',
    packed: sql`CASE WHEN ${asSql(column)} IS NULL THEN ${rawSql(`'\\x${'00'.repeat(width + 1)}'`)}::bytea ELSE '\\x01'::bytea || ${asSql(column)} END`,
    width: width + 1,
    read: (digits) => (digits.startsWith('01') ? (`0x${digits.slice(2)}` as Text) : null),
  };
}

export function boolean(column: string | Sql): BytesColumn<boolean> {
  return { kind: 'bytes', packed: sql`boolsend(${asSql(column)})`, width: 1, read: (digits) => digits === '01' };
}

/** `2026-01-02T03:04:05.678Z` */
export function moment(column: string | Sql): NumberColumn<string> {
  return momentWith(column, (microseconds) => String(1_000 + Math.floor(microseconds / 1_000)).slice(1));
}

/** `2026-01-02T03:04:05.678000Z` */
export function preciseMoment(column: string | Sql): NumberColumn<string> {
  return momentWith(column, (microseconds) => String(1_000_000 + microseconds).slice(1));
}

export function digits(column: string | Sql): TextColumn<string> {
  return { kind: 'text', packed: sql`(${asSql(column)})::text`, read: (text) => text };
}

/** A `numeric[]` without nulls. */
export function digitsList(column: string | Sql): TextColumn<string[]> {
  const packed = sql`array_to_string(${asSql(column)}, ' ')`;
  return { kind: 'text', packed, read: (text) => (text === '' ? [] : text.split(' ')) };
}

export function text(column: string | Sql): TextColumn<string> {
  return {
    kind: 'text',
    packed: asSql(column),
    size: sql`octet_length(${asSql(column)})`,
    read: (value) => value,
  };
}

/** Lower-case, without `0x`. */
export function longHex(column: string | Sql): TextColumn<string> {
  return {
    kind: 'text',
    packed: sql`encode(${asSql(column)}, 'hex')`,
    size: hexSize(column),
    read: (value) => value,
  };
}

export function longHexOrNull(column: string | Sql): TextColumn<string | null> {
  const { packed, read } = textOrNull(sql`encode(${asSql(column)}, 'hex')`);
  return { kind: 'text', packed, size: hexSize(column), read: (value: string) => read(value) };
}

function hexSize(column: string | Sql): Sql {
  return sql`2 * octet_length(${asSql(column)})`;
}

export function textOrNull(column: string | Sql): TextColumn<string | null> {
  const packed = sql`coalesce('+' || ${asSql(column)}, '')`;
  return { kind: 'text', packed, read: (value) => (value === '' ? null : value.slice(1)) };
}

function readInt8(bytes: Buffer, at: number): number {
  return bytes.readInt32BE(at) * 2 ** 32 + bytes.readUInt32BE(at + 4);
}

const MICROSECONDS_OF_DAY = 86_400_000_000;
const MICROSECONDS_OF_SECOND = 1_000_000;
const EPOCH_OF_POSTGRES = Date.UTC(2000, 0, 1);

const DAYS_MAX = 20_000;

/** Formats each day once: `Date` takes longer than the rest of a row. */
function momentWith(column: string | Sql, fractionOf: (microseconds: number) => string): NumberColumn<string> {
  const dates = new Map<number, string>();
  const dateOf = (day: number): string => {
    const cached = dates.get(day);
    if (cached !== undefined) return cached;
    const moment = new Date(EPOCH_OF_POSTGRES + (day * MICROSECONDS_OF_DAY) / 1_000);
    const date = moment.toISOString().slice(0, 'YYYY-MM-DDT'.length);
    if (dates.size >= DAYS_MAX) dates.clear();
    dates.set(day, date);
    return date;
  };
  const read = (bytes: Buffer, at: number): string => {
    const microseconds = readInt8(bytes, at);
    const day = Math.floor(microseconds / MICROSECONDS_OF_DAY);
    const ofDay = microseconds - day * MICROSECONDS_OF_DAY;
    const seconds = Math.floor(ofDay / MICROSECONDS_OF_SECOND);
    const minutes = Math.floor(seconds / 60);
    const clock = `${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}:${twoDigits(seconds % 60)}`;
    return `${dateOf(day)}${clock}.${fractionOf(ofDay % MICROSECONDS_OF_SECOND)}Z`;
  };
  return { kind: 'number', packed: sql`timestamptz_send(${asSql(column)})`, width: 8, read };
}

function twoDigits(number: number): string {
  return number < 10 ? `0${number}` : String(number);
}
