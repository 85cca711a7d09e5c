/** Blocks that were stored although their contents contradict their header: no response that reaches over one is complete. */

import { createChainRegistry } from '@chainstead/chains';
import { addressBytes, joinSql, sql } from '@chainstead/db';
import { CONTRADICTIONS } from '@chainstead/sync/requests';
import { addressOf } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { pageRange } from '../pages/chain-page.ts';
import {
  readSubject,
  readSubjectState,
  type SubjectColumns,
  type SubjectSnapshot,
  subjectColumns,
  subjectCoverage,
  subjectHistory,
  subjectState,
} from './subject-coverage.ts';

const CHAIN = createChainRegistry().get('eth');
const WALLET = addressOf(0x11);
const DATASET = 'erc20-transfers';
const CONTRADICTED = 10;
const STATE = { name: 'wallet-tokens', version: 3 };
const SUBJECT = {
  kind: 'wallet',
  subject: sql`${addressBytes(WALLET)}`,
  chainId: CHAIN.id,
  dataset: DATASET,
} as const;

const scratch = scratchOfFile();

beforeAll(async () => {
  await scratch.database.query(
    sql`INSERT INTO projections (chain_id, state, dataset, version, status, position) VALUES (${CHAIN.id}, ${STATE.name}, ${DATASET}, ${STATE.version}, 'built', 0)`,
  );
  await scratch.database.query(
    sql`INSERT INTO subject_projections (chain_id, state, subject) VALUES (${CHAIN.id}, ${STATE.name}, ${addressBytes(WALLET)})`,
  );
});
beforeEach(() => scratch.database.query(sql`DELETE FROM sync_ranges`));

/** Blocks 0 to 20, of which one is unproven for a reason; null: it is proven too. */
async function cover(reason: string | null): Promise<void> {
  await scratch.database.query(
    sql`INSERT INTO sync_ranges (chain_id, dataset, first_block, last_block, proof, proof_reason)
     VALUES (${CHAIN.id}, ${DATASET}, 0, ${CONTRADICTED} - 1, 'receipts', NULL), (${CHAIN.id}, ${DATASET}, ${CONTRADICTED}, ${CONTRADICTED}, ${reason === null ? 'receipts' : 'unproven'}, ${reason}), (${CHAIN.id}, ${DATASET}, ${CONTRADICTED} + 1, 20, 'receipts', NULL)`,
  );
}

async function isSubjectComplete(): Promise<boolean> {
  const [row] = await scratch.database.query<SubjectColumns>(
    sql`WITH ${subjectCoverage(SUBJECT)} SELECT ${subjectColumns(SUBJECT)} FROM covered LEFT JOIN ${subjectHistory(SUBJECT)}`,
  );
  return readSubject(CHAIN, row, 0).indexed.complete;
}

async function isStateComplete(): Promise<boolean> {
  const [row] = await scratch.database.query<{ state: SubjectSnapshot }>(
    sql`WITH ${subjectCoverage(SUBJECT)} SELECT ${subjectState(SUBJECT, STATE)} AS state`,
  );
  if (row === undefined) throw new TypeError('The statement returned no row');
  return readSubjectState(CHAIN, row.state, 0).coverage.indexed.complete;
}

async function isPageComplete(fromBlock: number | null, toBlock: number | null): Promise<boolean> {
  const bounds = { fromBlock, toBlock, fromDate: null, toDate: null, pinnedBlock: null };
  const { ctes, complete } = pageRange(CHAIN, CHAIN.id, DATASET, bounds);
  const [row] = await scratch.database.query<{ complete: boolean }>(
    sql`WITH ${joinSql(ctes)} SELECT ${complete} AS complete FROM covered`,
  );
  return row?.complete === true;
}

// Invariant: PAGE-COMPLETE
describe.each(CONTRADICTIONS)('a block that is unproven for the reason %s', (reason) => {
  test('leaves no response complete that reaches over it', async () => {
    await cover(reason);
    expect(await isSubjectComplete()).toBe(false);
    expect(await isStateComplete()).toBe(false);
    expect(await isPageComplete(null, null)).toBe(false);
    expect(await isPageComplete(CONTRADICTED, CONTRADICTED)).toBe(false);
    expect(await isPageComplete(CONTRADICTED + 1, null)).toBe(true);
    expect(await isPageComplete(null, CONTRADICTED - 1)).toBe(true);
  });
});

test.each([null, 'root-missing', 'transaction-encoding'])(
  'a block with the reason %s leaves it complete',
  async (reason) => {
    await cover(reason);
    expect(await isSubjectComplete()).toBe(true);
    expect(await isStateComplete()).toBe(true);
    expect(await isPageComplete(null, null)).toBe(true);
  },
);
