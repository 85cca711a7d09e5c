import { madeForFile, stageOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { openConsoleStage } from '../../testing/console-stage.ts';
import { seedStream, seedWebhook } from '../../testing/seed-streams.ts';

const stage = stageOfFile(openConsoleStage);
const visitor = madeForFile(() => stage.signIn());

test('the attempts of the last day are a plot by minutes, without gaps', async () => {
  const id = await seedStream(stage.database);
  await seedWebhook(stage.database, id, {
    block: 90,
    status: 'delivered',
    errors: ['HTTP 500', 'HTTP 500', null],
  });
  const page = await (await stage.get(`/console/streams/${id}`, visitor)).text();
  expect(page).toContain(`data-plot="/console/streams/${id}/attempts.json"`);
  const answer = await stage.get(`/console/streams/${id}/attempts.json`, visitor);
  const { labels, times, values } = (await answer.json()) as {
    readonly labels: readonly string[];
    readonly times: readonly number[];
    readonly values: readonly [readonly number[], readonly number[]];
  };
  expect(labels).toEqual(['delivered', 'failed']);
  const sums = values.map((counts) => counts.reduce((sum, value) => sum + value, 0));
  expect(sums).toEqual([1, 2]);
  expect(times.slice(1).every((time, index) => time - (times[index] ?? 0) === 60)).toBe(true);
});
