import { createRowWriter, type RowWriter } from '@chainstead/db';
import type { RowTable } from '@chainstead/sync';
import { type EventTable, type ParameterColumn, PLACE_COLUMNS, UNDECODED } from './event-table.ts';

/** A row of the table of an event. */
export interface EventRow {
  readonly chainId: number;
  readonly blockNumber: number;
  readonly transactionIndex: number;
  readonly logIndex: number;
  /** ISO 8601, UTC. */
  readonly blockTime: string;
  readonly transactionHash: string;
  /** Address of the emitter. */
  readonly contract: string;
  /** By parameter: decimal digits, `0x` and digits, JSON, text. Null: the log is not decoded. */
  readonly values: readonly (string | boolean)[] | null;
  /** `0x`, topics without the first, and data of a log that is not decoded. */
  readonly undecoded: string | null;
}

/** Columns that identify a row. The first ones also bound pages by block. */
export const EVENT_KEY = ['chain_id', 'block_number', 'transaction_index', 'log_index'] as const;

/** Returns how the sync engine writes the table. */
export function rowTableOf({ name, parameters }: EventTable): RowTable<EventRow> {
  const writer = createRowWriter();
  const types = [
    ...Object.entries(PLACE_COLUMNS).map(([column, type]) => [column, type, true] as const),
    ...parameters.map((column) => [column.name, column.type, false] as const),
    [UNDECODED, 'bytea', false] as const,
  ];
  return {
    name,
    columns: types.map(([column]) => column),
    types: new Map(types.map(([column, type, isRequired]) => [column, { type, isRequired, hasDefault: false }])),
    key: EVENT_KEY,
    bulkIndexes: [],
    isPartitioned: false,
    rowsPerPartition: 1,
    copyLine: (row) => writeRow(writer, parameters, row),
  };
}

function writeRow(writer: RowWriter, parameters: readonly ParameterColumn[], row: EventRow): string {
  writer.begin(Object.keys(PLACE_COLUMNS).length + parameters.length + 1);
  writer.bigint(row.chainId);
  writer.bigint(row.blockNumber);
  writer.integer(row.transactionIndex);
  writer.integer(row.logIndex);
  writer.timestamp(row.blockTime);
  writer.bytea(row.transactionHash);
  writer.bytea(row.contract);
  for (const [index, { type }] of parameters.entries()) writeValue(writer, type, row.values?.[index]);
  if (row.undecoded === null) writer.nothing();
  else writer.bytea(row.undecoded);
  return writer.end();
}

function writeValue(writer: RowWriter, type: ParameterColumn['type'], value: string | boolean | undefined): void {
  if (value === undefined) writer.nothing();
  else if (typeof value === 'boolean') writer.boolean(value);
  else writer[type === 'boolean' ? 'text' : type](value);
}
