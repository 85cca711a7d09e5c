import { type ChainId, parseChainId } from '@chainstead/core';
import { createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clearStartFailure, saveStall, saveStartFailure } from './status-reports.ts';

let scratch: ScratchDatabase;

beforeAll(async () => {
  scratch = await createScratchDatabase();
});

afterAll(() => scratch?.drop());

/** A chain whose row was written so long ago. */
async function chainOfAge(id: number, seconds: number): Promise<ChainId> {
  await scratch.database.query(
    `INSERT INTO sync_chains (chain_id, history_start, first_followed, updated_at)
     VALUES ($1, 0, 0, now() - $2 * interval '1 second')`,
    [id, seconds],
  );
  return parseChainId(id);
}

async function stallOf(chainId: ChainId): Promise<unknown> {
  const [row] = await scratch.database.query('SELECT stall_reason FROM sync_chains WHERE chain_id = $1', [chainId]);
  return row?.stall_reason;
}

test('why a chain cannot begin is written down while nobody leads it, and taken back', async () => {
  const chainId = await chainOfAge(7_001, 60);
  await saveStartFailure(scratch.database, chainId, 'every upstream is down');
  expect(await stallOf(chainId)).toBe('every upstream is down');
  await clearStartFailure(scratch.database, chainId, 'every upstream is down');
  expect(await stallOf(chainId)).toBeNull();
});

test('a process that cannot begin says nothing of a chain that another one leads', async () => {
  const chainId = await chainOfAge(7_002, 3);
  await saveStartFailure(scratch.database, chainId, 'every upstream is down');
  expect(await stallOf(chainId)).toBeNull();
});

test('what is taken back is its own reason only', async () => {
  const chainId = await chainOfAge(7_003, 60);
  await saveStall(scratch.database, chainId, 'the leader has a reason of its own');
  await clearStartFailure(scratch.database, chainId, 'every upstream is down');
  expect(await stallOf(chainId)).toBe('the leader has a reason of its own');
});
