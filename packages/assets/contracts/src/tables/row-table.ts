import { type Address, parseAddress } from '@chainstead/core';
import { createRowWriter, type RowWriter } from '@chainstead/db';
import type { RowTable } from '@chainstead/sync/datasets';
import { type EventTable, type ParameterColumn, PLACE_COLUMNS, UNDECODED } from './event-table.ts';

export interface EventRecord {
  readonly chainId: number;
  readonly blockNumber: number;
  readonly transactionIndex: number;
  readonly logIndex: number;
  /** ISO 8601, UTC. */
  readonly blockTime: string;
  readonly transactionHash: string;
  readonly contract: string;
  /** Decimal digits, `0x` digits, JSON, text; null: none. Null: not decoded. */
  readonly values: readonly (string | boolean | null)[] | null;
  /** `0x`, topics after the signature's, and data; for a call, data after the selector. */
  readonly undecoded: string | null;
}

/** Up to here, random values of a parameter's index are added quickly: about 100 MB per index. */
const ROWS_PER_PARTITION = 1_000_000;

export const EVENT_KEY = ['chain_id', 'block_number', 'transaction_index', 'log_index'] as const;

export function rowTableOf({ name, parameters }: EventTable): RowTable<EventRecord> {
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
    isPartitioned: true,
    rowsPerPartition: ROWS_PER_PARTITION,
    copyLine: (row) => writeRow(writer, parameters, row),
  };
}

export function placeOfLine(line: string): {
  readonly block: number;
  readonly transaction: number;
  readonly log: number;
  readonly emitter: Address;
} {
  const bytes = Buffer.from(line.slice(0, EMITTER_END), 'latin1');
  return {
    block: Number(bytes.readBigInt64BE(BLOCK_START)),
    transaction: bytes.readInt32BE(TRANSACTION_START),
    log: bytes.readInt32BE(LOG_START),
    emitter: parseAddress(`0x${bytes.toString('hex', EMITTER_START, EMITTER_END)}`),
  };
}

const [COUNT, LENGTH] = [2, 4];
const BLOCK_START = COUNT + LENGTH + 8 + LENGTH;
const TRANSACTION_START = BLOCK_START + 8 + LENGTH;
const LOG_START = TRANSACTION_START + 4 + LENGTH;
const EMITTER_START = LOG_START + 4 + LENGTH + 8 + LENGTH + 32 + LENGTH;
const EMITTER_END = EMITTER_START + 20;

function writeRow(writer: RowWriter, parameters: readonly ParameterColumn[], row: EventRecord): string {
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

function writeValue(
  writer: RowWriter,
  type: ParameterColumn['type'],
  value: string | boolean | null | undefined,
): void {
  if (value === undefined || value === null) writer.nothing();
  else if (typeof value === 'boolean') writer.boolean(value);
  else writer[type === 'boolean' ? 'text' : type](value);
}
