import { defineRoute, type RouteModule } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { type ContractDefinition, readDefinitions } from '../definitions/contract-definition.ts';
import type { EventTable } from '../tables/event-table.ts';
import { readIndexes } from './event-indexes.ts';

/** docs/api/contracts.md#contracts */
export const contractsRoute: RouteModule = (app, dependencies) => {
  const { reads } = dependencies;
  defineRoute(app, dependencies, {
    path: '/api/v2.2/contracts',
    operationId: 'getOwnContracts',
    tags: ['Contracts'],
    summary: 'List your own contracts',
    description:
      'Contracts that the operator added, by name and chain, with their events, tables and columns. Chainstead extension: the hosted API has no such route.',
    response: {
      description: 'The contracts',
      schema: z
        .object({ result: z.array(contractSchema).openapi({ description: 'All contracts' }) })
        .openapi('OwnContracts'),
    },
    async answer() {
      const [definitions, indexes] = await Promise.all([
        readDefinitions({ query: (statement) => reads.select(statement) }),
        readIndexes({ query: (text) => reads.select(text) }),
      ]);
      return { result: definitions.map((definition) => showContract(definition, indexes)) };
    },
  });
};

const columnSchema = z.object({
  name: z.string().openapi({ description: 'Name in params, filters and SQL' }),
  type: z
    .enum(['numeric', 'bytea', 'boolean', 'text', 'jsonb'])
    .openapi({ description: 'Type of the column in Postgres' }),
  abi_type: z.string().openapi({ description: 'Type in the ABI', example: 'uint256' }),
  is_hash: z.boolean().openapi({ description: 'true if the column contains the Keccak-256 hash of the value' }),
  is_indexed: z.boolean().openapi({ description: 'true if an index allows filters on the column' }),
});

const eventSchema = z.object({
  name: z.string().openapi({ description: 'Name of the event in paths', example: 'deposit' }),
  signature: z.string().openapi({ description: 'Name and types from the ABI' }),
  table: z.string().openapi({ description: 'Table in Postgres', example: 'contracts.vault_deposit' }),
  view: z.string().openapi({ description: 'View with readable addresses and bytes' }),
  columns: z.array(columnSchema).openapi({ description: 'Columns of the parameters, in the order of the ABI' }),
});

const factorySchema = z.object({
  event: z.string().openapi({ description: 'Event that names a child, in paths', example: 'pool_created' }),
  child: z.string().openapi({ description: 'Column with the address of the child', example: 'pool' }),
  contract: z.string().nullable().openapi({
    description: 'Contract whose children are the factories. null: the addresses are',
    example: 'hubs',
  }),
});

const contractSchema = z.object({
  name: z.string().openapi({ description: 'Name of the contract in paths', example: 'vault' }),
  chain: z.string().openapi({ description: 'Hexadecimal chain ID', example: '0x1' }),
  addresses: z.array(z.string()).openapi({ description: 'Addresses whose events are indexed, in lower case' }),
  first_block: z
    .string()
    .nullable()
    .openapi({ description: "First indexed block. null: the first block of the chain's history" }),
  factory: factorySchema
    .nullable()
    .openapi({ description: 'Factory of the contracts. null: the addresses emit the events' }),
  suspended_reason: z
    .string()
    .nullable()
    .openapi({ description: 'Limit that the tables exceed, so that no more events are stored. null: indexed' }),
  events: z.array(eventSchema).openapi({ description: 'Indexed events' }),
});

function showContract(
  { name, chainId, addresses, firstBlock, tables, factory, suspendedReason }: ContractDefinition,
  indexes: ReadonlyMap<string, ReadonlySet<string>>,
): z.infer<typeof contractSchema> {
  return {
    name,
    chain: `0x${chainId.toString(16)}`,
    addresses: [...addresses],
    first_block: firstBlock?.toString() ?? null,
    factory: factory === null ? null : { event: factory.event, child: factory.child, contract: factory.of },
    suspended_reason: suspendedReason,
    events: tables.map((table) => showEvent(table, indexes.get(table.name) ?? NO_COLUMNS)),
  };
}

const NO_COLUMNS: ReadonlySet<string> = new Set();

function showEvent(
  { event, abi, name, view, parameters }: EventTable,
  indexed: ReadonlySet<string>,
): z.infer<typeof eventSchema> {
  return {
    name: event,
    signature: abi.signature,
    table: name,
    view,
    columns: parameters.map((column) => ({
      name: column.name,
      type: column.type,
      abi_type: column.abiType.type,
      is_hash: column.isHash,
      is_indexed: indexed.has(column.name),
    })),
  };
}
