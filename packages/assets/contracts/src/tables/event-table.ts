import { type Address, type Hash, keccak256Hex } from '@chainstead/core';
import type { AbiEvent, AbiFunction, AbiType } from '@chainstead/events/decoding';

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
function parameterColumns({ inputs }: AbiEvent, taken: readonly string[]): readonly ParameterColumn[] {
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

/** `_from`: `from_`, as `FROM` is reserved. May be empty. @param bytesMax longer: cut, hashed */
export function sqlName(name: string, bytesMax: number): string {
  const snake = name
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
    .replaceAll(/^_+|_+$/g, '');
  const whole = RESERVED.has(snake) ? `${snake}_` : /^\d/.test(snake) ? `n${snake}` : snake;
  return cutName(whole, bytesMax);
}

export function cutName(name: string, bytesMax: number): string {
  if (name.length <= bytesMax) return name;
  const hash = keccak256Hex(Buffer.from(name)).slice(2, 2 + HASH_DIGITS);
  return `${name.slice(0, bytesMax - HASH_DIGITS - 1)}_${hash}`;
}

export function distinctNames(names: readonly string[], taken: readonly string[]): readonly string[] {
  const used = new Set(taken);
  // A later name may look numbered: names without a number are given out first.
  const kept = names.map((name) => {
    if (used.has(name)) return null;
    used.add(name);
    return name;
  });
  return names.map((name, position) => kept[position] ?? numbered(name, used));
}

function numbered(name: string, used: Set<string>): string {
  for (let number = 2; ; number++) {
    const found = `${name}_${number}`;
    if (used.has(found)) continue;
    used.add(found);
    return found;
  }
}

const HASH_DIGITS = 8;

/**
 * @see https://www.postgresql.org/docs/current/sql-keywords-appendix.html "reserved"
 * @see https://www.postgresql.org/docs/current/ddl-system-columns.html
 */
const RESERVED: ReadonlySet<string> = new Set(
  `all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate collation column concurrently constraint
  create cross current_catalog current_date current_role current_schema current_time current_timestamp current_user default deferrable desc distinct
  do else end except false fetch for foreign freeze from full grant group having ilike in initially inner intersect into is isnull join lateral
  leading left like limit localtime localtimestamp natural not notnull null offset on only or order outer overlaps placing primary references
  returning right select session_user similar some symmetric system_user table tablesample then to trailing true union unique user using variadic
  verbose when where window with
  cmax cmin ctid tableoid xmax xmin`.split(/\s+/),
);
