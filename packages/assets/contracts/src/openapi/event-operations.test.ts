import { createChainRegistry } from '@chainstead/chains';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { madeForFile, scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { addContract } from '../definitions/add-contract.ts';
import { removeContract } from '../definitions/remove-contract.ts';
import { contractRoutes } from '../routes/contract-routes.ts';
import { depositRow, seedContract, seedRows, VAULT } from '../routes/testing/seeded-contract.ts';
import { createEventOperations } from './event-operations.ts';

const scratch = scratchOfFile();
const registry = createChainRegistry();
const api = madeForFile(() =>
  exampleApi(scratch.database, contractRoutes, { additions: createEventOperations(scratch.database, registry) }),
);
const PATH = '/api/v2.2/contracts/vault/deposit';

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: object;
}
interface Schema {
  readonly properties: Readonly<Record<string, Schema>>;
  readonly items: Schema;
  readonly required?: readonly string[];
}
interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parameters: readonly Parameter[];
  readonly responses: Readonly<Record<string, { content: Record<string, { schema: Schema }> }>>;
}
interface Document {
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, { readonly get: Operation }>>;
}

const readDocument = async () => (await (await api.request('/openapi.json')).json()) as Document;
const ownPaths = async () =>
  Object.keys((await readDocument()).paths).filter((path) => path.startsWith('/api/v2.2/contracts/'));

beforeAll(async () => {
  const table = await seedContract(scratch.database);
  await seedRows(scratch.database, table, [depositRow({ block: 7 })]);
});

async function operationOf(path: string): Promise<Operation> {
  const operation = (await readDocument()).paths[path]?.get;
  if (operation === undefined) throw new RangeError(`The document has no ${path}`);
  return operation;
}

describe('the operation of an event', () => {
  test('describes the event, with its own group and id', async () => {
    const { operationId, summary, description, tags, responses } = await operationOf(PATH);
    expect({ operationId, summary, tags }).toEqual({
      operationId: 'getOwnContractEvents-vault-deposit',
      summary: 'List vault deposit events',
      tags: ['Events of your contracts'],
    });
    expect(description).toBe(
      'Rows of the table contracts.vault_deposit, with the event `Deposit(address,address,string,uint256,int128,bool,bytes4,bytes,string,uint8,uint256[],(uint256,address))`. Other columns than those below have no index to filter by.',
    );
    expect(Object.keys(responses)).toEqual(
      Object.keys((await operationOf('/api/v2.2/contracts/{name}/{event}')).responses),
    );
    const names = (await readDocument()).tags.map(({ name }) => name);
    expect(names[names.indexOf('Contracts') + 1]).toBe('Events of your contracts');
  });

  test('has the parameters of pages, and filters of indexed columns', async () => {
    const { parameters } = await operationOf(PATH);
    const ranges = (name: string) => [name, `${name}.gte`, `${name}.gt`, `${name}.lte`, `${name}.lt`];
    expect(parameters.map(({ name }) => name).toSorted()).toEqual(
      [
        ...['chain', 'from_block', 'to_block', 'from_date', 'to_date', 'limit', 'order', 'cursor'],
        ...['owner', 'from_', 'label', 'is_first', 'id', 'payload', 'note'],
        ...[...ranges('assets'), ...ranges('delta')],
      ].toSorted(),
    );
    const of = (name: string) => parameters.find((parameter) => parameter.name === name);
    expect(of('chain')).toMatchObject({
      required: false,
      schema: { type: 'string', enum: ['eth'] },
      example: 'eth',
    });
    expect(of('delta.lt')).toEqual({
      ...{ name: 'delta.lt', in: 'query', required: false, schema: { type: 'string' } },
      description:
        'Rows whose delta is less than a value: a whole number from −2^127 to 2^127 − 1, in decimal digits.',
    });
    expect(of('is_first')).toMatchObject({ schema: { type: 'boolean' } });
    expect(parameters.every(({ description }) => description !== undefined && description !== '')).toBe(true);
  });

  test('has a typed field for each column, which fits a row', async () => {
    const { responses } = await operationOf(PATH);
    const page = responses['200']?.content['application/json']?.schema;
    const params = page?.properties.result?.items.properties.params;
    const bytes = (digits: number) => ({ type: 'string', pattern: `^0x[0-9a-f]{${digits}}$` });
    const position = {
      type: 'object',
      required: ['__proto__', 'holder'],
      description: 'Parameter `position` of type tuple.',
    };
    const shown = params?.properties ?? {};
    expect(shown).toMatchObject({
      owner: { ...bytes(40), description: 'Parameter `owner` of type address.' },
      from_: { ...bytes(40), description: 'Parameter `from` of type address.' },
      label: { ...bytes(64), description: 'Parameter `label`: Keccak-256 hash of a value of type string.' },
      assets: { type: 'string', pattern: '^[0-9]+$', description: 'Parameter `assets` of type uint256.' },
      delta: { type: 'string', pattern: '^-?[0-9]+$' },
      is_first: { type: 'boolean', description: 'Parameter `isFirst` of type bool.' },
      id: bytes(8),
      payload: { type: 'string', pattern: '^0x([0-9a-f]{2})*$' },
      note: { type: 'string' },
      kind: { type: 'string', pattern: '^[0-9]+$' },
      parts: { type: 'array', items: { type: 'string' } },
      position,
    });
    expect(params?.required).toEqual(Object.keys(shown));
    const response = await api.request(`${PATH}?chain=eth`, { headers: { 'X-API-Key': EXAMPLE_KEY } });
    const { result } = (await response.json()) as { result: { params: Record<string, unknown> }[] };
    expect(Object.keys(result[0]?.params ?? {})).toEqual(Object.keys(shown));
    for (const [name, { type, pattern }] of Object.entries(
      shown as unknown as Record<string, { type: string; pattern?: string }>,
    )) {
      const value = result[0]?.params[name];
      expect([name, Array.isArray(value) ? 'array' : typeof value]).toEqual([name, type]);
      if (pattern !== undefined) expect(value).toMatch(new RegExp(pattern));
    }
  });

  test('is part of the page, and opens', async () => {
    const page = await (await api.request('/docs')).text();
    expect(page).toContain(`<code class="path">${PATH}</code>`);
    const opened = await api.request('/docs/operations/getOwnContractEvents-vault-deposit');
    expect([opened.status, await opened.text()]).toEqual([200, expect.stringContaining('assets.gte')]);
  });
});

const event = (name: string, ...inputs: readonly object[]) => ({ type: 'event', name, inputs });
const add = (name: string, key: string, abi: readonly object[]) =>
  addContract(scratch.database, {
    ...{ name, abi, chain: registry.get(key), addresses: [VAULT], factory: null, firstBlock: 1 },
    ...{ events: null, indexed: [] },
  });

test('operations follow the contracts: several chains share one, and removed ones are gone', async () => {
  const before = await ownPaths();
  expect(before).toEqual(['/api/v2.2/contracts/{name}/{event}', PATH, '/api/v2.2/contracts/vault/price']);
  await add('bridge', 'base', [event('Moved')]);
  await add('bridge', 'gnosis', [event('Moved')]);
  const moved = '/api/v2.2/contracts/bridge/moved';
  await vi.waitFor(async () => expect(await ownPaths()).toContain(moved), 5_000);
  const chain = (await operationOf(moved)).parameters.find(({ name }) => name === 'chain');
  expect(chain).toMatchObject({ required: true, schema: { enum: ['gnosis', 'base'] } });
  for (const key of ['base', 'gnosis']) await removeContract(scratch.database, 'bridge', registry.get(key).id);
  await vi.waitFor(async () => expect(await ownPaths()).toEqual(before), 5_000);
});

test('names that look like members of objects or markup change nothing else', async () => {
  const input = (name: string, type = 'uint256') => ({ name, type });
  const hostile = [
    event('constructor', input('__proto__'), input('toString'), input('hasOwnProperty', 'address')),
    event('$script', input('$'), input(''), input('_')),
    event('Get', input('name'), input('event'), input('filters'), input('parameters', 'uint256[][2]')),
  ];
  await add('constructor', 'eth', hostile);
  await add('prototype', 'eth', [event('__defineGetter__', input('$ref', 'string'))]);
  await vi.waitFor(
    async () => expect(await ownPaths()).toContain('/api/v2.2/contracts/constructor/constructor'),
    5_000,
  );
  const document = await readDocument();
  const ids = (await ownPaths()).map((path) => document.paths[path]?.get.operationId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const path of await ownPaths()) {
    const id = document.paths[path]?.get.operationId ?? '';
    const opened = await api.request(`/docs/operations/${id}`);
    const html = await opened.text();
    expect([path, opened.status]).toEqual([path, 200]);
    expect(html).not.toMatch(/<script|javascript:|\son\w+=/i);
  }
  expect(Object.prototype).not.toHaveProperty('type');
  const params = (await operationOf('/api/v2.2/contracts/constructor/constructor')).responses['200']?.content[
    'application/json'
  ]?.schema.properties.result?.items.properties.params;
  expect(Object.keys(params?.properties ?? {})).toEqual(['proto', 'to_string', 'has_own_property']);
  expect((await api.request('/docs')).status).toBe(200);
});

test('events beyond the limit are counted instead', async () => {
  const limited = await exampleApi(scratch.database, contractRoutes, {
    additions: createEventOperations(scratch.database, registry, 1),
  });
  const { tags, paths } = (await (await limited.request('/openapi.json')).json()) as Document;
  expect(Object.keys(paths).filter((path) => path.startsWith('/api/v2.2/contracts/'))).toHaveLength(2);
  // Two of the vault, three of `constructor` and one of `prototype`.
  expect(tags.find(({ name }) => name === 'Events of your contracts')?.description).toBe(
    'Decoded events of contracts that the operator added. 5 more events have no entry.',
  );
});
