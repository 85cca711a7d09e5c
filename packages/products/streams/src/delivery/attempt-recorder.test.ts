import { randomUUID } from 'node:crypto';
import { silentLogger, systemClock } from '@chainstead/core';
import { createScratchDatabase } from '@chainstead/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { createAttemptRecorder } from './attempts.ts';
import { type Attempt, readDueDeliveries } from './outbox.ts';
import { addMatches, addStream, readOutbox } from './testing/delivery-stage.ts';
import { EXAMPLE_DELAYS_MS } from './testing/example-retries.ts';

test('an attempt that Postgres refuses is given up, and those beside it are recorded', async () => {
  const { database, drop } = await createScratchDatabase();
  onTestFinished(drop);
  const streamId = await addStream(database, { webhookUrl: 'http://receiver.example/' });
  await addMatches(database, streamId, { blocks: [1, 2, 3] });
  const due = await readDueDeliveries(database, { streamIds: [streamId], limit: 3, without: [] });
  const recorder = createAttemptRecorder({
    ...{ database, retryDelaysMs: EXAMPLE_DELAYS_MS, clock: systemClock, logger: silentLogger() },
    onRecorded: async () => undefined,
  });
  // Postgres text cannot contain a NUL character.
  const attempts = due.map(
    ({ delivery }, place): Attempt => ({
      ...{ id: randomUUID(), delivery, body: '{"retries":0}', finishedAt: new Date() },
      outcome: { success: false, httpStatus: 500, errorMessage: place === 1 ? '\0' : 'failed', durationMs: 5 },
    }),
  );
  const { signal } = new AbortController();
  const settled = await Promise.allSettled(attempts.map((attempt) => recorder.record(attempt, signal)));
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect((await readOutbox(database, streamId)).map(({ retries }) => retries)).toEqual([1, 0, 1]);
});
