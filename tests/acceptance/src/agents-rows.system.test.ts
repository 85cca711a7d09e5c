/** Every tool of an agent over the rows of the demo's chain: not empty, and equal to the response of its HTTP route. */

import { randomBytes } from 'node:crypto';
import { createChainRegistry } from '@chainstead/chains';
import { mergeRanges } from '@chainstead/core';
import { rawSql, sql } from '@chainstead/db';
import { createScratchDatabase, type ExpectedTrade, startProgram } from '@chainstead/testkit';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  DEMO_CHAIN_ID,
  DEMO_CHAIN_NAME,
  type DemoChain,
  startDemoChain,
} from 'chainstead/src/demo/demo-chain.ts';
import { startDemoCoins } from 'chainstead/src/demo/demo-coins.ts';
import { addDemoContract, demoSettings } from 'chainstead/src/demo/demo-program.ts';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { z } from 'zod';

const KEY = 'agents-rows';
const ROUNDS = 6;
const ROLE = `agent_${randomBytes(6).toString('hex')}`;
/** Rows are there within seconds; the first request for some of them starts work. */
const PATIENCE = { timeout: 60_000, interval: 300 };

const stage = new AsyncDisposableStack();
const client = new Client({ name: 'test', version: '0' });
let address: string;
let facts: Facts;

/** What is on the chain. */
interface Facts {
  readonly wallet: string;
  readonly trader: string;
  readonly dollar: string;
  readonly ether: string;
  readonly pair: string;
  readonly cats: string;
  readonly sale: ExpectedTrade;
  readonly head: number;
}

beforeAll(async () => {
  const scratch = stage.adopt(await createScratchDatabase(), (one) => one.drop());
  const chain = stage.adopt(await startDemoChain(), (one) => one.stop());
  const coins = await startDemoCoins();
  stage.defer(() => coins.fullnode.close());
  await chain.makeTraffic(ROUNDS);
  facts = await factsOf(chain);
  await scratch.database.query(
    sql`CREATE ROLE ${rawSql(ROLE)} LOGIN PASSWORD 'secret' IN ROLE chainstead_reader`,
  );
  stage.defer(async () => void (await scratch.database.query(sql`DROP ROLE ${rawSql(ROLE)}`)));
  const registry = createChainRegistry({ additional: [{ key: DEMO_CHAIN_NAME, id: DEMO_CHAIN_ID }] });
  await addDemoContract(scratch.database, registry.get(DEMO_CHAIN_ID), chain.market);
  const agentUrl = new URL(scratch.url);
  agentUrl.username = ROLE;
  agentUrl.password = 'secret';
  const settings = {
    DATABASE_URL: scratch.url,
    MCP_SQL: 'true',
    DATABASE_ANALYST_URL: agentUrl.href,
    API_KEYS: KEY,
    LOG_LEVEL: 'error',
    PORT: '0',
  };
  const environment = { ...demoSettings({ chain, coins }, ''), ...settings };
  const program = stage.use(startProgram(['start'], { environment }));
  address = await program.url;
  await vi.waitFor(async () => expect((await fetch(`${address}/synced`)).status).toBe(200), PATIENCE);
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', address), {
    requestInit: { headers: { authorization: `Bearer ${KEY}` } },
  });
  await client.connect(transport);
  stage.defer(() => client.close());
});
afterAll(() => stage.disposeAsync());

async function factsOf({ devnet, wallets, tokens, exchanges, market, script }: DemoChain): Promise<Facts> {
  const [sale] = await script.sell('listing');
  const [[wallet = ''], [dollar = '', ether = ''], [trader = '']] = [wallets, tokens, exchanges.traders];
  if (sale === undefined) throw new RangeError('A listing that is bought is one sale');
  const pair = exchanges.pools[0]?.pool ?? '';
  const head = Number(await devnet.client.getBlockNumber());
  return { wallet, trader, dollar, ether, pair, cats: market.cats.address, sale, head };
}

const textsShape = z.array(z.object({ text: z.string() }));

async function call(name: string, given: Record<string, unknown>) {
  const { content, isError = false } = await client.callTool({ name, arguments: given });
  const [{ text: first } = { text: '' }, data] = textsShape.parse(content);
  return { isError, first, data: data === undefined ? undefined : JSON.parse(data.text) };
}

async function get(path: string): Promise<unknown> {
  const response = await fetch(`${address}/api/v2.2/${path}`, { headers: { 'x-api-key': KEY } });
  expect([path, response.status]).toEqual([path, 200]);
  return response.json();
}

/** Arguments and route of a tool, and the member of the response that must not be empty (default: `result`, or the list itself). */
interface ToolCase {
  readonly given: Record<string, unknown>;
  readonly path: string;
  readonly member?: string;
}

const CHAIN = { chain: DEMO_CHAIN_NAME };
const onChain = (path: string): string => `${path}${path.includes('?') ? '&' : '?'}chain=${DEMO_CHAIN_NAME}`;

const DATES = { fromDate: '2020-01-01', toDate: '2100-01-01' };
const PAGE = { ...CHAIN, limit: 3 };
/** A list of an account or a contract, below its path. */
const listOf = (address: string, path: string): ToolCase => ({
  given: { ...PAGE, address },
  path: onChain(`${path}?limit=3`),
});

const CASES: Readonly<Record<string, (facts: Facts) => ToolCase>> = {
  wallet_balances: ({ trader }) => listOf(trader, `wallets/${trader}/tokens`),
  wallet_net_worth: ({ trader }) => ({
    given: { address: trader, chain: DEMO_CHAIN_NAME },
    path: `wallets/${trader}/net-worth?chains=${DEMO_CHAIN_NAME}`,
    member: 'chains',
  }),
  wallet_history: ({ wallet }) => listOf(wallet, `wallets/${wallet}/history`),
  wallet_token_transfers: ({ wallet }) => listOf(wallet, `${wallet}/erc20/transfers`),
  wallet_nfts: ({ wallet }) => listOf(wallet, `${wallet}/nft`),
  wallet_swaps: ({ trader }) => listOf(trader, `wallets/${trader}/swaps`),
  wallet_profit: ({ trader }) => ({
    given: { ...CHAIN, address: trader },
    path: onChain(`wallets/${trader}/profitability/summary`),
    member: 'total_count_of_trades',
  }),
  wallet_approvals: ({ trader }) => listOf(trader, `wallets/${trader}/approvals`),
  token_search: ({ ether }) => ({
    given: { query: ether, chain: DEMO_CHAIN_NAME, limit: 3 },
    path: `tokens/search?query=${ether}&chains=${DEMO_CHAIN_NAME}&limit=3`,
  }),
  token_metadata: ({ dollar, ether }) => ({
    given: { ...CHAIN, addresses: [dollar, ether] },
    path: onChain(`erc20/metadata?addresses=${dollar}&addresses=${ether}`),
  }),
  token_price: ({ ether }) => ({
    given: { ...CHAIN, address: ether },
    path: onChain(`erc20/${ether}/price`),
    member: 'usdPrice',
  }),
  token_price_explanation: ({ ether }) => ({
    given: { ...CHAIN, address: ether },
    path: onChain(`erc20/${ether}/price?explain=true`),
    member: 'explanation',
  }),
  token_holders: ({ ether }) => listOf(ether, `erc20/${ether}/owners`),
  token_holder_count: ({ ether }) => ({
    given: { address: ether },
    path: onChain(`erc20/${ether}/holders`),
    member: 'totalHolders',
  }),
  token_transfers: ({ ether }) => listOf(ether, `erc20/${ether}/transfers`),
  token_swaps: ({ ether }) => listOf(ether, `erc20/${ether}/swaps`),
  token_analytics: ({ ether }) => ({
    given: { address: ether },
    path: onChain(`tokens/${ether}/analytics`),
    member: 'totalBuys',
  }),
  token_pairs: ({ ether }) => ({ ...listOf(ether, `erc20/${ether}/pairs`), member: 'pairs' }),
  pair_candles: ({ pair }) => ({
    given: {
      ...PAGE,
      address: pair,
      timeframe: '1h',
      currency: 'usd',
      from_date: DATES.fromDate,
      to_date: DATES.toDate,
    },
    path: onChain(`pairs/${pair}/ohlcv?limit=3&timeframe=1h&currency=usd&${new URLSearchParams(DATES)}`),
  }),
  nft_collection: ({ cats }) => ({
    given: { ...CHAIN, address: cats },
    path: onChain(`nft/${cats}/metadata`),
    member: 'name',
  }),
  nft_metadata: ({ sale: { token, tokenIds } }) => ({
    given: { ...CHAIN, address: token, token_id: tokenIds[0] },
    path: onChain(`nft/${token}/${tokenIds[0]}`),
    member: 'token_id',
  }),
  nft_owners: ({ cats }) => listOf(cats, `nft/${cats}/owners`),
  nft_trades: ({ sale: { token } }) => listOf(token, `nft/${token}/trades`),
  transaction: ({ sale: { transactionHash: hash } }) => ({
    given: { hash },
    path: onChain(`transaction/${hash}/verbose`),
    member: 'logs',
  }),
  block: ({ sale: { blockNumber } }) => ({
    given: { block: String(blockNumber) },
    path: onChain(`block/${blockNumber}`),
    member: 'transactions',
  }),
  block_at_date: ({ sale: { blockTimestamp: seconds } }) => ({
    given: { ...CHAIN, date: String(seconds) },
    path: onChain(`dateToBlock?date=${seconds}`),
    // Block 0, if all were mined within its second.
    member: 'hash',
  }),
  contract_logs: ({ ether }) => listOf(ether, `${ether}/logs`),
  own_contracts: () => ({ given: {}, path: 'contracts' }),
  own_contract_events: ({ sale: { seller } }) => ({
    given: { ...PAGE, name: 'market', event: 'order_fulfilled', filters: { offerer: seller } },
    path: onChain(`contracts/market/order_fulfilled?limit=3&offerer=${seller}`),
  }),
};

/** Tools with separate tests below. */
const OTHERS = ['status', 'gaps', 'sql', 'sql_columns', 'resolve_name', 'token_top_traders', 'token_top_gainers'];

test('every tool has a case', async () => {
  const { tools } = await client.listTools();
  const cases = [...Object.keys(CASES), ...OTHERS];
  expect(tools.map(({ name }) => name).toSorted()).toEqual(cases.toSorted());
});

test.each(Object.entries(CASES))('%s returns the response of its route', async (tool, caseOf) => {
  const { given, path, member = 'result' } = caseOf(facts);
  await vi.waitFor(async () => {
    const served = await get(path);
    const shown = Array.isArray(served) ? served : z.record(z.string(), z.unknown()).parse(served)[member];
    expect(sizeOf(shown), JSON.stringify(served)).toBeGreaterThan(0);
    const { isError, first, data } = await call(tool, given);
    expect([isError, first]).toEqual([false, expect.stringMatching(/^Coverage: /)]);
    // Rows leave out nulls, and members with one value for all of them.
    expect(served).toMatchObject(expanded(data));
  }, PATIENCE);
});

/** Returns data with the members that all rows share in each row. */
function expanded(data: unknown): object {
  if (Array.isArray(data) || typeof data !== 'object' || data === null || !('result' in data))
    return Object(data);
  const {
    all_rows: shared = {},
    result,
    ...others
  } = z.looseObject({ all_rows: z.looseObject({}).optional() }).parse(data);
  return {
    ...others,
    result: z
      .array(z.looseObject({}))
      .parse(result)
      .map((row) => ({ ...shared, ...row })),
  };
}

/** Number of rows, or of members of an object other than null and zero; a number, or the length of a text. */
function sizeOf(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  if (typeof value === 'object' && value !== null)
    return Object.values(value).filter((one) => one !== null && (typeof one === 'object' || Number(one) > 0))
      .length;
  return typeof value === 'number' ? value : String(value ?? '').length;
}

test('progress is that of the chain', async () => {
  const { head } = facts;
  const status = await call('status', CHAIN);
  expect([status.isError, status.first]).toEqual([false, `Chains: ${DEMO_CHAIN_NAME}.`]);
  expect(status.data).toMatchObject([
    {
      chain: DEMO_CHAIN_NAME,
      chain_id: DEMO_CHAIN_ID,
      head,
      indexed_to: head,
      blocks_behind: 0,
      history_from: 0,
    },
  ]);
  const gaps = await call('gaps', CHAIN);
  expect(gaps.data).toMatchObject([{ chain: DEMO_CHAIN_NAME, missing: [] }]);
  const ranges = z
    .array(z.object({ dataset: z.string(), from_block: z.number(), to_block: z.number() }))
    .parse(gaps.data[0].indexed);
  for (const dataset of ['erc20-transfers', 'nft-trades', 'swaps', 'contracts.market_order_fulfilled']) {
    const covered = ranges.filter((one) => one.dataset === dataset);
    expect([dataset, mergeRanges(covered.map(({ from_block: from, to_block: to }) => ({ from, to })))]).toEqual([
      dataset,
      [{ from: 0, to: head }],
    ]);
  }
});

test('SQL sees the rows that the routes show', async () => {
  const { seller } = facts.sale;
  const sql = `SELECT count(*) AS orders FROM analytics.contract_market_order_fulfilled WHERE offerer = '${seller}'`;
  const { isError, data } = await call('sql', { sql });
  const orders = z.object({ result: z.array(z.unknown()).min(1) });
  const { result } = orders.parse(await get(onChain(`contracts/market/order_fulfilled?offerer=${seller}`)));
  expect([isError, data]).toEqual([false, [{ orders: result.length }]]);
});

test('a name that no chain of the server has is refused, by route and tool', async () => {
  const response = await fetch(`${address}/api/v2.2/resolve/ens/vitalik.eth`, { headers: { 'x-api-key': KEY } });
  expect(response.ok).toBe(false);
  const { message } = z.object({ message: z.string() }).parse(await response.json());
  const { isError, first } = await call('resolve_name', { domain: 'vitalik.eth' });
  expect([isError, JSON.parse(first).error.message]).toEqual([true, message]);
});

/** A call of a tool with its arguments. */
type Call = readonly [tool: string, given: Record<string, unknown>];

/** Questions of an analyst, the calls that answer them, and a text that the last result must contain. */
const QUESTIONS: Readonly<
  Record<string, (facts: Facts) => { readonly calls: readonly Call[]; readonly answer: string }>
> = {
  'Who bought most of a token in the last days?': ({ ether, trader }) => ({
    calls: [
      ['token_search', { query: ether }],
      ['token_top_traders', { address: ether, side: 'buy', range: 'last 7 days' }],
    ],
    answer: `"wallet":"${trader}"`,
  }),
  'Who bought most of it yesterday?': ({ ether }) => ({
    calls: [['token_top_traders', { address: ether, range: 'yesterday' }]],
    answer: '"swaps":0',
  }),
  'What did a wallet do today?': ({ wallet }) => ({
    calls: [['wallet_history', { address: wallet, range: 'last 24 hours' }]],
    answer: '"category"',
  }),
  'Is the data complete?': () => ({
    calls: [
      ['status', {}],
      ['gaps', { chain: null }],
    ],
    answer: '"missing":[]',
  }),
  'Who are the largest holders of a token?': ({ ether }) => ({
    calls: [
      ['token_metadata', { addresses: [ether] }],
      ['token_holders', { address: ether }],
    ],
    answer: '"owner_address"',
  }),
  'What is the price of a token?': ({ ether }) => ({
    calls: [
      ['token_search', { query: ether }],
      ['token_price', { address: ether }],
    ],
    answer: '"usdPrice"',
  }),
  'What does a wallet own, and what is it worth?': ({ trader }) => ({
    calls: [
      ['wallet_balances', { address: trader }],
      ['wallet_net_worth', { address: trader }],
    ],
    answer: '"total_networth_usd"',
  }),
  'Did a wallet make a profit?': ({ trader }) => ({
    calls: [['wallet_profit', { address: trader }]],
    answer: '"total_count_of_trades"',
  }),
  'Which 100 transfers of a token were the last?': ({ ether }) => ({
    calls: [['token_transfers', { address: ether, limit: 100, from_date: null, cursor: '' }]],
    answer: '"transaction_hash"',
  }),
  'How often was each pool used?': () => ({
    calls: [
      ['sql_columns', { view: 'swaps' }],
      ['sql', { sql: 'SELECT pool, count(*) AS swaps FROM swaps GROUP BY pool ORDER BY swaps DESC LIMIT 10' }],
    ],
    answer: '"swaps":',
  }),
};

test.each(Object.entries(QUESTIONS))('an agent answers: %s', async (_question, callsOf) => {
  const { calls, answer } = callsOf(facts);
  expect(calls.length).toBeLessThanOrEqual(3);
  let characters = 0;
  let last = '';
  for (const [name, given] of calls) {
    const { content, structuredContent, isError = false } = await client.callTool({ name, arguments: given });
    const texts = textsShape.parse(content).map(({ text }) => text);
    expect([name, isError, texts]).toEqual([
      name,
      false,
      [expect.stringMatching(/^(?:Coverage|Chains): /), expect.any(String)],
    ]);
    last = texts[1] ?? '';
    // Data is sent once.
    expect(structuredContent).toBeUndefined();
    characters += texts.join('\n').length;
  }
  expect(last).toContain(answer);
  // 8,000 tokens of four characters.
  expect(characters).toBeLessThanOrEqual(32_000);
});

test('top gainers and views fit into a result', async () => {
  const gainers = await call('token_top_gainers', { address: facts.ether });
  expect([gainers.isError, gainers.first]).toEqual([false, expect.stringMatching(/^Coverage: /)]);
  expect(sizeOf(gainers.data?.result), JSON.stringify(gainers)).toBeGreaterThan(0);
  const views = await call('sql_columns', {});
  expect(views.first).toMatch(/All \d+ rows follow\./);
  expect(views.data).toContainEqual({ view: 'swaps', columns: expect.stringContaining('pool text') });
});
