import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  type Client,
  clientOf,
  exampleServices,
  exampleStreamApi,
  MINIMAL,
} from './testing/example-stream-api.ts';

const scratch = scratchOfFile();
let ask: Client;
let id: string;

beforeAll(async () => {
  ask = clientOf(await exampleStreamApi(scratch.database, exampleServices()));
  const created = await ask<{ id: string }>('PUT', '/streams/evm', MINIMAL);
  ({ id } = created.body);
});

const UNKNOWN_CHAIN = 'is not the hexadecimal id of a known chain, such as 0x1';
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
        status: {
          message: "should be one of the following; ['active','paused','error','terminated']",
          value: 'gone',
        },
      },
    ],
    [
      'GET',
      '/streams/evm?limit=5&cursor=abc',
      undefined,
      {
        cursor: {
          message: 'cursor must be the cursor of an earlier page of this query, unchanged, "abc" was given',
        },
      },
    ],
    ['GET', '/streams/evm/nope', undefined, { id: { message: ID, value: 'nope' } }],
    ['DELETE', '/streams/evm/0x1', undefined, { id: { message: ID, value: '0x1' } }],
    ['POST', '/streams/evm/nope/duplicate', undefined, { id: { message: ID, value: 'nope' } }],
    [
      'POST',
      `/streams/evm/${OTHER_ID}/status`,
      {},
      { 'requestBody.status': { message: "'status' is required" } },
    ],
    [
      'POST',
      `/streams/evm/${OTHER_ID}/status`,
      { status: 'error' },
      {
        'requestBody.status': { message: "should be one of the following; ['active','paused']", value: 'error' },
      },
    ],
    [
      'POST',
      `/streams/evm/${OTHER_ID}/status`,
      { status: 'terminated' },
      {
        'requestBody.status': {
          message: "should be one of the following; ['active','paused']",
          value: 'terminated',
        },
      },
    ],
    ['GET', `/streams/evm/${OTHER_ID}/address`, undefined, { limit: { message: "'limit' is required" } }],
    [
      'POST',
      `/streams/evm/${OTHER_ID}/address`,
      {},
      { 'requestBody.address': { message: "'address' is required" } },
    ],
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
      {
        'requestBody.secret': {
          message: '"secret" is an excess property and therefore is not allowed',
          value: 'x',
        },
      },
    ],
    ['GET', '/stats/nope', undefined, { streamId: { message: ID, value: 'nope' } }],
    ['GET', '/history', undefined, { limit: { message: "'limit' is required" } }],
    ['GET', '/history/logs?limit=500', undefined, { limit: { message: 'max 100', value: '500' } }],
    [
      'GET',
      '/history?limit=5&transactionHash=0x12',
      undefined,
      {
        transactionHash: { message: 'must be a transaction hash (0x and 64 hexadecimal digits)', value: '0x12' },
      },
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
      { 'chainId.$1': { message: 'must be the hexadecimal id of a known chain', value: 'eth' } },
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
    [
      'POST',
      '/history/replay/a/b',
      {},
      { streamId: { message: ID, value: 'a' }, id: { message: ID, value: 'b' } },
    ],
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
      {
        chainId: {
          message: 'Chain polygon is not indexed here: add it to CHAINS (CHAINS=polygon,…) and restart',
          value: '0x89',
        },
      },
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
      {
        'requestBody.address.$1': { message: ADDRESS },
        'requestBody.address.$2': { message: ADDRESS, value: 'x' },
      },
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
