/** The whole program over the demo chain, and requests for all of its reading routes, lists of GraphQL and tools of agents. */
import { createChainRegistry } from '@chainstead/chains';
import { createScratchDatabase, type Program, type ScratchDatabase, startProgram } from '@chainstead/testkit';
import { expect, vi } from 'vitest';
import {
  DEMO_CHAIN_ID,
  DEMO_CHAIN_NAME,
  type DemoChain,
  startDemoChain,
} from '../../apps/chainstead/src/demo/demo-chain.ts';
import { startDemoCoins } from '../../apps/chainstead/src/demo/demo-coins.ts';
import { addDemoContract, demoSettings } from '../../apps/chainstead/src/demo/demo-program.ts';
import { type ApiDocument, CHAIN, readingRequests } from './requests.ts';
import type { Subjects } from './subjects.ts';

const KEY = 'large-rows-0123456789';
const HEADERS = { 'x-api-key': KEY, accept: 'application/json, text/event-stream' };
/** Requests for `/health` while others run. Milliseconds. */
const HEALTH_EVERY_MS = 50;
const SYNCED: ApiRequest = { method: 'GET', path: '/synced' };
const PATIENCE = { timeout: 60_000, interval: 300 };
/** Largest limit of most lists, which all lists accept. */
export const LIMIT_MAX = 100;

export interface DemoApi {
  readonly chain: DemoChain;
  readonly scratch: ScratchDatabase;
  readonly program: Program;
  readonly subjects: Subjects;
  /** Sends a request with the key. @param path with the query */
  send(request: ApiRequest): Promise<Response>;
  close(): Promise<void>;
}

export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

/** Starts it in a new database, and waits until it is synced. */
export async function startDemoApi(
  create: () => Promise<ScratchDatabase> = createScratchDatabase,
  environment: Readonly<Record<string, string>> = {},
  startChain: () => Promise<DemoChain> = () => startDemoChain(),
): Promise<DemoApi> {
  await using starting = new AsyncDisposableStack();
  const scratch = starting.adopt(await create(), (one) => one.drop());
  const chain = starting.adopt(await startChain(), (one) => one.stop());
  const coins = await startDemoCoins();
  starting.defer(() => coins.fullnode.close());
  await chain.makeTraffic(4);
  const subjects = await subjectsOf(chain);
  const registry = createChainRegistry({ additional: [{ key: DEMO_CHAIN_NAME, id: DEMO_CHAIN_ID }] });
  await addDemoContract(scratch.database, registry.get(DEMO_CHAIN_ID), chain.market);
  const settings = { DATABASE_URL: scratch.url, API_KEYS: KEY, LOG_LEVEL: 'error', PORT: '0', ...environment };
  const program = starting.use(
    startProgram(['start'], { environment: { ...demoSettings({ chain, coins }, ''), ...settings } }),
  );
  const address = await program.url;
  const send = ({ method, path, body }: ApiRequest): Promise<Response> => {
    const headers = { ...HEADERS, ...(body !== undefined && { 'content-type': 'application/json' }) };
    return fetch(address + path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
  };
  await untilSynced({ send });
  const stage = starting.move();
  return { chain, scratch, program, subjects, send, close: () => stage.disposeAsync() };
}

/** Resolves once the program has read the chain up to its head. */
export async function untilSynced({ send }: Pick<DemoApi, 'send'>): Promise<void> {
  await vi.waitFor(async () => expect((await send(SYNCED)).status).toBe(200), PATIENCE);
}

async function subjectsOf({ devnet, wallets, tokens, exchanges, market, script }: DemoChain): Promise<Subjects> {
  const [sale] = await script.sell('listing');
  if (sale === undefined) throw new RangeError('A listing that is bought is one sale');
  const last = Number(await devnet.client.getBlockNumber());
  const block = await devnet.client.getBlock();
  return {
    ...{ first: 1, last, blockHash: block.hash, middle: Number(block.timestamp) * 1_000 },
    wallets: [wallets[0] ?? '', ...exchanges.traders],
    tokens: [...tokens],
    nfts: [
      { token_address: sale.token, token_id: String(sale.tokenIds[0]) },
      { token_address: market.cats.address, token_id: '1' },
    ],
    transactions: [sale.transactionHash],
    coinTypes: ['0x1::aptos_coin::AptosCoin'],
    coinOwners: [`0x${'1'.padStart(64, '0')}`],
  };
}

/** Optional parameters without which a response has few rows or none. */
const SELECTING = new Set(['chain', 'chains', 'fromDate', 'toDate']);

/** Returns one request for each route that may be repeated, with the largest limit. @param also parameters to send, if the route has them */
export async function requestsOfAllRoutes(
  { send, subjects }: DemoApi,
  also: Readonly<Record<string, string>> = {},
): Promise<readonly ApiRequest[]> {
  const { paths } = (await (await send({ method: 'GET', path: '/openapi.json' })).json()) as ApiDocument;
  const requests = Object.entries(paths).flatMap(([route, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const added = Object.entries({ limit: String(LIMIT_MAX), ...also }).filter(([name]) =>
        operation.parameters?.some((one) => one.in === 'query' && one.name === name),
      );
      if (Object.keys(also).length > 0 && added.every(([name]) => name === 'limit')) return [];
      const parameters = operation.parameters?.filter(
        (one) => one.in === 'path' || one.required === true || SELECTING.has(one.name),
      );
      const narrowed = {
        [route]: { [method]: { ...operation, ...(parameters !== undefined && { parameters }) } },
      };
      const [first, ...others] = readingRequests({ paths: narrowed }, subjects);
      if (first === undefined) return [];
      // The last body is about the subjects.
      const request = others.findLast(({ path }) => path === first.path) ?? first;
      const url = new URL(request.path.replaceAll(`=${CHAIN}`, `=${DEMO_CHAIN_NAME}`), 'http://localhost');
      for (const [name, value] of added) url.searchParams.set(name, value);
      const body: unknown = JSON.parse(
        JSON.stringify(request.body ?? null).replaceAll(`"${CHAIN}"`, `"${DEMO_CHAIN_NAME}"`),
      );
      return [{ ...request, ...(body !== null && { body }), path: url.pathname + url.search }];
    }),
  );
  // A route of contracts and that of one of them send the same request.
  return [...new Map(requests.map((request) => [`${request.method} ${request.path}`, request])).values()];
}

/** What a server may say to a correct request: not a 500, and not a broken connection. */
const EXPECTED = new Set([200, 201, 202, 204, 302, 304, 400, 401, 403, 404, 405, 413, 429, 501, 503]);

export interface Sent {
  readonly statuses: readonly number[];
  /** Statuses that no client should see. */
  readonly unexpected: readonly number[];
  /** The longest wait for `/health` meanwhile. Milliseconds. */
  readonly healthMs: number;
  readonly bodies: readonly string[];
}

/** Sends a request several times at once, and requests `/health` meanwhile. */
export async function sendAtOnce(api: DemoApi, request: ApiRequest, times: number): Promise<Sent> {
  let isOver = false;
  let healthMs = 0;
  const watching = (async () => {
    while (!isOver) {
      const begun = performance.now();
      expect((await api.send({ method: 'GET', path: '/health' })).status).toBe(200);
      healthMs = Math.max(healthMs, performance.now() - begun);
      await new Promise((resolve) => setTimeout(resolve, HEALTH_EVERY_MS));
    }
  })();
  const responses = await Promise.all(
    Array.from({ length: times }, async () => {
      const response = await api.send(request);
      return { status: response.status, body: await response.text() };
    }),
  );
  isOver = true;
  await watching;
  const statuses = responses.map(({ status }) => status);
  const unexpected = statuses.filter((status) => !EXPECTED.has(status));
  return { statuses, unexpected, healthMs, bodies: responses.map(({ body }) => body) };
}

/** Returns a request for each list of GraphQL, with all of its columns and the largest page. */
export async function requestsOfAllLists(
  api: DemoApi,
): Promise<readonly (ApiRequest & { readonly name: string })[]> {
  return (await rootFields(api)).map(({ name, columns, finders }) => ({
    name,
    ...graphqlRequest(
      `{ ${name}(chain: ${DEMO_CHAIN_ID}, first: ${LIMIT_MAX}${whereOf(finders, api)}) { nodes { ${columns.join(' ')} } } }`,
    ),
  }));
}

/** Returns the argument of a list that needs one: the first member whose value is known. */
function whereOf(finders: readonly string[], { subjects, chain }: DemoApi): string {
  if (finders.length === 0) return '';
  const values = new Map([
    ...['account', 'owner', 'wallet', 'from_address', 'seller', 'buyer'].map(
      (name) => [name, subjects.wallets[0]] as const,
    ),
    ...['contract', 'address'].map((name) => [name, subjects.tokens[0]] as const),
    ...[
      ['token_address', subjects.nfts[0]?.token_address] as const,
      ['pool', chain.exchanges.pools[0]?.pool] as const,
    ],
    ...[['transaction_hash', subjects.transactions[0]] as const, ['block_hash', subjects.blockHash] as const],
  ]);
  const finder = finders.find((name) => values.has(name));
  if (finder === undefined) throw new RangeError(`No value is known for ${finders.join(' or ')}`);
  return `, where: { ${finder}: "${values.get(finder)}" }`;
}

export const graphqlRequest = (query: string): ApiRequest => ({
  method: 'POST',
  path: '/graphql',
  body: { query },
});

/** The columns of a list of GraphQL, as a selection of its rows. */
interface RootField {
  readonly name: string;
  readonly columns: readonly string[];
  /** Members of the argument `where`, if the list needs it. */
  readonly finders: readonly string[];
}

async function rootFields({ send }: DemoApi): Promise<readonly RootField[]> {
  const response = await send(
    graphqlRequest(
      '{ __schema { queryType { fields { name args { name type { ofType { name } } } type { name ofType { name } } } } types { name fields { name } inputFields { name } } } }',
    ),
  );
  const { data } = (await response.json()) as { readonly data: { readonly __schema: Introspection } };
  const columnsOf = new Map(
    data.__schema.types.map(({ name, fields }) => [name, fields?.map((one) => one.name) ?? []]),
  );
  const membersOf = new Map(
    data.__schema.types.map(({ name, inputFields }) => [name, inputFields?.map((one) => one.name) ?? []]),
  );
  return data.__schema.queryType.fields.flatMap(({ name, type, args }) => {
    const needed = args.find((argument) => argument.name === 'where')?.type.ofType?.name ?? '';
    const connection = type.name ?? type.ofType?.name ?? '';
    const columns = columnsOf.get(connection.replace(/Connection$/, '')) ?? [];
    return connection.endsWith('Connection') ? [{ name, columns, finders: membersOf.get(needed) ?? [] }] : [];
  });
}

interface NamedType {
  readonly name: string | null;
  readonly ofType: { readonly name: string } | null;
}

interface Introspection {
  readonly queryType: {
    readonly fields: readonly {
      readonly name: string;
      readonly type: NamedType;
      readonly args: readonly { readonly name: string; readonly type: Pick<NamedType, 'ofType'> }[];
    }[];
  };
  readonly types: readonly {
    readonly name: string;
    readonly fields: readonly { readonly name: string }[] | null;
    readonly inputFields: readonly { readonly name: string }[] | null;
  }[];
}

/** Returns calls of the tools of agents that list rows, with the largest limit. */
export function requestsOfAgents({ subjects }: DemoApi): readonly (ApiRequest & { readonly name: string })[] {
  const page = { chain: DEMO_CHAIN_NAME, limit: LIMIT_MAX };
  const [[wallet], [token], [nft], [transaction]] = [
    subjects.wallets,
    subjects.tokens,
    subjects.nfts,
    subjects.transactions,
  ];
  const calls: readonly (readonly [name: string, given: Record<string, unknown>])[] = [
    ['contract_logs', { ...page, address: token }],
    ['own_contract_events', { ...page, name: 'market', event: 'order_fulfilled' }],
    ['transaction', { chain: DEMO_CHAIN_NAME, transaction_hash: transaction }],
    ['block', { chain: DEMO_CHAIN_NAME, block_number_or_hash: String(subjects.last) }],
    ['wallet_history', { ...page, address: wallet }],
    ['wallet_nfts', { ...page, address: wallet }],
    ['nft_metadata', { chain: DEMO_CHAIN_NAME, address: nft?.token_address, token_id: nft?.token_id }],
  ];
  return calls.map(([name, given]) => {
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } };
    return { name, method: 'POST', path: '/mcp', body };
  });
}
