import { parseChainId } from '@chainstead/core';
import { addressBytes, sql } from '@chainstead/db';
import { listAudit } from '@chainstead/http';
import { addressOf, storeToken } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, expect, test } from 'vitest';
import { runCaptured } from '../testing/captured-context.ts';

const SCAM = addressOf(0x5ca3);
const scratch = scratchOfFile();
beforeAll(async () => {
  await scratch.database.query(
    sql`INSERT INTO contract_reviews (key_id, chain_id, address, contract_type, report_type, reason) VALUES ('a', ${parseChainId(1)}, ${addressBytes(SCAM)}, 'NFT', 'spam', 'a trap')`,
  );
});

const run = (...args: string[]) => runCaptured(['reviews', ...args], { DATABASE_URL: scratch.url });

test('an operator sees what was reported, applies it, and leaves a trace', async () => {
  const before = await run('list');
  expect([before.exitCode, before.stdout.split('\n')[1]]).toEqual([
    0,
    expect.stringMatching(/^eth +0x.*waits +no +a trap/),
  ]);
  const applied = await run('apply', SCAM, '--chain', 'eth');
  expect([applied.exitCode, JSON.parse(applied.stdout)]).toEqual([
    0,
    { work: 'reviews apply', spam: 1, not_spam: 0, finished: true },
  ]);
  const after = await run('list', '--json', '--chain', '0x1');
  expect(JSON.parse(after.stdout)).toMatchObject([
    { chain: 'eth', address: SCAM, spam: 1, not_spam: 0, verdict: 'spam', waits: false, marked: true },
  ]);
  expect(JSON.parse((await run('list', '--json', '--chain', 'base')).stdout)).toEqual([]);
  expect(await listAudit(scratch.database, null, 1)).toMatchObject([
    { action: 'reviews.apply', target: 'eth', details: { contracts: [SCAM], spam: 1, not_spam: 0 } },
  ]);
});

test('an operator queues the facts of a token, and leaves a trace', async () => {
  const [token, unknown] = [addressOf(0x70), addressOf(0x71)];
  await scratch.database.query(
    sql`INSERT INTO tokens (address, chain_id, facts_status, facts_due_at) SELECT ${addressBytes(token)}, chain_id, 'known', NULL FROM unnest(ARRAY[1, 8453]) AS chain_id`,
  );
  const refresh = (...args: string[]) =>
    runCaptured(['tokens', 'refresh', ...args], { DATABASE_URL: scratch.url });
  const { exitCode, stdout } = await refresh(token, unknown, token, '--chain', 'eth');
  expect([exitCode, JSON.parse(stdout)]).toEqual([
    0,
    { work: 'tokens refresh', queued: 1, unknown: [unknown], finished: true },
  ]);
  expect(await scratch.database.query(sql`SELECT chain_id FROM tokens WHERE facts_due_at <= now()`)).toEqual([
    { chainId: 1 },
  ]);
  expect(await listAudit(scratch.database, null, 1)).toMatchObject([
    { action: 'tokens.refresh', target: 'eth', details: { tokens: [token] } },
  ]);
  expect(await refresh('0x12', '--chain', 'eth')).toMatchObject({ exitCode: 2 });
  expect(await refresh(token, '--chain', 'nowhere')).toMatchObject({ exitCode: 2 });
});

test('what is no address, or no chain, is refused', async () => {
  expect(await run('apply', '0x12')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('0x12 is not an address'),
  });
  expect(await run('list', '--chain', 'nowhere')).toMatchObject({ exitCode: 2 });
});

test('both commands know the chains of the database, without CHAINS', async () => {
  const token = addressOf(0x72);
  await scratch.database.query(
    sql`INSERT INTO sync_chains (chain_id, chain_key, history_start, first_followed) VALUES (31337, 'devnet', 0, 0)`,
  );
  await storeToken(scratch.database, 31337, token);
  const environment = { DATABASE_URL: scratch.url };
  const refreshed = await runCaptured(['tokens', 'refresh', token, '--chain', 'devnet'], environment);
  expect(JSON.parse(refreshed.stdout)).toMatchObject({ queued: 1, unknown: [] });
  for (const args of [['list'], ['apply']])
    expect(await run(...args, '--chain', 'devnet')).toMatchObject({ exitCode: 0 });
});
