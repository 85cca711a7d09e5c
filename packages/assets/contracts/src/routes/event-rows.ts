import type { Address, Hash } from '@chainstead/core';
import { rawSql, sql } from '@chainstead/db';
import {
  boolean,
  digits,
  hex,
  int4,
  int8,
  longHex,
  type PackedColumn,
  type PackedRows,
  packedRows,
  type RowOf,
  text,
} from '@chainstead/db/packed-rows';
import type { EventTable, ParameterColumn } from '../tables/event-table.ts';

const PLACE_ROWS = {
  block_number: int8('block_number'),
  transaction_index: int4('transaction_index'),
  log_index: int4('log_index'),
  transaction_hash: hex<Hash>('transaction_hash', 32),
  contract: hex<Address>('contract', 20),
};

export type EventRow = RowOf<PackedRows<PlaceRow>> & Readonly<Record<`p${number}`, unknown>>;

type PlaceRow = { [Name in keyof typeof PLACE_ROWS]: ReturnType<(typeof PLACE_ROWS)[Name]['read']> };

export function eventRows({ parameters }: EventTable): PackedRows<EventRow> {
  const columns = parameters.map((column, index): [string, PackedColumn<unknown>] => [
    `p${index}`,
    parameterColumn(column),
  ]);
  return packedRows({ ...PLACE_ROWS, ...Object.fromEntries(columns) });
}

function parameterColumn({ name, type, abiType, isHash, isNullable }: ParameterColumn): PackedColumn<unknown> {
  switch (type) {
    case 'numeric':
      return digits(name);
    case 'boolean':
      return isNullable === true ? booleanOrNull(name) : boolean(name);
    case 'text':
      return text(name);
    case 'jsonb':
      return { ...text(`${name}::text`), read: (json: string) => JSON.parse(json) };
    case 'bytea':
      return bytesColumn(name, isHash ? 'bytes32' : abiType.type);
  }
}

function booleanOrNull(name: string): PackedColumn<boolean | null> {
  return {
    kind: 'bytes',
    packed: sql`coalesce(boolsend(${rawSql(name)}), '\\x02'::bytea)`,
    width: 1,
    read: (digits) => (digits === '02' ? null : digits === '01'),
  };
}

const ADDRESS_BYTES = 20;

function bytesColumn(name: string, abiType: string): PackedColumn<string> {
  const width = abiType === 'address' ? ADDRESS_BYTES : Number(abiType.slice('bytes'.length));
  return width > 0 ? hex(name, width) : { ...longHex(name), read: (digits: string) => `0x${digits}` };
}
