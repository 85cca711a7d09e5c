import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Client, clientOf, exampleServices, exampleStreamApi } from './testing/example-stream-api.ts';

const scratch = scratchOfFile();
let ask: Client;

beforeAll(async () => {
  ask = clientOf(await exampleStreamApi(scratch.database, exampleServices()));
});

const UNKNOWN_CHAIN = 'is not the hexadecimal id of a known chain, such as 0x1';

/** The body of a validation error: one entry per member, as `requestBody.x`. */
function failed(details: Readonly<Record<string, { readonly message: string; readonly value?: unknown }>>) {
  return { message: 'Validation Failed', details };
}

describe('a stream is refused for', () => {
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
    const deep = `${'['.repeat(30)}${']'.repeat(30)}`;
    const input = `{"name":"a","type":"tuple","components":${deep}}`;
    const body = `{"webhookUrl":"https://a.b","description":"","chainIds":["0x1"],"includeNativeTxs":true,"abi":[{"type":"function","inputs":[${input}]}]}`;
    const answer = await ask('PUT', '/streams/evm', body);
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual(
      failed({ 'requestBody.abi.$0.inputs.$0.components.$0': { message: 'must not be nested deeper than 20' } }),
    );
  });
});

const OTHER_ID = '11111111-2222-4333-8444-555555555555';

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
