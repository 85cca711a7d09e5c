import { statementOf } from '@chainstead/db';
import { afterEach, expect, test } from 'vitest';
import { type ConsoleStage, openConsoleStage } from './testing/console-stage.ts';
import { seedChains } from './testing/seed-chains.ts';

let stage: ConsoleStage | undefined;
afterEach(() => stage?.close());

test('what a first page needs of a day is read before anybody is served', async () => {
  const statements: string[] = [];
  stage = await openConsoleStage({
    wrap: (database) => ({
      ...database,
      query: (statement) => {
        statements.push(statementOf(statement).text);
        return database.query(statement);
      },
    }),
  });
  await seedChains(stage.database, [7]);
  await stage.console.warmUp(stage.app);
  const samples = () => statements.filter((text) => text.includes('chain_metrics_minutely')).length;
  const before = samples();
  expect(before).toBeGreaterThan(1);
  const visitor = await stage.signIn();
  const page = await stage.get('/console', visitor);
  expect(await page.text()).toContain('chain-7');
  // Samples of the last minutes are read once more, those of the day are cached.
  expect(samples()).toBe(before + 1);
});

test('a database that fails meanwhile fails no start', async () => {
  let isAway = true;
  stage = await openConsoleStage({
    wrap: (database) => ({
      ...database,
      query: (statement) => {
        if (isAway && statementOf(statement).text.includes('chain_metrics_minutely')) throw new Error('away');
        return database.query(statement);
      },
    }),
  });
  await stage.console.warmUp(stage.app);
  isAway = false;
  expect((await stage.get('/console/sign-in')).status).toBe(200);
});
