/** The requests of a recording: each route of the OpenAPI document with several values, bad ones, JSON-RPC calls, and a stream's life. */
import { createHash } from 'node:crypto';
import { ACTIVITY_OPERATIONS, EVENT } from '../../tests/acceptance/src/activity/activity-operations.ts';
import { BAD_FUNCTION_CALLS } from '../../tests/acceptance/src/activity/bad-function-calls.ts';
import { BAD_PARAMETERS as BAD_ACTIVITY } from '../../tests/acceptance/src/activity/bad-parameters.ts';
import { ASSET_OPERATIONS } from '../../tests/acceptance/src/assets/asset-operations.ts';
import { BAD_PARAMETERS as BAD_ASSETS } from '../../tests/acceptance/src/assets/bad-parameters.ts';
import type { Subjects } from './subjects.ts';

/** Names in braces are filled in when it is sent. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  /** Text is sent as it is, everything else as JSON. */
  readonly body?: unknown;
  /** The names under which later requests know the first id of the response. */
  readonly keep?: readonly string[];
  /** The request is repeated until the response contains this. */
  readonly until?: RegExp;
}

type Parameter = Readonly<{
  in: string;
  name: string;
  required?: boolean;
  schema: { type?: unknown; enum?: string[] };
}>;
export type Operation = Readonly<{
  operationId?: string;
  summary: string;
  parameters?: readonly Parameter[];
  requestBody?: unknown;
}>;

export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

export const CHAIN = 'polygon';
export const CHAIN_ID = '0x89';
const NOBODY = '0x00000000000000000000000000000000dead0001';
const NO_HASH = `0x${'ab'.repeat(32)}`;
/** Required, although the document doesn't mark them. */
const NEEDED = new Set(['chain', 'fromDate', 'toDate']);
const FLAGS = ['true', 'false', 'maybe'];

/** Requests that may be repeated. @throws Error that names the route if a parameter or body of it is unknown here */
export function readingRequests({ paths }: ApiDocument, subjects: Subjects): RecordedRequest[] {
  const staged = new Set(stagedRequests(subjects).map(routeOf));
  const bodies = bodiesOf(subjects);
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([name, operation]): RecordedRequest[] => {
      const method = name.toUpperCase();
      if (staged.has(`${method} ${path}`)) return [];
      const sent = operation.requestBody === undefined ? [undefined] : bodies.get(operation.operationId ?? '');
      if (sent === undefined) throw new Error(`No body is known for ${method} ${path}`);
      return pathsOf(path, operation, subjects).flatMap((filled) =>
        sent.map((body) => ({ method, path: filled, ...(body !== undefined && { body }) })),
      );
    }),
  );
}

/** Bad requests of the acceptance tests, without those that need a cursor of their stage. */
export function badRequests(): RecordedRequest[] {
  const tables = [...BAD_ASSETS, ...BAD_ACTIVITY, ...BAD_FUNCTION_CALLS].filter(
    ({ path }) => !path.includes('{'),
  );
  return tables.map(({ method = 'GET', path, sent }) => ({
    ...{ method, path: `/api/v2.2${path}${path.includes('?') ? '&' : '?'}chain=${CHAIN}` },
    ...(sent !== undefined && { body: sent }),
  }));
}

/** The route of a staged request, such as `GET /ready`. */
const routeOf = ({ method, path }: RecordedRequest): string =>
  `${method} ${path.replace(/\?.*/, '').replace(/\{(?:copy|attempt|nobody)\}/, '{id}')}`;

/** One path for each subject, one for each value of each query parameter, and second pages. */
function pathsOf(route: string, { parameters = [] }: Operation, subjects: Subjects): string[] {
  const known = valuesOf(route, subjects);
  const valuesFor = ({ name, schema }: Parameter): readonly string[] => {
    const values = known[name] ?? schema.enum?.concat('wrong') ?? (schema.type === 'boolean' ? FLAGS : undefined);
    if (values === undefined) throw new Error(`No value is known for the parameter ${name} of ${route}`);
    return values;
  };
  const inPath = parameters.filter((parameter) => parameter.in === 'path');
  const inQuery = parameters.filter((parameter) => parameter.in === 'query');
  const needed = inQuery.filter(({ name, required }) => required || NEEDED.has(name));
  const always = Object.fromEntries(needed.map((one) => [one.name, valuesFor(one)[0]]));
  const pathWith = (query: Readonly<Record<string, unknown>>, index = 0): string => {
    const path = inPath.reduce((text, one) => {
      const values = valuesFor(one);
      return text.replace(`{${one.name}}`, encodeURIComponent(values[index] ?? values.at(-1) ?? ''));
    }, route);
    const pairs = Object.entries({ ...always, ...query }).map(([name, value]) => `${name}=${value}`);
    return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`;
  };
  const places = Math.max(1, ...inPath.map((one) => valuesFor(one).length));
  // The cursor is the one that the request before returned.
  const pages = ['1', '3'].flatMap((limit) => [pathWith({ limit }), pathWith({ limit, cursor: '{cursor}' })]);
  return [
    ...Array.from({ length: places }, (_, index) => pathWith({}, index)),
    ...inQuery.flatMap((one) => valuesFor(one).map((value) => pathWith({ [one.name]: value }))),
    ...(inQuery.some(({ name }) => name === 'cursor') ? pages : []),
  ];
}

/** Values of parameters as they stand in a URL. The first one is right. */
function valuesOf(route: string, subjects: Subjects): Readonly<Record<string, readonly string[]>> {
  const { wallets, tokens, nfts, transactions, coinTypes, coinOwners, first, last, middle, blockHash } = subjects;
  const collections = nfts.map((nft) => nft.token_address);
  const isOfToken = /\/erc20\/\{|\/(?:logs|events|function)$/.test(route);
  const subject = isOfToken ? tokens : route.includes('/nft/{') ? collections : wallets;
  const lists = (values: readonly string[]): string[] => [values.join(), values[0] ?? '', NO_HASH];
  const [token, owner, types] = [lists([...tokens, ...collections]), lists(coinOwners), lists(coinTypes)];
  const hashes = coinTypes.map((coinType) => createHash('sha256').update(coinType).digest('hex'));
  const [blocks, hash] = [[String(first + 20), String(first), 'x'], lists(hashes)];
  const date = [new Date(middle).toISOString(), String(middle / 1_000), '2022-11-19', 'never'];
  const topic = ['0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef', NO_HASH, '0x1'];
  return {
    ...{
      address: [...subject, NOBODY, '0x12'],
      token_address: [...tokens, '0x12'],
      tokenAddress: [...tokens, '0x12'],
    },
    ...{ token_id: [...nfts.map((nft) => nft.token_id), '1', 'x'], transaction_hash: [...transactions, NO_HASH] },
    ...{ block_number_or_hash: [String(first), blockHash, 'latest', 'finalized', String(last + 1), 'x'] },
    ...{ chain: [CHAIN, CHAIN_ID, 'eth', 'nowhere'], chains: [CHAIN, `${CHAIN},eth`, 'nowhere'], cursor: ['x'] },
    ...{ domain: ['vitalik.eth', 'brad.crypto', 'x'], limit: ['2', '1000', '0', 'x'], offset: ['1', '0', '-1'] },
    ...{ from_block: blocks, to_block: blocks, block_number: blocks, block: ['latest', ...blocks] },
    ...{ fromBlock: blocks, toBlock: blocks, transactionTypes: ['buy', 'sell,addLiquidity', 'x'] },
    ...{ date, from_date: date, to_date: date, fromDate: date, toDate: date, days: ['365', '0', '366'] },
    ...{ topic, topic0: topic, topic1: topic, topic2: topic, topic3: topic, wallet_addresses: lists(wallets) },
    ...{ token_addresses: token, addresses: token, contract_addresses: token, symbols: ['USDC,WETH', 'x'] },
    ...{
      max_token_inactivity: ['1', '-1'],
      min_pair_side_liquidity_usd: ['1', '-1'],
      function_name: ['balanceOf'],
    },
    ...{ totalRanges: ['2', '2&range=1', '2&range=3'], range: ['1', '1&totalRanges=3'] },
    ...{ owner_address: [...wallets, '0x12'], spender_address: [NOBODY, '0x12'] },
    ...{ creator_addresses: owner, owner_addresses: owner, wallet_whitelist: owner, wallet_blacklist: owner },
    ...{ coin_type: [...coinTypes, 'x'], coin_type_whitelist: types, coin_type_blacklist: types },
    ...{ coin_type_hash: [...hashes, 'x'], coin_type_hashes: hash },
    ...{ coin_type_hash_whitelist: hash, coin_type_hash_blacklist: hash, block_heights: ['0,6,12', '6', 'x'] },
    ...{ min_amount: ['1', '100000000000', 'x'], min_version: ['1', '2000', 'x'] },
    ...{
      pair_address: tokens,
      token0_address: tokens,
      token1_address: tokens.toReversed(),
      exchange: ['uniswapv2', 'x'],
    },
    ...{ name: ['market', 'x'], event: ['order_fulfilled', 'x'], query: ['usd', 'x'], filters: ['{}', 'x'] },
    ...{ from_symbol: ['A', 'a'], to_symbol: ['Z', 'z'], from_name: ['A', 'a'], to_name: ['Z', 'z'] },
  };
}

/** Bodies by operation: those of the acceptance tests, and some about the subjects. */
function bodiesOf({ nfts, wallets, tokens }: Subjects): Map<string, readonly unknown[]> {
  const [inputs, outputs] = [[{ name: 'account', type: 'address' }], [{ name: '', type: 'uint256' }]];
  const balanceOf = { type: 'function', name: 'balanceOf', stateMutability: 'view', inputs, outputs };
  const review = { contract_address: tokens[0], reason: 'A test', report_type: 'spam', contract_type: 'ERC20' };
  const own: Readonly<Record<string, unknown>> = {
    getMultipleNFTs: { tokens: nfts, normalizeMetadata: true, media_items: true },
    getNFTBulkContractMetadata: { addresses: nfts.map((nft) => nft.token_address) },
    runContractFunction: { abi: [balanceOf], params: { account: wallets[0] } },
    reviewContracts: { contracts: [review] },
  };
  const listed = tokens.map((token) => ({ chain: CHAIN, tokenAddress: token }));
  const ofTokens: readonly (readonly [string, readonly unknown[]])[] = [
    ['getMultipleTokenAnalytics', [{ tokens: listed }]],
    ['getTimeSeriesTokenAnalytics', [{ tokens: listed }]],
    ['getMultipleTokenPrices', [{ tokens: tokens.map((token) => ({ token_address: token })) }]],
  ];
  const operations = [...ASSET_OPERATIONS, ...ACTIVITY_OPERATIONS].filter(({ body }) => body !== undefined);
  return new Map([
    ...operations.map(
      ({ name, body }) =>
        [name, own[name] === undefined ? [body] : [body, own[name]]] as readonly [string, unknown[]],
    ),
    ...ofTokens,
  ]);
}

/** JSON-RPC calls, then requests that change streams: sent once, in this order. */
export function stagedRequests(subjects: Subjects): RecordedRequest[] {
  const { first, tokens, wallets } = subjects;
  const watched = { topic0: ['Transfer(address,address,uint256)'], abi: [EVENT], includeContractLogs: true };
  const config = {
    ...watched,
    webhookUrl: '{webhook}',
    description: 'Transfers',
    tag: 'answers',
    chainIds: [CHAIN_ID],
  };
  const job = { chainId: CHAIN_ID, streamId: '{id}', blockFrom: first + 20, blockTo: first + 20 };
  const send = (line: string, ...bodies: readonly unknown[]): RecordedRequest[] => {
    const [method = '', path = ''] = line.split(' ');
    return bodies.map((body) => ({ method, path, body }));
  };
  const ask = (line: string, more: Partial<RecordedRequest> = {}): RecordedRequest => {
    const [method = '', path = ''] = line.split(' ');
    return { method, path, ...more };
  };
  return [
    ...send('POST /{chain}/{apiKey}', ...rpcBodies(subjects)),
    ask('GET /streams/evm?limit=10'),
    ...send('PUT /streams/evm', { ...config, chainIds: ['0x7777'] }, { tag: 1 }),
    ask('PUT /streams/evm', { body: config, keep: ['id', 'streamId'] }),
    ...send('POST /streams/evm/{id}/address', { address: [...tokens, wallets[0]] }, { address: '0x12' }),
    ask('GET /streams/evm/{id}/address?limit=1'),
    ask('GET /streams/evm/{id}/address?limit=1&cursor={cursor}'),
    ...send('PATCH /streams/evm/{id}/address', { address: tokens }),
    ...send('DELETE /streams/evm/{id}/address', { address: tokens[0] }, { address: wallets[1] }),
    ask('GET /streams/evm/{id}/address?limit=10'),
    ...send('POST /streams/evm/{id}', { description: 'Transfers of a token' }, { chainIds: [] }),
    ...send('POST /streams/evm/{id}/status', { status: 'paused' }, { status: 'stopped' }, { status: 'active' }),
    ask('POST /streams/evm/{id}/duplicate', { keep: ['copy'] }),
    ask('GET /streams/evm?limit=0'),
    ask('DELETE /streams/evm/{copy}'),
    ask('GET /streams/evm/{copy}'),
    ask('GET /streams/evm/{id}'),
    ask('GET /streams/evm?limit=10&status=active'),
    ...send('POST /streams/evm/{chainId}/block/{blockNumber}', { ...watched, allAddresses: true }, {}),
    ask('POST /streams/evm/{chainId}/block-to-webhook/{blockNumber}/{streamId}'),
    ask('GET /stats', { until: /"totalWebhooksDelivered":1\b/ }),
    ask('GET /stats/{streamId}', { until: /"totalWebhooksDelivered":1\b/ }),
    ask('GET /historical-jobs?streamId={id}'),
    ask('GET /history?limit=10'),
    ask('GET /history?limit=10&excludePayload=true&streamId={id}'),
    ask('GET /history/logs?limit=10', { keep: ['attempt'] }),
    ask('GET /history/logs?limit=1&deliveryStatus=success'),
    ask('GET /history/logs?limit=1&deliveryStatus=failed'),
    ask('POST /history/replay/{streamId}/{attempt}'),
    ask('GET /settings'),
    ...send(
      'POST /settings',
      { region: 'eu-central-1', secretKey: 'a-secret-of-answers' },
      { region: 'nowhere' },
    ),
    ...send('POST /historical-jobs/create-job', { ...job, blockTo: 1 }),
    // A worker begins with the job at an unpredictable time, so nothing reads its progress.
    ...send('POST /historicalJobs/createJob', job),
    ask('DELETE /streams/evm/{id}'),
    ask('GET /streams/evm/{nobody}'),
    ask('DELETE /streams/evm/{nobody}'),
    ask('POST /history/replay/{streamId}/{nobody}'),
  ];
}

function rpcBodies({ first, last, blockHash, transactions, wallets, tokens }: Subjects): readonly unknown[] {
  const [block, newest, transaction] = [`0x${first.toString(16)}`, `0x${last.toString(16)}`, transactions[0]];
  const logs = { fromBlock: block, toBlock: newest, address: tokens[0] };
  const calls: readonly (readonly unknown[])[] = [
    ...[
      ['eth_chainId'],
      ['net_version'],
      ['web3_clientVersion'],
      ['eth_blockNumber'],
      ['eth_gasPrice'],
      ['eth_no'],
    ],
    ...[
      ['eth_getBlockByNumber', block, false],
      ['eth_getBlockByNumber', 'latest', true],
      ['eth_getBlockReceipts', block],
    ],
    ...[
      ['eth_getBlockByHash', blockHash, false],
      ['eth_getBlockByHash', NO_HASH, false],
      ['eth_getLogs', logs],
    ],
    ...[
      ['eth_getTransactionByHash', transaction],
      ['eth_getTransactionReceipt', transaction],
      ['eth_getLogs', 1],
    ],
    ...[
      ['eth_getTransactionReceipt', NO_HASH],
      ['eth_getLogs', { blockHash }],
      ['eth_sendRawTransaction', '0x00'],
    ],
    ...[
      ['eth_getBalance', wallets[0], 'latest'],
      ['eth_getCode', tokens[0], newest],
    ],
    ...[
      ['eth_call', { to: tokens[0], data: '0x18160ddd' }, 'latest'],
      ['eth_call', { to: tokens[1] }, newest],
    ],
  ];
  const bodies = calls.map(([method, ...params], id) => ({ jsonrpc: '2.0', id, method, params }));
  return [...bodies, bodies.slice(0, 9), [], {}, { ...bodies[0], id: null }];
}
