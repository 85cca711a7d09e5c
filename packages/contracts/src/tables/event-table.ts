import type { AbiEvent, AbiType } from '@chainstead/decoding';
import { distinctNames, sqlName } from './sql-names.ts';

/** A column for a parameter of an event. */
export interface ParameterColumn {
  readonly name: string;
  /** `numeric` for integers, `jsonb` for arrays and tuples; bytes and addresses are `bytea`. */
  readonly type: 'numeric' | 'bytea' | 'boolean' | 'text' | 'jsonb';
  /** Type in the ABI. */
  readonly abiType: AbiType;
  /** Whether the column holds the hash of a value that is too long for a topic. */
  readonly isHash: boolean;
}

/** The table of an event of a contract. */
export interface EventTable {
  readonly contract: string;
  /** Name of the event in paths and SQL: `deposit`. */
  readonly event: string;
  /** With its schema: `contracts.vault_deposit`. Also the name of the dataset. */
  readonly name: string;
  /** View with readable addresses and bytes: `analytics.contract_vault_deposit`. */
  readonly view: string;
  readonly abi: AbiEvent;
  /** In the order of the ABI. */
  readonly parameters: readonly ParameterColumn[];
}

/** Columns before the parameters. */
export const PLACE_COLUMNS = {
  chain_id: 'bigint',
  block_number: 'bigint',
  transaction_index: 'integer',
  log_index: 'integer',
  block_time: 'timestamp with time zone',
  transaction_hash: 'bytea',
  contract: 'bytea',
} as const;

/** Column with topics and data of a log that its ABI does not fit. All parameters are then null. */
export const UNDECODED = 'undecoded';

/** Names of query parameters of the route that reads the tables. */
const QUERY_NAMES = ['chain', 'cursor', 'limit', 'order', 'from_block', 'to_block', 'from_date', 'to_date'];

/** With `incoming_contracts_` in front, a staging table fits into the 63 bytes of a name. */
const TABLE_BYTES = 44;
const COLUMN_BYTES = 59;

/** Returns the table of an event. @param event its name in paths, unique within the contract */
export function eventTable(contract: string, event: string, abi: AbiEvent): EventTable {
  const table = `${contract}_${event}`;
  return {
    ...{ contract, event, abi },
    name: `contracts.${table}`,
    view: `analytics.contract_${table}`,
    parameters: parameterColumns(abi),
  };
}

/** Returns a name for each event, in order. Overloads of one name get a number. @param taken names of earlier events */
export function eventNames(contract: string, events: readonly AbiEvent[], taken: readonly string[]): readonly string[] {
  const bytesMax = TABLE_BYTES - contract.length - OVERLOAD_BYTES;
  return distinctNames(
    events.map(({ name }) => sqlName(name, bytesMax) || 'event'),
    taken,
  );
}

/** `_1000` */
const OVERLOAD_BYTES = 5;

function parameterColumns({ inputs }: AbiEvent): readonly ParameterColumn[] {
  const names = distinctNames(
    inputs.map(({ name }, index) => sqlName(name, COLUMN_BYTES) || `arg${index}`),
    [...Object.keys(PLACE_COLUMNS), UNDECODED, ...QUERY_NAMES],
  );
  return inputs.map(({ isIndexed, ...abiType }, index) => {
    const isHash = isIndexed && isLongerThanWord(abiType);
    return { name: names[index] ?? '', type: isHash ? 'bytea' : columnType(abiType), abiType, isHash };
  });
}

function isLongerThanWord({ type }: AbiType): boolean {
  return type === 'string' || type === 'bytes' || type === 'tuple' || type.endsWith(']');
}

function columnType({ type }: AbiType): ParameterColumn['type'] {
  if (type === 'tuple' || type.endsWith(']')) return 'jsonb';
  if (type === 'bool') return 'boolean';
  if (type === 'string') return 'text';
  return type === 'address' || type.startsWith('bytes') ? 'bytea' : 'numeric';
}
