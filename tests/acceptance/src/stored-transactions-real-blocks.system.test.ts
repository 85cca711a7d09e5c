/**
 * Recorded blocks and transactions of chains that keep all transactions and logs are served from their rows alone, field by field as they were recorded. No
 * node is there, and no request may cause a call.
 */
import { hexBytes, sql } from '@chainstead/db';
import { createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectVerboseLists } from './expect-verbose-lists.ts';
import { expectedBlock, expectedEvent, expectedTransaction } from './expected-transactions.ts';
import { listRecordings, RECORDINGS, readRecording } from './recorded-evm-blocks.ts';
import { openStoredBlocksStage, type StoredBlocksStage, statsOf } from './stored-blocks-stage.ts';

const ALL = listRecordings();

let scratch: ScratchDatabase;
let stage: StoredBlocksStage;
const ask = (path: string) => stage.ask(path);
const chainOf = (name: string) => stage.chainOf(name);

describe.skipIf(RECORDINGS.isMissing)(RECORDINGS.title('recorded transactions of chains that keep them'), () => {
  beforeAll(async () => {
    scratch = await createScratchDatabase();
    stage = await openStoredBlocksStage(scratch, ALL);
  });
  afterAll(async () => {
    await stage?.close();
    await scratch?.drop();
  });

  test.each(ALL)('those of $folder are served as they were recorded, of their rows', async (recording) => {
    const of = readRecording(recording);
    const chain = chainOf(recording.chain);
    const { transactions } = of.block;
    const creation = transactions.find(({ to }) => to === null || to === undefined);
    const failed = of.receipts.find(({ status }) => status === '0x0');
    const talkative = of.receipts.toSorted((one, other) => other.logs.length - one.logs.length)[0];
    const chosen = [transactions[0], transactions.at(-1), creation];
    for (const receipt of [failed, talkative])
      chosen.push(transactions.find(({ hash }) => hash === receipt?.transactionHash));
    for (const one of new Set(chosen)) {
      const expected = one === undefined ? null : expectedTransaction(chain, of, one);
      if (one === undefined || expected === null) continue;
      const marks = { source: 'indexed', proof: 'receipts+transactions', finalized: true };
      const { status, body } = await ask(`transaction/${String(one.hash)}?chain=${chain.id}`);
      expect(status, JSON.stringify(body).slice(0, 300)).toBe(200);
      const { confirmations, ...shown } = Object(body);
      expect(shown).toEqual({ ...expected, ...marks });
      expect(confirmations).toBeGreaterThanOrEqual(0);
      const verbose = await ask(`transaction/${String(one.hash)}/verbose?chain=${chain.id}`);
      const logs = expected.logs.map((log) => ({ ...log, decoded_event: expectedEvent(log) }));
      expect(verbose.body).toMatchObject({ ...expected, ...marks, logs });
    }
    expect(await ask(`block/${recording.n}/stats?chain=${chain.id}`)).toEqual({
      status: 200,
      body: statsOf(chain, of),
    });
  });

  test.each(ALL)('wallets of $folder have verbose lists of their rows', async (recording) => {
    const of = readRecording(recording);
    const chain = chainOf(recording.chain);
    const all = of.block.transactions.flatMap((one) => expectedTransaction(chain, of, one) ?? []);
    await expectVerboseLists(stage, chain, all);
  });

  test.each(ALL)(
    '$folder is served as it was recorded, of its rows, by its number and by its hash',
    async (recording) => {
      const of = readRecording(recording);
      const chain = chainOf(recording.chain);
      const hash = String(of.block.hash);
      for (const place of [recording.n, hash, hash.toUpperCase().replace('X', 'x')]) {
        const { status, body } = await ask(`block/${place}?chain=${chain.id}`);
        expect(status, JSON.stringify(body).slice(0, 300)).toBe(200);
        const { transactions, confirmations, ...header } = Object(body);
        const marks = { source: 'indexed', proof: 'receipts+transactions', finalized: true };
        expect(header).toEqual({ ...expectedBlock(chain, of), ...marks });
        expect(transactions).toEqual(
          of.block.transactions.flatMap((one) => expectedTransaction(chain, of, one) ?? []),
        );
        expect(confirmations).toBeGreaterThanOrEqual(0);
      }
      expect(await ask(`block/${hash}/stats?chain=${chain.id}`)).toEqual({
        status: 200,
        body: statsOf(chain, of),
      });
    },
  );

  test('one is served of its rows only where all of it is there and not contradicted', async () => {
    const { database } = scratch;
    const [recording] = ALL.filter(({ chain }) => chain === 'ethereum');
    if (recording === undefined) throw new Error('No block of Ethereum was recorded');
    const hash = String(readRecording(recording).block.transactions[0]?.hash);
    const answer = async () => {
      const { status, body } = await ask(`transaction/${hash}?chain=eth`);
      const { proof, finalized, details } = Object(body);
      return { status, proof, finalized, reason: details?.reason };
    };
    const proven = { status: 200, proof: 'receipts+transactions', finalized: true, reason: undefined };
    expect(await answer()).toEqual(proven);
    await database.query(sql`UPDATE sync_chains SET finalized = ${recording.n - 1} WHERE chain_id = 1`);
    expect(await answer()).toEqual({ ...proven, finalized: false });
    const level = (proof: string) =>
      database.query(
        sql`UPDATE sync_ranges SET proof = ${proof} WHERE chain_id = 1 AND dataset = 'logs' AND first_block = ${recording.n}`,
      );
    await level('none');
    expect(await answer()).toEqual({ ...proven, proof: 'none', finalized: false });
    const lacking = { status: 400, proof: undefined, finalized: undefined, reason: 'not-indexed' };
    await level('unproven');
    expect(await answer()).toEqual(lacking);
    await level('receipts');
    for (const [change, back] of [
      [sql`sender_recovered = false`, sql`sender_recovered = true`],
      [sql`input = NULL, selector = decode('01020304', 'hex')`, sql`input = decode('', 'hex')`],
    ] as const) {
      const isRow = sql`chain_id = 1 AND transaction_hash = ${hexBytes(hash)}`;
      await database.query(sql`UPDATE transactions SET ${change} WHERE ${isRow}`);
      expect(await answer()).toEqual(lacking);
      await database.query(sql`UPDATE transactions SET ${back} WHERE ${isRow}`);
      expect(await answer()).toEqual({ ...proven, finalized: false });
    }
  });

  test('what is not kept is not served without a node', async () => {
    const { status, body } = await ask(`transaction/0x${'ab'.repeat(32)}?chain=eth`);
    expect([status, body]).toMatchObject([400, { details: { reason: 'not-indexed' } }]);
  });
});
