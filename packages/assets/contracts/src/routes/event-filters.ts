import { hexBytes } from '@chainstead/db';
import { InvalidParameterError, type ParameterProblem } from '@chainstead/http';
import type { EventTable, ParameterColumn } from '../tables/event-table.ts';

export interface ColumnFilter {
  readonly column: ParameterColumn;
  readonly operator: '=' | '>=' | '>' | '<=' | '<';
  readonly value: FilterValue;
}

export interface EventFilters {
  /** Null: the primary key. */
  readonly leading: {
    readonly column: ParameterColumn;
    /** Null: a range, which orders rows. */
    readonly value: FilterValue | null;
  } | null;
  readonly filters: readonly ColumnFilter[];
}

export interface FilteredEvent {
  readonly table: EventTable;
  readonly indexed: ReadonlySet<string>;
  commandOf(column: string): string;
}

const PAGE_PARAMETERS = [
  ...['chain', 'from_block', 'to_block', 'from_date', 'to_date'],
  ...['limit', 'order', 'cursor'],
] as const;

/** Characters of all filters: a cursor contains them. */
const FILTERS_LENGTH_MAX = 2_000;

/** Sorted `name=value`. @throws InvalidParameterError if too long */
export function filterTexts(query: Readonly<Record<string, unknown>>): readonly string[] {
  const known: ReadonlySet<string> = new Set(PAGE_PARAMETERS);
  const texts = Object.entries(query)
    .filter(([name]) => !known.has(name))
    .flatMap(([name, value]) => (Array.isArray(value) ? value : [value]).map((one) => `${name}=${String(one)}`));
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  if (length > FILTERS_LENGTH_MAX)
    throw new InvalidParameterError({
      parameter: 'filters',
      message: `Filters may have ${FILTERS_LENGTH_MAX} characters together, they have ${length}`,
    });
  return texts.toSorted();
}

/** @param texts {@link filterTexts} @throws InvalidParameterError with all problems */
export function readFilters(event: FilteredEvent, texts: readonly string[]): EventFilters {
  const given = Map.groupBy(texts, (text) => text.slice(0, text.indexOf('=')));
  const read = [...given].map(([name, ofName]) => readFilter(event, name, ofName));
  const problems = read.flatMap((one) => ('parameter' in one ? [one] : []));
  if (problems.length > 0) throw new InvalidParameterError(...problems);
  const filters = read.flatMap((one) => ('parameter' in one ? [] : [one]));
  const values = filters.filter(({ operator }) => operator === '=');
  const [first] = values.toSorted((one, other) => rankOf(one) - rankOf(other));
  if (first !== undefined) return { leading: first, filters };
  const columns = [...new Set(filters.map(({ column }) => column))];
  const [ranged] = columns;
  if (columns.length > 1)
    throw new InvalidParameterError({
      parameter: columns.map(({ name }) => name).join(', '),
      message: `Ranges of several parameters (${columns.map(({ name }) => name).join(', ')}) need an equality filter, such as ${ranged?.name}=1`,
    });
  return { leading: ranged === undefined ? null : { column: ranged, value: null }, filters };
}

const OPERATORS: ReadonlyMap<string, ColumnFilter['operator']> = new Map([
  ['gte', '>='],
  ['gt', '>'],
  ['lte', '<='],
  ['lt', '<'],
]);

function readFilter(
  event: FilteredEvent,
  name: string,
  texts: readonly string[],
): ColumnFilter | ParameterProblem {
  const [columnName = '', suffix, ...more] = name.split('.');
  const column = event.table.parameters.find((one) => one.name === columnName);
  const operator = suffix === undefined ? '=' : OPERATORS.get(suffix);
  if (column === undefined || operator === undefined || more.length > 0)
    return { parameter: name, message: unknownMessage(event, name) };
  const [text = ''] = texts.map((one) => one.slice(name.length + 1));
  if (texts.length > 1)
    return { parameter: name, message: `${name} may be given once, it was given ${texts.length} times` };
  const values = columnValues(column);
  if (values === null)
    return {
      parameter: name,
      message: `${column.name} can't be filtered by: it has type ${column.abiType.type}`,
    };
  if (operator !== '=' && column.type !== 'numeric')
    return {
      parameter: name,
      message: `${name} is no filter: ranges need a number, and ${column.name} has type ${column.abiType.type}`,
    };
  const value = values.parse(text);
  if (value === undefined) return { parameter: name, given: text, allowed: values.allowed };
  if (!event.indexed.has(column.name))
    return {
      parameter: name,
      message: `${column.name} has no index. Add one with: ${event.commandOf(column.name)}`,
    };
  return { column, operator, value };
}

function unknownMessage({ table, indexed }: FilteredEvent, name: string): string {
  const filters = table.parameters.flatMap((column) => {
    if (!indexed.has(column.name) || columnValues(column) === null) return [];
    return [column.type === 'numeric' ? `${column.name} (also with .gte, .gt, .lte, .lt)` : column.name];
  });
  return `${JSON.stringify(name.slice(0, SHOWN_LENGTH))} is no parameter of this route: use ${[...PAGE_PARAMETERS, ...filters].join(', ')}`;
}

const SHOWN_LENGTH = 64;

function rankOf({ column }: ColumnFilter): number {
  return ['bytea', 'numeric', 'text', 'boolean', 'jsonb'].indexOf(column.type);
}

interface ColumnValues {
  readonly allowed: string;
  parse(text: string): FilterValue | undefined;
}

type FilterValue = Buffer | string | boolean;

export function columnValues({ type, abiType, isHash }: ParameterColumn): ColumnValues | null {
  switch (type) {
    case 'jsonb':
      return null;
    case 'text':
      return { allowed: 'a text', parse: (text) => text };
    case 'boolean':
      return { allowed: 'true or false', parse: (text) => BOOLEANS.get(text.toLowerCase()) };
    case 'bytea':
      return isHash ? bytesOf('a Keccak-256 hash', HASH_BYTES) : bytesOfType(abiType.type);
    case 'numeric':
      return integersOfType(abiType.type);
  }
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
]);
const HASH_BYTES = 32;
const ADDRESS_BYTES = 20;

function bytesOfType(abiType: string): ColumnValues {
  if (abiType === 'address') return bytesOf('a hexadecimal address', ADDRESS_BYTES);
  const length = Number(abiType.slice('bytes'.length));
  return length > 0
    ? bytesOf(`a value of type ${abiType}`, length)
    : {
        allowed: 'hexadecimal bytes (0x and an even number of digits)',
        parse: (text) => (/^0x(?:[0-9a-f]{2})*$/i.test(text) ? hexBytes(text) : undefined),
      };
}

function bytesOf(kind: string, length: number): ColumnValues {
  const form = new RegExp(`^0x[0-9a-f]{${2 * length}}$`, 'i');
  return {
    allowed: `${kind} (0x and ${2 * length} digits)`,
    parse: (text) => (form.test(text) ? hexBytes(text) : undefined),
  };
}

function integersOfType(abiType: string): ColumnValues {
  const isSigned = abiType.startsWith('int');
  const bits = BigInt(abiType.slice(isSigned ? 'int'.length : 'uint'.length));
  const exponent = isSigned ? bits - 1n : bits;
  const max = 2n ** exponent - 1n;
  const min = isSigned ? -(2n ** exponent) : 0n;
  return {
    allowed: `a whole number from ${isSigned ? `−2^${exponent}` : '0'} to 2^${exponent} − 1, in decimal digits`,
    parse: (text) => {
      const value = /^-?\d{1,78}$/.test(text) ? BigInt(text) : null;
      return value === null || value < min || value > max ? undefined : value.toString();
    },
  };
}
