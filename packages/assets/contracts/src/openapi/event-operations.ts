import type { ChainRegistry } from '@chainstead/chains';
import type { ChainId } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { AbiType } from '@chainstead/events/decoding';
import type { DocumentAdditions } from '@chainstead/http/server';
import { z } from 'zod';
import { type ContractDefinition, readDefinitions, readRevision } from '../definitions/contract-definition.ts';
import { readIndexes } from '../routes/contracts-route.ts';
import { columnValues } from '../routes/event-filters.ts';
import type { EventTable, ParameterColumn } from '../tables/event-table.ts';

const TEMPLATE = '/api/v2.2/contracts/{name}/{event}';
const GROUP = 'Events of your contracts';
const EVENTS_MAX = 200;

export function createEventOperations(
  database: Pick<Database, 'query'>,
  chains: Pick<ChainRegistry, 'find'>,
  eventsMax: number = EVENTS_MAX,
): DocumentAdditions {
  return {
    readState: () => readRevision(database),
    async read() {
      const [definitions, indexes] = [await readDefinitions(database), await readIndexes(database)];
      const events = listEvents(
        definitions,
        indexes,
        (id) => chains.find(String(id))?.key ?? `0x${id.toString(16)}`,
      );
      return (document) => withEvents(document, events, eventsMax);
    },
  };
}

interface DocumentedEvent {
  readonly table: EventTable;
  readonly chains: readonly string[];
  readonly indexed: ReadonlySet<string>;
}

function listEvents(
  definitions: readonly ContractDefinition[],
  indexes: ReadonlyMap<string, ReadonlySet<string>>,
  keyOf: (id: ChainId) => string,
): readonly DocumentedEvent[] {
  const places = definitions.flatMap(({ chainId, tables }) =>
    tables.map((table) => ({ table, key: keyOf(chainId) })),
  );
  return [...Map.groupBy(places, ({ table }) => table.name)].flatMap(([name, ofTable]) => {
    const chains = ofTable.map(({ key }) => key);
    return ofTable.slice(0, 1).map(({ table }) => ({ table, chains, indexed: indexes.get(name) ?? new Set() }));
  });
}

const parameterShape = z.looseObject({ name: z.string(), in: z.string() });
const operationShape = z.looseObject({
  parameters: z.array(parameterShape).default([]),
  responses: z.record(z.string(), z.looseObject({})),
});
const documentShape = z.looseObject({
  tags: z.array(z.looseObject({ name: z.string() })).default([]),
  paths: z.record(z.string(), z.record(z.string(), z.looseObject({}))),
  components: z.looseObject({ schemas: z.record(z.string(), z.looseObject({})) }),
});
const pageShape = z.looseObject({
  properties: z.looseObject({
    result: z.looseObject({ items: z.looseObject({ properties: z.looseObject({}) }) }),
  }),
});

type Operation = z.infer<typeof operationShape>;
type Page = z.infer<typeof pageShape>;

function withEvents(given: object, events: readonly DocumentedEvent[], eventsMax: number): object {
  const document = documentShape.parse(given);
  const template = document.paths[TEMPLATE]?.get;
  if (events.length === 0 || template === undefined) return given;
  const operation = operationShape.parse(template);
  const page = pageShape.parse(document.components.schemas.ContractEvents);
  const added = events.slice(0, eventsMax).map((event) => {
    const { contract, event: name } = event.table;
    return [`/api/v2.2/contracts/${contract}/${name}`, { get: operationOf(operation, page, event) }] as const;
  });
  const left = events.length - added.length;
  const description = `Decoded events of contracts that the operator added.${left === 0 ? '' : ` ${left} more events have no entry.`}`;
  const place = document.tags.findIndex(({ name }) => name === 'Contracts') + 1;
  return {
    ...document,
    tags: document.tags.toSpliced(place, 0, { name: GROUP, description }),
    paths: { ...document.paths, ...Object.fromEntries(added) },
  };
}

function operationOf(template: Operation, page: Page, event: DocumentedEvent): object {
  const { contract, event: name, abi, name: tableName, parameters: columns } = event.table;
  const shared = template.parameters.filter(
    ({ in: place, name: given }) => place === 'query' && given !== 'filters',
  );
  return {
    ...template,
    operationId: `getOwnContractEvents-${contract}-${name}`,
    tags: [GROUP],
    summary: `List ${contract} ${name} events`,
    description: `Rows of the table ${tableName}, with the event \`${abi.signature}\`. Other columns than those below have no index to filter by.`,
    parameters: [
      ...shared.map((parameter) =>
        parameter.name === 'chain' ? chainParameter(parameter, event.chains) : parameter,
      ),
      ...columns.filter((column) => event.indexed.has(column.name)).flatMap(filtersOf),
    ],
    responses: { ...template.responses, '200': responseOf(page, event.table) },
  };
}

const DEFAULT_CHAIN = 'eth';

function chainParameter(template: object, chains: readonly string[]): object {
  return {
    ...template,
    required: !chains.includes(DEFAULT_CHAIN),
    schema: { type: 'string', enum: chains },
    example: chains[0],
  };
}

function filtersOf(column: ParameterColumn): readonly object[] {
  const values = columnValues(column);
  if (values === null) return [];
  const { name, type } = column;
  const schema = { type: type === 'boolean' ? 'boolean' : 'string' };
  const filter = (suffix: string, relation: string): object => ({
    ...{ name: `${name}${suffix}`, in: 'query', required: false, schema },
    description: `Rows whose ${name} is ${relation}: ${values.allowed}.`,
  });
  return [
    filter('', 'equal to a value'),
    ...(type === 'numeric' ? RANGES.map(([suffix, relation]) => filter(suffix, relation)) : []),
  ];
}

const RANGES = [
  ['.gte', 'greater than or equal to a value'],
  ['.gt', 'greater than a value'],
  ['.lte', 'less than or equal to a value'],
  ['.lt', 'less than a value'],
] as const;

function responseOf(page: Page, { parameters }: EventTable): object {
  const { items, ...result } = page.properties.result;
  const params: JsonSchema = {
    type: 'object',
    description: 'Values of the parameters by column.',
    properties: Object.fromEntries(parameters.map((column) => [column.name, columnSchema(column)])),
    required: parameters.map(({ name }) => name),
  };
  const rows = { ...result, items: { ...items, properties: { ...items.properties, params } } };
  const schema = { ...page, properties: { ...page.properties, result: rows } };
  return { description: 'A page of decoded events', content: { 'application/json': { schema } } };
}

interface JsonSchema {
  readonly type: string;
  readonly description?: string;
  readonly pattern?: string;
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
}

function columnSchema({ type, abiType, isHash }: ParameterColumn): JsonSchema {
  const { name, type: abi } = abiType;
  const parameter = name === '' ? 'Parameter without a name' : `Parameter \`${name}\``;
  if (isHash)
    return {
      ...bytesSchema(HASH_BYTES),
      description: `${parameter}: Keccak-256 hash of a value of type ${abi}.`,
    };
  const description = `${parameter} of type ${abi}.`;
  switch (type) {
    case 'numeric':
      return { type: 'string', pattern: abi.startsWith('int') ? '^-?[0-9]+$' : '^[0-9]+$', description };
    case 'boolean':
      return { type: 'boolean', description };
    case 'text':
      return { type: 'string', description };
    case 'bytea':
      return {
        ...bytesSchema(abi === 'address' ? ADDRESS_BYTES : Number(abi.slice('bytes'.length))),
        description,
      };
    case 'jsonb':
      return { ...nestedSchema(abiType), description };
  }
}

const HASH_BYTES = 32;
const ADDRESS_BYTES = 20;

function bytesSchema(bytes: number): JsonSchema {
  return { type: 'string', pattern: `^0x${bytes === 0 ? '([0-9a-f]{2})*' : `[0-9a-f]{${2 * bytes}}`}$` };
}

/** Leaves are texts. Unnamed or equally named members make a list. */
function nestedSchema({ type, components = [] }: AbiType): JsonSchema {
  if (type.endsWith(']')) {
    const item = { name: '', type: type.slice(0, type.lastIndexOf('[')), components };
    return { type: 'array', items: nestedSchema(item) };
  }
  if (type !== 'tuple') return { type: 'string' };
  const names = components.map(({ name }) => name);
  if (names.includes('') || new Set(names).size < names.length) return { type: 'array' };
  const members = components.map((component) => [component.name, nestedSchema(component)] as const);
  return { type: 'object', properties: Object.fromEntries(members), required: names };
}
