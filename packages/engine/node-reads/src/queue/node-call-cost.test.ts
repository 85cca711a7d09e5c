import type { Chain } from '@chainstead/chains';
import { silentLogger, systemClock, waitingAtMost } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { exampleChain } from '@chainstead/testkit';
import { madeForFile, scratchOfFile } from '@chainstead/testkit/hooks';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { StateKind } from '../state-kind.ts';
import { createNodeReadQueue } from './node-read-queue.ts';

const chain: Chain = exampleChain({ id: 1 });
const kind: StateKind<{ text: string }, string> = {
  name: 'costly',
  question: z.object({ text: z.string() }),
  answer: z.string(),
  callsOf: () => 15,
};
const OTHER_KEY = 'other-key';

const scratch = scratchOfFile();
const api = madeForFile(() => {
  const { database } = scratch;
  const nodeReads = createNodeReadQueue({
    database,
    chains: [chain],
    clock: systemClock,
    logger: silentLogger(),
  });
  const read = (text: string, waitMs: number) =>
    waitingAtMost(waitMs, () => nodeReads.request(chain, kind, { text }));
  return exampleApi(
    database,
    [
      (app) => {
        app.get('/read/:text', async (c) => c.json({ answer: await read(c.req.param('text'), 500) }));
        app.get('/later/:text', async (c) => c.json({ answer: await read(c.req.param('text'), 0) }));
      },
    ],
    // 20 calls in ten seconds.
    { nodeCallsPerSecond: 2, otherKeys: [OTHER_KEY] },
  );
});

const ask = (path: string, key = EXAMPLE_KEY) => api.request(path, { headers: { 'x-api-key': key } });

describe('the node calls of a question', () => {
  test('count for the key that asks it first, and end with 429 and Retry-After', async () => {
    expect((await ask('/read/one')).status).toBe(200);
    // It is under way already.
    expect((await ask('/read/one')).status).toBe(200);
    const refused = await ask('/read/two');
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await ask('/read/two', OTHER_KEY)).status).toBe(200);
    expect((await ask('/read/two')).status).toBe(200);
  });

  test('are not spent on a question that no response needs', async () => {
    expect((await ask('/later/three')).status).toBe(200);
    expect(
      await scratch.database.query(sql`SELECT question->>'text' AS text FROM state_questions ORDER BY 1`),
    ).toEqual([{ text: 'one' }, { text: 'two' }]);
  });
});
