/** Recorded blocks and transactions are answered of their rows on a cluster of Citus too, where a block's lie on several nodes. */
import { findCitus, type ScratchCitus, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectVerboseLists } from './expect-verbose-lists.ts';
import { expectedBlock, expectedTransaction } from './expected-transactions.ts';
import { listRecordings, RECORDINGS, readRecording } from './recorded-evm-blocks.ts';
import { openStoredBlocksStage, type StoredBlocksStage, statsOf } from './stored-blocks-stage.ts';

const programs = await findCitus('blocks that are kept on a cluster');

const CHAINS: ReadonlySet<string> = new Set(['ethereum', 'polygon']);
const CHOSEN = listRecordings()
  .filter(({ chain }) => CHAINS.has(chain))
  .filter((_, place) => place % 12 === 0);
const TIMEOUT_MS = 240_000;

describe.runIf(!RECORDINGS.isMissing && programs !== undefined)(
  RECORDINGS.title('blocks that are kept on a cluster'),
  () => {
    let cluster: ScratchCitus;
    let spread: ScratchDatabase;
    let stage: StoredBlocksStage;
    beforeAll(async () => {
      if (programs === undefined) throw new Error('There is no Citus');
      cluster = await programs.createCluster();
      spread = await cluster.createDatabase({ distributed: true });
      stage = await openStoredBlocksStage(spread, CHOSEN);
    }, TIMEOUT_MS);
    afterAll(async () => {
      await stage?.close();
      await spread?.drop();
      await cluster?.remove();
    });

    test.each(CHOSEN)('$folder is served as it was recorded', { timeout: TIMEOUT_MS }, async (recording) => {
      const of = readRecording(recording);
      const chain = stage.chainOf(recording.chain);
      const expected = of.block.transactions.flatMap((one) => expectedTransaction(chain, of, one) ?? []);
      const whole = { ...expectedBlock(chain, of), transactions: expected, source: 'indexed' };
      for (const place of [recording.n, String(of.block.hash)]) {
        const { status, body } = await stage.ask(`block/${place}?chain=${chain.id}`);
        expect([status, body]).toEqual([200, expect.objectContaining(whole)]);
        const stats = await stage.ask(`block/${place}/stats?chain=${chain.id}`);
        expect(stats).toEqual({ status: 200, body: statsOf(chain, of) });
      }
      const [first] = expected;
      const transaction = await stage.ask(`transaction/${first?.hash}?chain=${chain.id}`);
      expect([transaction.status, transaction.body]).toEqual([200, expect.objectContaining(first)]);
      await expectVerboseLists(stage, chain, expected);
    });
  },
);
