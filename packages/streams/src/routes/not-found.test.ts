import { createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Client, clientOf, exampleServices, exampleStreamApi } from './testing/example-stream-api.ts';

let scratch: ScratchDatabase;
let ask: Client;

beforeAll(async () => {
  scratch = await createScratchDatabase();
  ask = clientOf(await exampleStreamApi(scratch.database, exampleServices()));
});
afterAll(() => scratch.drop());

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
