import { createChainRegistry } from '@chainstead/chains';
import { silentLogger, systemClock } from '@chainstead/core';
import { addressBytes, sql } from '@chainstead/db';
import { createNodeReadQueue } from '@chainstead/node-reads';
import { addressOf } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, expect, test } from 'vitest';
import { requestPoolLookups, tokensToLookUp } from './lookup-reader.ts';

const chain = createChainRegistry().get('eth');
const [ONE, TWO, SIX] = [addressOf(1), addressOf(2), addressOf(6)];
const CHECKPOINT = 1_000;

const scratch = scratchOfFile();

beforeEach(async () => {
  await scratch.database.query(sql`TRUNCATE pool_lookups, state_questions, sync_chains`);
  await scratch.database.query(
    sql`INSERT INTO sync_chains (chain_id, history_start, first_followed, checkpoint) VALUES (${chain.id}, 0, 0, ${CHECKPOINT})`,
  );
});

/** A look-up that was stored so many hours ago. */
async function seedLookup(token: string, block: number, hoursAgo = 0): Promise<void> {
  await scratch.database.query(
    sql`INSERT INTO pool_lookups (token, chain_id, block_number, looked_up_at) VALUES (${addressBytes(token as typeof ONE)}, ${chain.id}, ${block}, now() - make_interval(hours => ${hoursAgo}))`,
  );
}

/** Tokens of each question that a request leaves. No worker serves it. */
async function leftBy(tokens: readonly (typeof ONE)[], block: number): Promise<unknown[]> {
  const { database } = scratch;
  const nodeReads = createNodeReadQueue({
    database,
    chains: [chain],
    clock: systemClock,
    logger: silentLogger(),
  });
  const sources = { database, nodeReads, logger: silentLogger() };
  expect(await requestPoolLookups(sources, chain, tokens, { block })).toEqual([]);
  const rows = await database.query<{ question: unknown }>(
    sql`SELECT question FROM state_questions ORDER BY question`,
  );
  return rows.map(({ question }) => question);
}

test('tokens are looked up once a day in a run of indexed blocks', async () => {
  await seedLookup(ONE, 900);
  await seedLookup(TWO, 900, 25);
  const { database } = scratch;
  expect(await tokensToLookUp(database, chain, [ONE, TWO, SIX], { runStart: 900 })).toEqual([TWO, SIX]);
  expect(await tokensToLookUp(database, chain, [ONE], { runStart: 901 })).toEqual([ONE]);
  expect(await tokensToLookUp(database, { id: 137 as typeof chain.id }, [ONE], { runStart: 0 })).toEqual([ONE]);
  expect(await tokensToLookUp(database, chain, [], { runStart: 0 })).toEqual([]);
});

test('five tokens are asked for together, a hundred in a request', async () => {
  expect(await leftBy([SIX, ONE], CHECKPOINT)).toEqual([{ block: CHECKPOINT, tokens: [ONE, SIX] }]);
  await scratch.database.query(sql`TRUNCATE state_questions`);
  const many = Array.from({ length: 150 }, (_, place) => addressOf(1_000 + place));
  const left = (await leftBy(many, CHECKPOINT)) as { tokens: string[] }[];
  expect(left).toHaveLength(20);
  expect(left.flatMap(({ tokens }) => tokens).toSorted()).toEqual(many.slice(0, 100));
});

test('nothing is looked up at an old block, on a chain that is not followed, or beyond the limit of a minute', async () => {
  expect(await leftBy([ONE], CHECKPOINT - 65)).toEqual([]);
  await scratch.database.query(
    sql`INSERT INTO pool_lookups (token, chain_id, block_number) SELECT decode(lpad(to_hex(number), 40, '0'), 'hex'), ${chain.id}, 1
     FROM generate_series(1000, 1599) AS number`,
  );
  expect(await leftBy([ONE], CHECKPOINT)).toEqual([]);
  await scratch.database.query(
    sql`UPDATE pool_lookups SET looked_up_at = now() - interval '61 s' WHERE token = ${addressBytes(addressOf(1_000))}`,
  );
  expect(await leftBy([ONE, TWO], CHECKPOINT - 64)).toEqual([{ block: CHECKPOINT - 64, tokens: [ONE] }]);
  await scratch.database.query(sql`TRUNCATE sync_chains, state_questions`);
  expect(await leftBy([ONE], CHECKPOINT)).toEqual([]);
});
