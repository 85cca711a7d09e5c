import { columnSchema, type ParameterColumn, parameterColumns } from '@chainstead/contracts';
import type { Address } from '@chainstead/core';
import { address, addressKey, hash, hexadecimal, int8Text, logPlace, uint256 } from '@chainstead/db/column-types';
import { distributedBy, LOG_PLACE, storedTable } from '@chainstead/db/table-storage';
import { type DefinedEvent, defineEvent } from '@chainstead/events/decoding';
import { type Dataset, eventDataset, eventRows } from '@chainstead/sync/datasets';
import { boolean, type PgColumnBuilderBase, type PgTable } from 'drizzle-orm/pg-core';

/** Rows of accounts: table, view, list and documents follow from it. The list is in `manifests.ts`. */
export interface AccountEvents<Row = unknown> extends Dataset<Row> {
  readonly endpoint: AccountEndpoint;
  /** In the database: `table` as drizzle knows it. */
  readonly definition: PgTable;
  /** The view's description in docs/api/sql.md. */
  readonly description: string;
  readonly fields: readonly AccountField[];
  /** Columns of the view alone. */
  readonly viewColumns?: readonly string[];
}

export interface AccountEndpoint {
  readonly subject: 'wallet' | 'contract';
  /** The last part of the path. */
  readonly name: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  /** `A page of …` */
  readonly noun: string;
  /** In the document. */
  readonly schema: string;
}

/** A field of responses, which the view has too. */
export interface AccountField {
  readonly name: string;
  readonly column: string;
  readonly type: 'bytes' | 'digits' | 'boolean';
  /** In bytes, for `bytes`. @default 20 */
  readonly width?: number;
  /** For true and false. */
  readonly words?: readonly [string, string];
  readonly description?: string;
}

export function pathOf({ subject, name }: AccountEndpoint): string {
  return `/api/v2.2/${subject}s/{address}/${name}`;
}

/**
 * One row per event, for the account that a parameter names: by default the first indexed address, else
 * the first one. Without an address, for the contract.
 * @throws TypeError for parameters without a name or longer than a word
 * @example accountEvents('vault-deposits', 'event Deposit(address indexed sender, uint256 assets)')
 */
export function accountEvents(
  name: string,
  line: string,
  options: { readonly account?: string } = {},
): AccountEvents {
  const event: DefinedEvent = defineEvent(line);
  const { inputs, name: eventName } = event.abi;
  if (inputs.some((input) => input.name === '')) throw new TypeError(`Each parameter needs a name: ${line}`);
  const addresses = inputs.filter(({ type }) => type === 'address');
  const chosen = options.account ?? (addresses.find(({ isIndexed }) => isIndexed) ?? addresses[0])?.name;
  const others = inputs.filter((input) => input.name !== chosen);
  if (options.account !== undefined && others.length === inputs.length)
    throw new TypeError(`${line} has no parameter ${options.account}`);
  const columns = parameterColumns({ ...event.abi, inputs: others }, ['account', 'account_key']);
  const long = columns.find(({ type, isHash }) => isHash || type === 'text' || type === 'jsonb');
  if (long !== undefined) throw new TypeError(`The parameter ${long.name} is longer than a word`);
  const table = accountTable(name.replaceAll('-', '_'), columns, chosen !== undefined);
  const subject = chosen === undefined ? 'contract' : 'wallet';
  const pascal = name.replaceAll(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase());
  const summary = `List ${eventName} events by ${subject}`;
  return {
    ...eventDataset({
      name,
      table,
      events: [
        eventRows(event, (stored, { address: contract }) => {
          const values = new Map<string | undefined, unknown>(Object.entries(stored));
          // The ABI says that it is an address.
          const account = chosen === undefined ? contract : (values.get(chosen) as Address);
          const own = columns.map(({ name: column, type }, index) => {
            const value = values.get(others[index]?.name);
            return [column, type === 'numeric' ? String(value) : value];
          });
          return { accountKey: addressKey(account), account, contract, ...Object.fromEntries(own) };
        }),
      ],
    }),
    definition: table,
    description: `${eventName} events. Find them by account_key and account_bytes.`,
    fields: [
      { name: 'account', column: 'account', type: 'bytes', description: accountText(chosen) },
      ...(chosen === undefined ? [] : [CONTRACT]),
      ...columns.map(fieldOf),
    ],
    endpoint: {
      ...{ subject, name, operationId: `get${subject === 'wallet' ? 'Wallet' : 'Contract'}${pascal}`, summary },
      description: `${eventName} events of a ${subject}, by block number, newest first by default. Chainstead extension: the hosted API has no such route.`,
      ...{ noun: `${eventName} events`, schema: pascal },
    },
  };
}

const CONTRACT: AccountField = {
  ...{ name: 'contract', column: 'contract', type: 'bytes' },
  description: 'The contract that emitted the event',
};

function accountText(parameter: string | undefined): string {
  return parameter === undefined
    ? 'The contract that emitted the event'
    : `Parameter \`${parameter}\` of type address.`;
}

function fieldOf(column: ParameterColumn): AccountField {
  const { name, type, abiType } = column;
  const { description = '' } = columnSchema(column);
  if (type === 'boolean') return { name, column: name, type, description };
  if (type === 'numeric') return { name, column: name, type: 'digits', description };
  const width = abiType.type === 'address' ? ADDRESS_BYTES : Number(abiType.type.slice('bytes'.length));
  return { name, column: name, type: 'bytes', width, description };
}

const ADDRESS_BYTES = 20;

function accountTable(name: string, parameters: readonly ParameterColumn[], hasContract: boolean) {
  // Columns of fixed width first: nothing is lost to alignment.
  const byWidth = parameters.toSorted(
    (one, other) => Number(other.type === 'boolean') - Number(one.type === 'boolean'),
  );
  const columns: Record<string, PgColumnBuilderBase> = {
    ...{ account: address('account').notNull(), ...(hasContract && { contract: address('contract').notNull() }) },
    ...Object.fromEntries(byWidth.map(({ name, type }) => [name, columnOf(name, type)])),
  };
  return storedTable(
    name,
    {
      accountKey: int8Text('account_key').notNull(),
      ...logPlace(),
      ...columns,
      transactionHash: hash('transaction_hash').notNull(),
    },
    {
      ...{ writes: 'append', placement: distributedBy('account', 'account_key'), isPartitioned: true },
      key: ['accountKey', ...LOG_PLACE],
    },
  );
}

function columnOf(name: string, type: ParameterColumn['type']): PgColumnBuilderBase {
  if (type === 'boolean') return boolean(name).notNull();
  return type === 'numeric' ? uint256(name).notNull() : hexadecimal(name).notNull();
}
