import type { Address, Hash } from '@chainstead/core';
import type { AbiEvent, AbiFunction, AbiType } from '@chainstead/events/decoding';
import { cutName, distinctNames, sqlName } from './sql-names.ts';

export interface ParameterColumn {
  readonly name: string;
  /** `numeric`: integers. `jsonb`: arrays, tuples. `bytea`: bytes, addresses. */
  readonly type: 'numeric' | 'bytea' | 'boolean' | 'text' | 'jsonb';
  readonly abiType: AbiType;
  /** Hash of a value too long for a topic. */
  readonly isHash: boolean;
  readonly isNullable?: boolean;
}

export interface TableItem {
  readonly kind: 'event' | 'call';
  readonly abi: AbiEvent;
  /** Anonymous events: first topics of others with as many topics. */
  readonly otherTopics: readonly Hash[];
  /** Null: always, or the number of topics distinguishes the forms. */
  readonly since: LogPlace | null;
  /** Proxy implementations whose logs have this form. None: independent of them. */
  readonly implementations: readonly Address[];
}

export interface LogPlace {
  readonly block: number;
  readonly log: number;
}

export interface EventTable extends TableItem {
  readonly contract: string;
  readonly event: string;
  /** With schema (`contracts.vault_deposit`); the dataset's name too. */
  readonly name: string;
  /** Readable: `analytics.contract_vault_deposit`. */
  readonly view: string;
  readonly parameters: readonly ParameterColumn[];
}

export function eventItem(abi: AbiEvent): TableItem {
  return { kind: 'event', abi, otherTopics: [], since: null, implementations: [] };
}

export function callItem({ name, inputs, signature, hash }: AbiFunction): TableItem {
  const parameters = inputs.map((input) => ({ ...input, isIndexed: false }));
  return {
    ...eventItem({ name, inputs: parameters, signature, topic0: hash, isAnonymous: false }),
    kind: 'call',
  };
}

export const PLACE_COLUMNS = {
  chain_id: 'bigint',
  block_number: 'bigint',
  transaction_index: 'integer',
  log_index: 'integer',
  block_time: 'timestamp with time zone',
  transaction_hash: 'bytea',
  contract: 'bytea',
} as const;

export const CALL_COLUMNS: readonly ParameterColumn[] = [
  callColumn('sender', 'bytea', 'address'),
  callColumn('native_value', 'numeric', 'uint256'),
  // Receipts before Byzantium have no status.
  { ...callColumn('success', 'boolean', 'bool'), isNullable: true },
];

function callColumn(name: string, type: ParameterColumn['type'], abiType: string): ParameterColumn {
  return { name, type, abiType: { name, type: abiType }, isHash: false };
}

/** Log or call data that the ABI does not fit. All parameters are then null. */
export const UNDECODED = 'undecoded';

const QUERY_NAMES = ['chain', 'cursor', 'limit', 'order', 'from_block', 'to_block', 'from_date', 'to_date'];

/** `incoming_contracts_` plus this fits 63 bytes. */
const TABLE_BYTES = 44;
const COLUMN_BYTES = 59;

export function eventTable(contract: string, event: string, item: TableItem): EventTable {
  const table = `${contract}_${event}`;
  return {
    ...item,
    ...{ contract, event },
    name: `contracts.${table}`,
    view: `analytics.contract_${table}`,
    parameters:
      item.kind === 'event'
        ? parameterColumns(item.abi, [])
        : [
            ...CALL_COLUMNS,
            ...parameterColumns(
              item.abi,
              CALL_COLUMNS.map((column) => column.name),
            ),
          ],
  };
}

/** Such as `owner_bytes`: the view's texts have no index. */
export function bytesColumns({ parameters }: Pick<EventTable, 'parameters'>): ReadonlyMap<string, string> {
  const bytes = parameters.filter(({ type }) => type === 'bytea').map(({ name }) => name);
  const taken = [...Object.keys(PLACE_COLUMNS), ...parameters.map(({ name }) => name)];
  const names = distinctNames(
    bytes.map((name) => cutName(`${name}_bytes`, COLUMN_BYTES)),
    taken,
  );
  return new Map(bytes.map((name, index) => [name, names[index] ?? '']));
}

/** In order. Overloads get a number. @param taken earlier names */
export function eventNames(
  contract: string,
  items: readonly TableItem[],
  taken: readonly string[],
): readonly string[] {
  const bytesMax = TABLE_BYTES - contract.length - OVERLOAD_BYTES;
  return distinctNames(
    items.map(({ kind, abi: { name } }) => sqlName(kind === 'call' ? `${name}_call` : name, bytesMax) || 'event'),
    taken,
  );
}

const OVERLOAD_BYTES = 5;

/** @param taken further names that no column may have */
export function parameterColumns({ inputs }: AbiEvent, taken: readonly string[]): readonly ParameterColumn[] {
  const names = distinctNames(
    inputs.map(({ name }, index) => sqlName(name, COLUMN_BYTES) || `arg${index}`),
    [...Object.keys(PLACE_COLUMNS), UNDECODED, ...QUERY_NAMES, ...taken],
  );
  return inputs.map(({ isIndexed, ...abiType }, index) => {
    const isLongerThanWord = abiType.type === 'string' || abiType.type === 'bytes' || isNested(abiType);
    const isHash = isIndexed && isLongerThanWord;
    return { name: names[index] ?? '', type: isHash ? 'bytea' : columnType(abiType), abiType, isHash };
  });
}

function isNested({ type }: AbiType): boolean {
  return type === 'tuple' || type.endsWith(']');
}

function columnType(abiType: AbiType): ParameterColumn['type'] {
  const { type } = abiType;
  if (isNested(abiType)) return 'jsonb';
  if (type === 'bool') return 'boolean';
  if (type === 'string') return 'text';
  return type === 'address' || type.startsWith('bytes') ? 'bytea' : 'numeric';
}
