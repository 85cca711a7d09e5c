/** Profits of many swaps: requests wait until a worker has summed them, and share its result. */

import { silentLogger, systemClock } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { createNodeReadQueue } from '@chainstead/node-reads';
import { expect, test } from 'vitest';
import { sumTopGainers, sumWalletProfits, topGainersReader, walletProfitsReader } from './summed-profits.ts';
import { ANN, BOB, CATS, cats, dollars, eth, profitRoutesOfFile, seedTrades } from './testing/profit-stage.ts';

const { scratch } = profitRoutesOfFile();

/** Sources of requests that sum at most so many swaps. */
function sources(requestMax: number) {
  const { database } = scratch;
  const nodeReads = createNodeReadQueue({ database, chains: [eth], clock: systemClock, logger: silentLogger() });
  return { reads: database, nodeReads, limits: { requestMax } };
}

/** Does the waiting work as the worker role does. @returns the kinds of the work */
async function work(): Promise<readonly string[]> {
  const { database } = scratch;
  const { signal } = new AbortController();
  const rows = await database.query<{ readonly key: string; readonly kind: string; readonly question: unknown }>(
    sql`SELECT key, kind, question FROM state_questions WHERE settled_at IS NULL ORDER BY kind`,
  );
  for (const { key, kind, question } of rows) {
    const context = { chain: eth, database };
    const answer =
      kind === 'top-gainers'
        ? await topGainersReader.read(context, topGainersReader.kind.question.parse(question), signal)
        : await walletProfitsReader.read(context, walletProfitsReader.kind.question.parse(question), signal);
    await database.query(
      sql`UPDATE state_questions SET settled_at = clock_timestamp(), answer = ${JSON.stringify(answer)}::jsonb WHERE key = ${key}`,
    );
  }
  return rows.map(({ kind }) => kind);
}

test('profits of more swaps than a request sums come from a worker, and are equal', async () => {
  await seedTrades(scratch.database, [
    { block: 10, gave: dollars(1), got: cats(3) },
    { block: 11, gave: cats(1), got: dollars(6) },
    { block: 12, wallet: BOB, gave: dollars(6), got: cats(1) },
  ]);
  const wallet = { wallet: ANN, tokens: [CATS], days: 7 };
  const token = { token: CATS, days: null };
  const whole = [await sumWalletProfits(sources(2), eth, wallet), await sumTopGainers(sources(3), eth, token)];
  expect(await work()).toEqual([]);

  for (const refused of [sumWalletProfits(sources(1), eth, wallet), sumTopGainers(sources(2), eth, token)])
    await expect(refused).rejects.toMatchObject({
      ...{ code: 'STATE_UNAVAILABLE', status: 503, retryable: true, headers: { 'retry-after': '1' } },
      message: expect.stringContaining('being summed'),
    });
  expect(await work()).toEqual(['top-gainers', 'wallet-profits']);
  const summed = [await sumWalletProfits(sources(1), eth, wallet), await sumTopGainers(sources(2), eth, token)];
  expect(summed).toEqual(whole);
  expect(await work()).toEqual([]);
});
