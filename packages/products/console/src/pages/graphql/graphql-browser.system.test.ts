/** GraphiQL of the console in a real browser. Skipped with a message if the machine has none. */
import { randomBytes } from 'node:crypto';
import { createChainRegistry } from '@chainstead/chains';
import { silentLogger, systemClock } from '@chainstead/core';
import { rawSql, sql } from '@chainstead/db';
import { openGraphql } from '@chainstead/graphql';
import { closeOf, createScratchDatabase } from '@chainstead/testkit';
import { expect, test } from 'vitest';
import { stageInBrowser } from '../../testing/browser-stage.ts';
import { openConsoleStage } from '../../testing/console-stage.ts';
import { DESK } from '../../testing/examine-looks.ts';

const ROLE = `console_graphql_${randomBytes(6).toString('hex')}`;

const shown = stageInBrowser(async () => {
  await using parts = new AsyncDisposableStack();
  const scratch = parts.adopt(await createScratchDatabase(), (one) => one.drop());
  const { database } = scratch;
  await database.query(sql`CREATE ROLE ${rawSql(ROLE)} LOGIN PASSWORD 'secret' IN ROLE chainstead_reader`);
  parts.defer(async () => {
    await database.query(sql`DROP ROLE ${rawSql(ROLE)}`);
  });
  await database.query(
    sql`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp) VALUES (8453, 4711, sha256('block'), now())`,
  );
  const url = Object.assign(new URL(scratch.url), { username: ROLE, password: 'secret' });
  const chains = createChainRegistry().all();
  const of = { databaseUrl: url.href, chains, logger: silentLogger(), clock: systemClock };
  const graphql = parts.adopt(openGraphql(of), (one) => one.close());
  const stage = parts.adopt(
    await openConsoleStage({
      scratch,
      chains: [createChainRegistry().get('base')],
      explorer: { routes: [graphql.routes], hasGraphql: true },
    }),
    (one) => one.close(),
  );
  return { ...stage, ...closeOf(parts) };
});

test('GraphiQL runs a query for the session, without a key', async () => {
  const { page, context, complaints } = await shown.browser.open('/console/graphql', DESK);
  await page.locator('.graphiql-query-editor .CodeMirror').waitFor();
  await page.locator('.graphiql-execute-button').click();
  await page.locator('.result-window').getByText('"4711"').first().waitFor();
  await page.getByRole('link', { name: 'Back to the console' }).click();
  await page.waitForURL('**/console');
  expect(complaints).toEqual([]);
  await context.close();
});

test('an operation needs the token of the session, and variables that are JSON', async () => {
  const { stage } = shown;
  const visitor = await stage.signIn();
  const run = async (fields: Readonly<Record<string, string>>) => {
    const answer = await stage.post('/console/graphql/run', { query: '{ __typename }', ...fields }, visitor);
    return [answer.status, await answer.text()];
  };
  expect(await run({})).toEqual([200, '{"data":{"__typename":"Query"}}']);
  expect(await run({ token: 'other' })).toEqual([403, expect.stringContaining('belongs to another session')]);
  expect(await run({ variables: '{' })).toEqual([400, expect.stringContaining('variables is no JSON object')]);
});

test('without GraphQL the page says how to turn it on', async () => {
  const stage = await openConsoleStage();
  const visitor = await stage.signIn();
  expect(await (await stage.get('/console/graphql', visitor)).text()).toContain('GRAPHQL=true');
  await stage.close();
});
