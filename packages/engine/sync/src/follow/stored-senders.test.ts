/** A node that names a wrong sender: only where rows store senders, its blocks are refused. */
import type { JsonObject } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { backfill } from '../backfill/backfill.ts';
import type { Dataset } from '../dataset/dataset.ts';
import type { BlockWatcher } from '../read/block-watcher.ts';
import { altering } from '../testing/lying-block.ts';
import { openScriptedStage } from '../testing/scripted-stage.ts';
import { createWholeBlockTables, outcomes } from '../testing/whole-block-datasets.ts';
import { follow } from './follower.ts';

const scratch = scratchOfFile();
const BLOCKS = 6;
const STRANGER = `0x${'77'.repeat(20)}`;
let nextChainId = 966_301;

const withoutSenders: Dataset = {
  ...(outcomes as Dataset),
  wholeBlocks: { reads: () => ['transactions'], decode: () => [], storesSender: () => false },
};

beforeAll(() => createWholeBlockTables(scratch.database));

async function openLyingStage(dataset: Dataset) {
  // A created contract's address follows from the sender: there, the lie would be seen.
  const forged = (list: readonly JsonObject[]) =>
    list.map((one) => (one.to === null ? one : { ...one, from: STRANGER }));
  const stage = await openScriptedStage(scratch.database, nextChainId++, [dataset], {
    ...{ blocks: BLOCKS, finalityDepth: 0, isSigned: true, firstFollowed: 1 },
    answer(method, params, own) {
      if (method === 'eth_getBlockReceipts') return altering(own, forged)(params);
      if (!/^eth_getBlockBy/.test(method) || params[1] !== true) return own(params);
      const block = (json: JsonObject) => ({ ...json, transactions: forged(json.transactions as JsonObject[]) });
      return altering(own, block)(params);
    },
  });
  onTestFinished(() => stage.close());
  const transactions = { mode: 'all', input: 'full', verifiesSenders: true } as const;
  return { ...stage, chain: { ...stage.chain, transactions } };
}

/** The ranges that the dataset covers then. */
async function followed(dataset: Dataset, needsTransactions = false) {
  const stage = await openLyingStage(dataset);
  const needs = { transactions: needsTransactions, internalTransfers: false };
  const watcher: BlockWatcher = {
    needs: async () => needs,
    committed: async () => undefined,
    rolledBack: async () => undefined,
  };
  const ends = { firstFollowed: 1, endBlock: BLOCKS, onProgress: () => undefined };
  await follow({ ...stage, ...ends, watcher }, null, AbortSignal.timeout(20_000));
  return (await stage.coverageOf(dataset)).ranges;
}

async function backfilled(dataset: Dataset) {
  const stage = await openLyingStage(dataset);
  const how = { order: 'oldest-first', proof: 'receipts', kind: 'add' } as const;
  await backfill({ ...stage, ...how }, [{ from: 1, to: BLOCKS }], AbortSignal.timeout(20_000));
  return (await stage.coverageOf(dataset)).ranges;
}

// Invariant: PROOF-SENDERS
test('followed blocks are refused for a sender only if a row stores it, or a watcher needs transactions', async () => {
  const all = [{ from: 1, to: BLOCKS }];
  expect(await followed(withoutSenders)).toEqual(all);
  expect(await followed(withoutSenders, true)).not.toEqual(all);
  expect(await followed(outcomes as Dataset)).not.toEqual(all);
});

test('backfilled blocks are refused for a sender only if a row stores it', async () => {
  const all = [{ from: 1, to: BLOCKS }];
  expect(await backfilled(withoutSenders)).toEqual(all);
  expect(await backfilled(outcomes as Dataset)).not.toEqual(all);
});
