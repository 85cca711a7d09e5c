import { type Database, type Sql, sql } from '@chainstead/db';
import { each, inside, routesFor, view, wire } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { type ContractDefinition, type Factory, readDefinitions } from '../definitions/contract-definition.ts';
import type { EventTable, ParameterColumn } from '../tables/event-table.ts';
import { EVENT_KEY } from '../tables/row-table.ts';

type Indexes = Awaited<ReturnType<typeof readIndexes>>;
type IndexedTable = EventTable & { readonly indexes: Indexes };
type IndexedColumn = ParameterColumn & { readonly isIndexed: boolean };

const { flag, quantity, text } = wire;
const texts = wire.wire(z.array(z.string()).readonly());
const columnType = wire.wire(z.enum(['numeric', 'bytea', 'boolean', 'text', 'jsonb']));

const columnView = view(null, (column: IndexedColumn) => column, {
  name: text('Name in params, filters and SQL'),
  type: columnType('Type of the column in Postgres'),
  abi_type: text({ description: 'Type in the ABI', example: 'uint256' }, ({ abiType }) => abiType.type),
  is_hash: flag('true if the column contains the Keccak-256 hash of the value', ({ isHash }) => isHash),
  is_indexed: flag('true if an index allows filters on the column', ({ isIndexed }) => isIndexed),
});

const eventView = view(null, (table: IndexedTable) => table, {
  name: text({ description: 'Name of the event in paths', example: 'deposit' }, ({ event }) => event),
  signature: text('Name and types from the ABI', ({ abi }) => abi.signature),
  table: text({ description: 'Table in Postgres', example: 'contracts.vault_deposit' }, ({ name }) => name),
  view: text('View with readable addresses and bytes'),
  columns: each(columnView)(
    'Columns of the parameters, in the order of the ABI',
    ({ name, indexes, parameters }) => {
      const indexed = indexes.get(name);
      return parameters.map((column) => ({ ...column, isIndexed: indexed?.has(column.name) === true }));
    },
  ),
});

const factoryView = view(null, (factory: Factory) => factory, {
  event: text({ description: 'Event that names a child, in paths', example: 'pool_created' }),
  child: text({ description: 'Column with the address of the child', example: 'pool' }),
  contract: text.orNull(
    {
      description: 'Contract whose children are the factories. null: the addresses are',
      example: 'hubs',
    },
    ({ of }) => of,
  ),
});

const contractView = view(null, (contract: ContractDefinition & { readonly indexes: Indexes }) => contract, {
  name: text({ description: 'Name of the contract in paths', example: 'vault' }),
  chain: quantity({ description: 'Hexadecimal chain ID', example: '0x1' }, ({ chainId }) => chainId),
  addresses: texts('Addresses whose events are indexed, in lower case'),
  first_block: text.orNull(
    "First indexed block. null: the first block of the chain's history",
    ({ firstBlock }) => firstBlock?.toString() ?? null,
  ),
  factory: inside(factoryView).orNull('Factory of the contracts. null: the addresses emit the events'),
  suspended_reason: text.orNull(
    'Limit that the tables exceed, so that no more events are stored. null: indexed',
    ({ suspendedReason }) => suspendedReason,
  ),
  events: each(eventView)('Indexed events', ({ tables, indexes }) =>
    tables.map((table) => ({ ...table, indexes })),
  ),
});

const ownContracts = view(
  'OwnContracts',
  (definitions: readonly ContractDefinition[], indexes: Indexes) => ({ definitions, indexes }),
  {
    result: each(contractView)('All contracts', ({ definitions, indexes }) =>
      definitions.map((definition) => ({ ...definition, indexes })),
    ),
  },
);

/** docs/api/contracts.md#contracts */
export const contractsRoute = routesFor<unknown>().defineRoute({
  path: '/api/v2.2/contracts',
  operationId: 'getOwnContracts',
  tag: 'Contracts',
  summary: 'List your own contracts',
  description:
    'Contracts that the operator added, by name and chain, with their events, tables and columns. Chainstead extension: the hosted API has no such route.',
  response: { description: 'The contracts', schema: ownContracts.schema },
  async answer({ reads }) {
    const [definitions, indexes] = await Promise.all([
      readDefinitions({ query: (statement) => reads.select(statement) }),
      readIndexes({ query: (text) => reads.select(text) }),
    ]);
    return ownContracts.show(definitions, indexes);
  },
});

/** `jsonb` lists, without partial, invalid and expression indexes. @param oid null: empty */
export function indexColumns(oid: Sql): Sql {
  return sql`coalesce((SELECT jsonb_agg(ARRAY(
      SELECT attribute.attname FROM unnest(index.indkey) WITH ORDINALITY AS key (attnum, place)
        JOIN pg_attribute AS attribute ON attribute.attrelid = index.indrelid AND attribute.attnum = key.attnum ORDER BY key.place))
    FROM pg_index AS index
    WHERE index.indrelid = ${oid} AND index.indisvalid AND index.indpred IS NULL AND index.indexprs IS NULL), '[]')`;
}

/** Columns that lead an index with the row key next: pages of a value are ranges of it. */
export function indexedColumns(indexes: readonly (readonly string[])[]): ReadonlySet<string> {
  const wanted = EVENT_KEY.join();
  return new Set(
    indexes.flatMap(([first, ...rest]) => (first !== undefined && rest.join() === wanted ? [first] : [])),
  );
}

export async function readIndexes(
  database: Pick<Database, 'query'>,
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const rows = await database.query<{ name: string; indexes: readonly (readonly string[])[] }>(INDEXES);
  return new Map(rows.map(({ name, indexes }) => [name, indexedColumns(indexes)]));
}

const INDEXES = sql`SELECT 'contracts.' || relname AS name, ${indexColumns(sql`indexed_table.oid`)} AS indexes
  FROM pg_class AS indexed_table WHERE relnamespace = to_regnamespace('contracts') AND relkind = 'p'`;
