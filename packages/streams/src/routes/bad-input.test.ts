import { createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Client,
  clientOf,
  exampleServices,
  exampleStreamApi,
  MINIMAL,
  TRANSFER_EVENT,
  TRANSFER_HASH,
  TRANSFER_SIGNATURE,
} from './example-stream-api.ts';

const services = exampleServices();
let scratch: ScratchDatabase;
let ask: Client;
let id: string;

beforeAll(async () => {
  scratch = await createScratchDatabase();
  ask = clientOf(await exampleStreamApi(scratch.database, services));
  const created = await ask<{ id: string }>('PUT', '/streams/evm', MINIMAL);
  ({ id } = created.body);
});
afterAll(() => scratch.drop());

/** The body of a refusal: one entry for each member, as `requestBody.x`. */
function failed(details: Readonly<Record<string, { readonly message: string; readonly value?: unknown }>>) {
  return { message: 'Validation Failed', details };
}

const SIGNATURE = 'must be an event signature such as Transfer(address,address,uint256), or its hash';
const UNKNOWN_CHAIN = 'is not the hexadecimal id of a known chain, such as 0x1';
const balanceOf = {
  type: 'function',
  name: 'balanceOf',
  stateMutability: 'view',
  inputs: [{ name: 'owner', type: 'address' }],
  outputs: [{ name: 'balance', type: 'uint256' }],
};
const trigger = { type: 'erc20transfer', contractAddress: '$contract', functionAbi: balanceOf, inputs: ['$from'] };
const withEvent = { topic0: [TRANSFER_SIGNATURE], abi: [TRANSFER_EVENT] };
const logs = { includeContractLogs: true, ...withEvent };

/** What is given beside the minimal stream, and the refused member. */
const members: readonly (readonly [title: string, given: object, key: string, message: string, value?: unknown])[] = [
  ['no URL', { webhookUrl: undefined }, 'webhookUrl', "'webhookUrl' is required"],
  ['a URL that is a number', { webhookUrl: 5 }, 'webhookUrl', 'invalid string value', 5],
  ['a URL that is none', { webhookUrl: 'example' }, 'webhookUrl', 'must be an http or https URL', 'example'],
  ['an empty URL', { webhookUrl: '' }, 'webhookUrl', 'must be an http or https URL', ''],
  [
    'a URL of another scheme',
    { webhookUrl: 'ftp://a.b/c' },
    'webhookUrl',
    'must be an http or https URL',
    'ftp://a.b/c',
  ],
  ['a file', { webhookUrl: 'file:///etc/passwd' }, 'webhookUrl', 'must be an http or https URL', 'file:///etc/passwd'],
  ['a script', { webhookUrl: 'javascript:1' }, 'webhookUrl', 'must be an http or https URL', 'javascript:1'],
  ['a URL that is null', { webhookUrl: null }, 'webhookUrl', 'invalid string value', null],
  [
    'a very long URL',
    { webhookUrl: `https://a.b/${'x'.repeat(2_000)}` },
    'webhookUrl',
    'must not be longer than 2000 bytes',
    `https://a.b/${'x'.repeat(188)}…`,
  ],
  ['no description', { description: undefined }, 'description', "'description' is required"],
  ['a description that is null', { description: null }, 'description', 'invalid string value', null],
  ['a long description', { description: 'x'.repeat(4_001) }, 'description', 'maxLength 4000', `${'x'.repeat(200)}…`],
  [
    'NUL in a description',
    { description: 'a\0b' },
    'description',
    'must not contain NUL characters or lone surrogates',
  ],
  ['half a character', { tag: '\ud800' }, 'tag', 'must not contain NUL characters or lone surrogates'],
  ['a tag that is an array', { tag: ['a'] }, 'tag', 'invalid string value', ['a']],
  ['no chains', { chainIds: undefined }, 'chainIds', "'chainIds' is required"],
  ['an empty list of chains', { chainIds: [] }, 'chainIds', 'minItems 1', []],
  ['chains that are text', { chainIds: '0x1' }, 'chainIds', 'invalid array', '0x1'],
  ['a chain that is a number', { chainIds: [1] }, 'chainIds.$0', 'invalid string value', 1],
  ['a chain by name', { chainIds: ['eth'] }, 'chainIds.$0', UNKNOWN_CHAIN, 'eth'],
  ['a chain in decimal', { chainIds: ['1'] }, 'chainIds.$0', UNKNOWN_CHAIN, '1'],
  ['an unknown chain', { chainIds: ['0x1', '0xabcdef'] }, 'chainIds.$1', UNKNOWN_CHAIN, '0xabcdef'],
  [
    'a chain of another server',
    { chainIds: ['0x89'] },
    'chainIds.$0',
    'chain polygon is not followed by this server',
    '0x89',
  ],
  [
    'nothing to include',
    { includeNativeTxs: false },
    'includeNativeTxs',
    'at least one of includeNativeTxs, includeContractLogs and includeInternalTxs must be true',
    false,
  ],
  ['a switch that is text', { includeNativeTxs: 'true' }, 'includeNativeTxs', 'invalid boolean value', 'true'],
  ['a switch that is null', { includeInternalTxs: null }, 'includeInternalTxs', 'invalid boolean value', null],
  ['a switch that is a number', { includeContractLogs: 1 }, 'includeContractLogs', 'invalid boolean value', 1],
  ['demo as text', { demo: 'yes' }, 'demo', 'invalid boolean value', 'yes'],
  [
    'all logs of internal transactions',
    { includeNativeTxs: false, includeInternalTxs: true, includeAllTxLogs: true },
    'includeAllTxLogs',
    'needs includeNativeTxs or includeContractLogs',
    true,
  ],
  [
    'internal transactions on a chain without',
    { chainIds: ['0x1', '0x64'], includeInternalTxs: true },
    'includeInternalTxs',
    'internal transactions are not available on gnosis',
    true,
  ],
  [
    'an unknown member',
    { colour: 'red' },
    'colour',
    '"colour" is an excess property and therefore is not allowed',
    'red',
  ],
  [
    'a member of the answer',
    { status: 'active' },
    'status',
    '"status" is an excess property and therefore is not allowed',
    'active',
  ],
  [
    'all addresses without events',
    { allAddresses: true },
    'allAddresses',
    'needs topic0 and an abi with its events',
    true,
  ],
  [
    'all addresses with an ABI alone',
    { allAddresses: true, abi: [TRANSFER_EVENT] },
    'allAddresses',
    'needs topic0 and an abi with its events',
    true,
  ],
  ['a topic that is text', { topic0: TRANSFER_SIGNATURE }, 'topic0', 'invalid array', TRANSFER_SIGNATURE],
  ['a topic that is none', { topic0: ['Transfer'] }, 'topic0.$0', SIGNATURE, 'Transfer'],
  ['a topic with a wrong type', { topic0: ['Transfer(adress)'] }, 'topic0.$0', SIGNATURE, 'Transfer(adress)'],
  ['a short hash', { topic0: ['0xddf252ad'] }, 'topic0.$0', SIGNATURE, '0xddf252ad'],
  [
    'a topic without an ABI',
    { topic0: [TRANSFER_SIGNATURE] },
    'topic0.$0',
    'has no event in the abi',
    TRANSFER_SIGNATURE,
  ],
  [
    'a topic of another ABI',
    { topic0: ['Approval(address,address,uint256)'], abi: [TRANSFER_EVENT] },
    'topic0.$0',
    'has no event in the abi',
    'Approval(address,address,uint256)',
  ],
  ['an ABI that is text', { abi: '[]' }, 'abi', 'invalid array', '[]'],
  ['an ABI item without type', { abi: [{ name: 'Transfer' }] }, 'abi.$0.type', "'type' is required"],
  ['an ABI item that is text', { abi: ['event Transfer()'] }, 'abi.$0', 'invalid object', 'event Transfer()'],
  [
    'an input without name',
    { abi: [{ type: 'event', name: 'E', inputs: [{ type: 'address' }] }] },
    'abi.$0.inputs.$0.name',
    "'name' is required",
  ],
  [
    'an unknown member of an ABI item',
    { abi: { type: 'function', name: 'f', selector: '0x1' } },
    'abi.$0.selector',
    '"selector" is an excess property and therefore is not allowed',
    '0x1',
  ],
  [
    'an event without a name',
    { abi: [{ type: 'event', inputs: [] }] },
    'abi.$0',
    'is not a valid event: it needs a name and known types',
    { type: 'event', inputs: [] },
  ],
  [
    'an option without topic',
    { advancedOptions: [{ filter: {} }] },
    'advancedOptions.$0.topic0',
    "'topic0' is required",
  ],
  [
    'an option with a bad topic',
    { advancedOptions: { topic0: 'Transfer' } },
    'advancedOptions.$0.topic0',
    SIGNATURE,
    'Transfer',
  ],
  [
    'a filter without its event',
    { advancedOptions: [{ topic0: TRANSFER_SIGNATURE, filter: { eq: ['value', '1'] } }] },
    'advancedOptions.$0.topic0',
    'has no event in the abi, which its filter needs',
    TRANSFER_SIGNATURE,
  ],
  [
    'a filter with an unknown operator',
    { ...logs, advancedOptions: [{ topic0: TRANSFER_HASH, filter: { like: ['value', '1'] } }] },
    'advancedOptions.$0.filter',
    'like is not one of and, or, eq, ne, lt, gt, lte, gte, in, nin',
    { like: ['value', '1'] },
  ],
  [
    'a filter on an unknown parameter',
    { ...logs, advancedOptions: [{ topic0: TRANSFER_HASH, filter: { eq: ['amount', '1'] } }] },
    'advancedOptions.$0.filter.eq.$0',
    'is not a parameter of the event that can be compared',
    'amount',
  ],
  [
    'a filter with one member',
    { ...logs, advancedOptions: [{ topic0: TRANSFER_HASH, filter: { and: [{ eq: ['value', '1'] }] } }] },
    'advancedOptions.$0.filter.and',
    'must have at least two filters',
    [{ eq: ['value', '1'] }],
  ],
  [
    'a filter of another type',
    { ...logs, advancedOptions: [{ topic0: TRANSFER_HASH, filter: { gt: ['value', 'many'] } }] },
    'advancedOptions.$0.filter.gt.$1',
    'must be a whole number, decimal or hexadecimal',
    'many',
  ],
  [
    'a filter that is text',
    { ...logs, advancedOptions: [{ topic0: TRANSFER_HASH, filter: '{}' }] },
    'advancedOptions.$0.filter',
    'invalid object',
    '{}',
  ],
  [
    'a selector without $',
    { getNativeBalances: [{ type: 'tx', selectors: ['fromAddress'] }] },
    'getNativeBalances.$0.selectors.$0',
    'must be a selector of an address of type tx: $fromAddress, $toAddress, $receiptContractAddress',
    'fromAddress',
  ],
  [
    'a selector of another type',
    { getNativeBalances: { type: 'erc20transfer', selectors: ['$from', '$owner'] } },
    'getNativeBalances.$0.selectors.$1',
    'must be a selector of an address of type erc20transfer: $contract, $from, $to',
    '$owner',
  ],
  [
    'a selector of no address',
    { getNativeBalances: [{ type: 'nfttransfer', selectors: ['$tokenId'] }] },
    'getNativeBalances.$0.selectors.$0',
    'must be a selector of an address of type nfttransfer: $contract, $operator, $from, $to',
    '$tokenId',
  ],
  [
    'balances of an unknown type',
    { getNativeBalances: [{ type: 'block', selectors: [] }] },
    'getNativeBalances.$0.type',
    "should be one of the following; ['tx','log','erc20transfer','erc20approval','nfttransfer','internalTx']",
    'block',
  ],
  [
    'a trigger without function',
    { triggers: [{ ...trigger, functionAbi: undefined }] },
    'triggers.$0.functionAbi',
    "'functionAbi' is required",
  ],
  [
    'a trigger of an unknown type',
    { triggers: [{ ...trigger, type: 'internalTx' }] },
    'triggers.$0.type',
    "should be one of the following; ['tx','log','erc20transfer','erc20approval','nfttransfer']",
    'internalTx',
  ],
  [
    'a trigger on no address',
    { triggers: [{ ...trigger, contractAddress: 'usdt.eth' }] },
    'triggers.$0.contractAddress',
    'must be an address or a selector of one',
    'usdt.eth',
  ],
  [
    'a trigger from no address',
    { triggers: [{ ...trigger, callFrom: '$value' }] },
    'triggers.$0.callFrom',
    'must be a selector of an address of type erc20transfer: $contract, $from, $to',
    '$value',
  ],
  [
    'a trigger that would write',
    { triggers: [{ ...trigger, functionAbi: { ...balanceOf, stateMutability: 'payable' } }] },
    'triggers.$0.functionAbi.stateMutability',
    'must be view or pure',
    'payable',
  ],
  [
    'a trigger that calls an event',
    { triggers: [{ ...trigger, functionAbi: TRANSFER_EVENT }] },
    'triggers.$0.functionAbi.type',
    'must be function',
    'event',
  ],
  [
    'a trigger without a function name',
    { triggers: [{ ...trigger, functionAbi: { ...balanceOf, name: '' } }] },
    'triggers.$0.functionAbi.name',
    "'name' is required",
  ],
  [
    'a trigger with too few inputs',
    { triggers: [{ ...trigger, inputs: [] }] },
    'triggers.$0.inputs',
    'must have 1 items, as functionAbi has inputs',
    [],
  ],
  [
    'a trigger with a bad input',
    { triggers: [{ ...trigger, inputs: ['$value'] }] },
    'triggers.$0.inputs.$0',
    'must be a selector of an address of type erc20transfer: $contract, $from, $to',
    '$value',
  ],
  [
    'a trigger with a topic of a transfer',
    { triggers: [{ ...trigger, topic0: TRANSFER_SIGNATURE }] },
    'triggers.$0.topic0',
    'is allowed with type log only',
    TRANSFER_SIGNATURE,
  ],
  [
    'a trigger with an unknown type',
    { triggers: [{ ...trigger, functionAbi: { ...balanceOf, outputs: [{ name: '', type: 'money' }] } }] },
    'triggers.$0.functionAbi.outputs',
    'has a type that does not exist',
  ],
];

describe('a stream is refused for', () => {
  test.each(members)('%s', async (_title, given, key, message, value) => {
    const answer = await ask('PUT', '/streams/evm', { ...MINIMAL, ...given });
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual(failed({ [`requestBody.${key}`]: { message, ...(value !== undefined && { value }) } }));
  });

  test.each(members.filter(([title]) => !title.startsWith('no ')))(
    'an update with %s',
    async (_title, given, key, message, value) => {
      const answer = await ask('POST', `/streams/evm/${id}`, given);
      expect(answer.status).toBe(400);
      expect(answer.body).toEqual(
        failed({ [`requestBody.${key}`]: { message, ...(value !== undefined && { value }) } }),
      );
    },
  );

  test('several members at once, each named', async () => {
    const answer = await ask('PUT', '/streams/evm', {
      webhookUrl: 'x',
      includeNativeTxs: 1,
      chainIds: ['0x0'],
      a: 1,
      b: 2,
    });
    expect(answer.body).toEqual(
      failed({
        'requestBody.webhookUrl': { message: 'must be an http or https URL', value: 'x' },
        'requestBody.description': { message: "'description' is required" },
        'requestBody.chainIds.$0': { message: UNKNOWN_CHAIN, value: '0x0' },
        'requestBody.includeNativeTxs': { message: 'invalid boolean value', value: 1 },
        'requestBody.a': { message: '"a" is an excess property and therefore is not allowed', value: 1 },
        'requestBody.b': { message: '"b" is an excess property and therefore is not allowed', value: 2 },
      }),
    );
  });

  test.each([
    ['an array', '[]', failed({ requestBody: { message: 'invalid object', value: [] } })],
    ['null', 'null', failed({ requestBody: { message: 'invalid object', value: null } })],
    ['text', '"stream"', failed({ requestBody: { message: 'invalid object', value: 'stream' } })],
    ['no JSON', '{"webhookUrl":', { message: 'Malformed JSON in request body' }],
  ])('a body that is %s', async (_title, body, expected) => {
    const answer = await ask('PUT', '/streams/evm', body);
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual(expected);
  });

  test('JSON that is nested too deep to be written again', async () => {
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    const input = `{"name":"a","type":"tuple","components":${deep}}`;
    const body = `{"webhookUrl":"https://a.b","description":"","chainIds":["0x1"],"includeNativeTxs":true,"abi":[{"type":"function","inputs":[${input}]}]}`;
    const answer = await ask('PUT', '/streams/evm', body);
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual(
      failed({ 'requestBody.abi.$0.inputs.$0.components.$0': { message: 'must not be nested deeper than 20' } }),
    );
  });

  test('nothing that was refused was tested, or changed the stream', async () => {
    expect(services.tested).toEqual([MINIMAL.webhookUrl]);
    expect((await ask('GET', `/streams/evm/${id}`)).body).toMatchObject({ ...MINIMAL, abi: null, topic0: null });
  });
});

const ID = 'Invalid stream ID format';
const ADDRESS = 'must be a hexadecimal address (0x and 40 digits)';
const OTHER_ID = '11111111-2222-4333-8444-555555555555';

describe('is refused:', () => {
  test.each<[method: string, path: string, body: unknown, details: Record<string, object>]>([
    ['GET', '/streams/evm', undefined, { limit: { message: "'limit' is required" } }],
    ['GET', '/streams/evm?limit=', undefined, { limit: { message: 'invalid integer number', value: '' } }],
    ['GET', '/streams/evm?limit=ten', undefined, { limit: { message: 'invalid integer number', value: 'ten' } }],
    ['GET', '/streams/evm?limit=1.5', undefined, { limit: { message: 'invalid integer number', value: '1.5' } }],
    ['GET', '/streams/evm?limit=0', undefined, { limit: { message: 'min 1', value: '0' } }],
    ['GET', '/streams/evm?limit=101', undefined, { limit: { message: 'max 100', value: '101' } }],
    [
      'GET',
      '/streams/evm?limit=5&status=gone',
      undefined,
      {
        status: { message: "should be one of the following; ['active','paused','error','terminated']", value: 'gone' },
      },
    ],
    [
      'GET',
      '/streams/evm?limit=5&cursor=abc',
      undefined,
      { cursor: { message: 'cursor must be the cursor of an earlier page of this query, unchanged, "abc" was given' } },
    ],
    ['GET', '/streams/evm/nope', undefined, { id: { message: ID, value: 'nope' } }],
    ['DELETE', '/streams/evm/0x1', undefined, { id: { message: ID, value: '0x1' } }],
    ['POST', '/streams/evm/nope/duplicate', undefined, { id: { message: ID, value: 'nope' } }],
    ['POST', `/streams/evm/${OTHER_ID}/status`, {}, { 'requestBody.status': { message: "'status' is required" } }],
    [
      'POST',
      `/streams/evm/${OTHER_ID}/status`,
      { status: 'error' },
      { 'requestBody.status': { message: "should be one of the following; ['active','paused']", value: 'error' } },
    ],
    [
      'POST',
      `/streams/evm/${OTHER_ID}/status`,
      { status: 'terminated' },
      { 'requestBody.status': { message: "should be one of the following; ['active','paused']", value: 'terminated' } },
    ],
    ['GET', `/streams/evm/${OTHER_ID}/address`, undefined, { limit: { message: "'limit' is required" } }],
    ['POST', `/streams/evm/${OTHER_ID}/address`, {}, { 'requestBody.address': { message: "'address' is required" } }],
    [
      'POST',
      `/streams/evm/${OTHER_ID}/address`,
      { address: 5 },
      { 'requestBody.address': { message: 'must be an address or an array of addresses', value: 5 } },
    ],
    [
      'POST',
      `/streams/evm/${OTHER_ID}/address`,
      { address: [] },
      { 'requestBody.address': { message: 'minItems 1', value: [] } },
    ],
    [
      'DELETE',
      `/streams/evm/${OTHER_ID}/address`,
      { address: [] },
      { 'requestBody.address': { message: 'minItems 1', value: [] } },
    ],
    [
      'POST',
      '/settings',
      { region: 'mars-1' },
      {
        'requestBody.region': {
          message: "should be one of the following; ['us-east-1','us-west-2','eu-central-1','ap-southeast-1']",
          value: 'mars-1',
        },
      },
    ],
    [
      'POST',
      '/settings',
      { secretKey: 'short' },
      { 'requestBody.secretKey': { message: 'minLength 8', value: 'short' } },
    ],
    [
      'POST',
      '/settings',
      { secret: 'x' },
      { 'requestBody.secret': { message: '"secret" is an excess property and therefore is not allowed', value: 'x' } },
    ],
    ['GET', '/stats/nope', undefined, { streamId: { message: ID, value: 'nope' } }],
    ['GET', '/history', undefined, { limit: { message: "'limit' is required" } }],
    ['GET', '/history/logs?limit=500', undefined, { limit: { message: 'max 100', value: '500' } }],
    [
      'GET',
      '/history?limit=5&transactionHash=0x12',
      undefined,
      { transactionHash: { message: 'must be a transaction hash (0x and 64 hexadecimal digits)', value: '0x12' } },
    ],
    [
      'GET',
      '/history?limit=5&excludePayload=maybe',
      undefined,
      { excludePayload: { message: 'must be true or false', value: 'maybe' } },
    ],
    ['GET', '/history?limit=5&streamId=1', undefined, { streamId: { message: ID, value: '1' } }],
    [
      'GET',
      '/history?limit=5&chainId[]=0x1&chainId[]=eth',
      undefined,
      { 'chainId.$1': { message: 'must be the hexadecimal id of a known chain' } },
    ],
    [
      'GET',
      '/history?limit=5&blockNumber=latest',
      undefined,
      { 'blockNumber.$0': { message: 'must be a block number', value: 'latest' } },
    ],
    [
      'GET',
      '/history?limit=5&fromTimestamp=yesterday',
      undefined,
      { fromTimestamp: { message: 'must be a Unix timestamp', value: 'yesterday' } },
    ],
    [
      'GET',
      '/history/logs?limit=5&deliveryStatus=lost',
      undefined,
      { 'deliveryStatus.$0': { message: 'must be failed or success', value: 'lost' } },
    ],
    ['POST', '/history/replay/a/b', {}, { streamId: { message: ID, value: 'a' }, id: { message: ID, value: 'b' } }],
    ['POST', '/streams/evm/eth/block/1', {}, { chainId: { message: UNKNOWN_CHAIN, value: 'eth' } }],
    [
      'POST',
      '/streams/evm/0x1/block/latest',
      {},
      { blockNumber: { message: 'invalid integer number', value: 'latest' } },
    ],
    [
      'POST',
      '/streams/evm/0x1/block/1',
      {},
      {
        'requestBody.includeNativeTxs': {
          message: 'at least one of includeNativeTxs, includeContractLogs and includeInternalTxs must be true',
          value: false,
        },
      },
    ],
    [
      'POST',
      '/streams/evm/0x1/block/1',
      { webhookUrl: 'https://a.b' },
      {
        'requestBody.webhookUrl': {
          message: '"webhookUrl" is an excess property and therefore is not allowed',
          value: 'https://a.b',
        },
      },
    ],
    [
      'POST',
      `/streams/evm/0x89/block-to-webhook/1/${OTHER_ID}`,
      undefined,
      { chainId: { message: 'chain polygon is not followed by this server', value: '0x89' } },
    ],
    [
      'POST',
      '/historicalJobs/createJob',
      { chainId: '0x1', streamId: OTHER_ID },
      { 'requestBody.fromTimestamp': { message: "'fromTimestamp' is required" } },
    ],
    [
      'POST',
      '/historicalJobs/createJob',
      { chainId: '0x1', streamId: OTHER_ID, fromTimestamp: 5 },
      { 'requestBody.toTimestamp': { message: "'toTimestamp' is required" } },
    ],
    [
      'POST',
      '/historicalJobs/createJob',
      { chainId: '0x1', streamId: OTHER_ID, fromTimestamp: 5, toTimestamp: 4 },
      { 'requestBody.toTimestamp': { message: 'must not be lower than fromTimestamp', value: 4 } },
    ],
    [
      'POST',
      '/historicalJobs/createJob',
      { chainId: '0x1', streamId: OTHER_ID, blockFrom: 5, blockTo: 4 },
      { 'requestBody.blockTo': { message: 'must not be lower than blockFrom', value: 4 } },
    ],
    [
      'POST',
      '/historicalJobs/createJob',
      { chainId: '0x1', streamId: OTHER_ID, blockFrom: 5 },
      { 'requestBody.blockTo': { message: "'blockTo' is required" } },
    ],
    [
      'POST',
      '/historicalJobs/createJob',
      { chainId: '0x1', streamId: OTHER_ID, blockFrom: 5, toTimestamp: 9 },
      { 'requestBody.blockFrom': { message: 'may not be given together with timestamps', value: 5 } },
    ],
    [
      'POST',
      '/historicalJobs/createJob',
      { chainId: '0x1', streamId: 'x', blockFrom: -1, blockTo: 2.5 },
      {
        'requestBody.streamId': { message: ID, value: 'x' },
        'requestBody.blockFrom': { message: 'min 0', value: -1 },
        'requestBody.blockTo': { message: 'invalid integer number', value: 2.5 },
      },
    ],
    ['GET', '/historical-jobs?streamId=x', undefined, { streamId: { message: ID, value: 'x' } }],
  ])('%s %s %j', async (method, path, body, details) => {
    const answer = await ask(method, path, body);
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({ message: 'Validation Failed', details });
  });

  test.each<[body: unknown, details: Record<string, object>]>([
    ['0x12', { 'requestBody.address': { message: ADDRESS, value: '0x12' } }],
    ['vitalik.eth', { 'requestBody.address': { message: ADDRESS, value: 'vitalik.eth' } }],
    [
      [`0x${'1'.repeat(40)}`, null, 'x'],
      { 'requestBody.address.$1': { message: ADDRESS }, 'requestBody.address.$2': { message: ADDRESS, value: 'x' } },
    ],
  ])('the address %j', async (address, details) => {
    for (const method of ['POST', 'PATCH', 'DELETE']) {
      const answer = await ask(method, `/streams/evm/${id}/address`, { address });
      expect(answer.status).toBe(400);
      expect(answer.body).toEqual({ message: 'Invalid address provided', details });
    }
  });

  test('more addresses than a request may have', async () => {
    const address = Array.from({ length: 50_001 }, () => `0x${'1'.repeat(40)}`);
    const answer = await ask<{ details: object }>('POST', `/streams/evm/${id}/address`, { address });
    expect(answer.status).toBe(400);
    expect(answer.body.details).toMatchObject({ 'requestBody.address': { message: 'maxItems 50000' } });
    expect(JSON.stringify(answer.body).length).toBeLessThan(500);
  });
});

describe('404', () => {
  test.each<[method: string, path: string, body: unknown, message: string]>([
    ['GET', `/streams/evm/${OTHER_ID}`, undefined, 'Stream not found'],
    ['POST', `/streams/evm/${OTHER_ID}`, { tag: 'x' }, 'Stream not found'],
    ['DELETE', `/streams/evm/${OTHER_ID}`, {}, 'Stream not found'],
    ['POST', `/streams/evm/${OTHER_ID}/duplicate`, {}, 'Stream not found'],
    ['POST', `/streams/evm/${OTHER_ID}/status`, { status: 'paused' }, 'Stream not found'],
    ['GET', `/streams/evm/${OTHER_ID}/address?limit=1`, undefined, 'Stream not found'],
    ['POST', `/streams/evm/${OTHER_ID}/address`, { address: `0x${'1'.repeat(40)}` }, 'Stream not found'],
    ['PATCH', `/streams/evm/${OTHER_ID}/address`, { address: [] }, 'Stream not found'],
    ['DELETE', `/streams/evm/${OTHER_ID}/address`, { address: `0x${'1'.repeat(40)}` }, 'Stream not found'],
    ['GET', `/stats/${OTHER_ID}`, undefined, 'Stat not found'],
    ['POST', `/history/replay/${OTHER_ID}/${OTHER_ID}`, {}, 'History not found'],
    ['POST', `/streams/evm/0x1/block-to-webhook/1/${OTHER_ID}`, undefined, 'Stream not found'],
    ['POST', '/streams/evm/0x1/block/101', { includeNativeTxs: true }, 'Block not found'],
    [
      'POST',
      '/historicalJobs/createJob',
      { chainId: '0x1', streamId: OTHER_ID, blockFrom: 1, blockTo: 2 },
      'Stream not found',
    ],
  ])('%s %s', async (method, path, body, message) => {
    const answer = await ask(method, path, body);
    expect(answer.status).toBe(404);
    expect(answer.body).toEqual({ message });
  });
});
