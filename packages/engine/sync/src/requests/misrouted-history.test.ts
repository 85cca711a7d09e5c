/** Requested histories from a node that answers for another chain: none of its logs becomes a row, and its lack of logs is no answer. */
import { type Address, type Hash, mergeRanges } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { TRANSFER_TOPIC } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { listSubjectRanges } from '../coverage/subject.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { createMarkTables, marks } from '../testing/marks-dataset.ts';
import { openTwoChains } from '../testing/two-chains.ts';
import { enqueueHistory } from './enqueue-history.ts';
import { readHistory } from './read-history.ts';

const BLOCKS = 40;
const RANGE = { from: 0, to: BLOCKS };
const NEVER = new AbortController().signal;
const topic = TRANSFER_TOPIC as Hash;
const ofHistories: Dataset = {
  ...(marks as Dataset),
  histories: {
    ofWallet: () => [],
    ofContract: (_chain, contract) => [{ topics: [topic], addresses: [contract] }],
  },
};
const scratch = scratchOfFile();
let nextChainId = 988_001;

beforeAll(() => createMarkTables(scratch.database));

async function open(tellsChain: boolean) {
  const kind = { blocks: BLOCKS, window: 30, tellsChain, finalityDepth: 0 };
  const stage = await openTwoChains(scratch.database, nextChainId++, [ofHistories], kind);
  onTestFinished(() => stage.close());
  return {
    ...stage,
    /** The first turn reads from the misrouted node, which is back on its chain for the second. */
    async request(contract: Address) {
      const subject = { chainId: stage.chain.id, kind: 'contract', address: contract } as const;
      await enqueueHistory(stage.database, { subject, requestedBy: null, perKey: 10, maxCalls: 1_000 });
      const options = { ...stage, pool: stage.startingAtSecond(), maxCalls: 1_000, sliceMs: 1e9 };
      stage.misroute(1);
      const first = await readHistory(options, subject, NEVER);
      const held = (await listSubjectRanges(stage.database, subject)).length;
      // Nothing says which of two nodes is wrong, and either may be the next one.
      stage.misroute(0);
      await stage.database.query(
        sql`UPDATE backfill_requests SET due_at = now() WHERE chain_id = ${subject.chainId}`,
      );
      await readHistory(options, subject, NEVER);
      const ranges = (await listSubjectRanges(stage.database, subject)).map(({ range }) => range);
      return { first, held, ranges: mergeRanges(ranges) };
    },
    rows: async () =>
      (
        await stage.database.query<{ place: string }>(
          sql`SELECT DISTINCT concat_ws(' ', block_number, log_index) AS place FROM marks WHERE chain_id = ${stage.chain.id}`,
        )
      )
        .map(({ place }) => place)
        .sort(),
  };
}

// Invariant: PROOF-SAME-CHAIN
describe.each([{ tellsChain: true }, { tellsChain: false }])(
  'a node of another chain, whose id it tells: $tellsChain',
  ({ tellsChain }) => {
    it('adds no row of its chain to a history', async () => {
      const stage = await open(tellsChain);
      const [foreign] = stage.other.expectedTransfers();
      if (foreign === undefined) throw new Error('The other chain has no transfer');
      expect(await stage.request(foreign.token)).toEqual({ first: 'failed', held: 0, ranges: [RANGE] });
      expect(await stage.rows()).toEqual([]);
    });

    it('leaves no gap by an empty response', async () => {
      const stage = await open(tellsChain);
      const transfers = stage.scripted.expectedTransfers({ from: 0, to: BLOCKS });
      const [own] = transfers;
      if (own === undefined) throw new Error('The chain has no transfer');
      expect(stage.other.expectedTransfers().filter(({ token }) => token === own.token)).toEqual([]);
      expect(await stage.request(own.token)).toEqual({ first: 'failed', held: 0, ranges: [RANGE] });
      const places = transfers
        .filter(({ token }) => token === own.token)
        .map(({ blockNumber, logIndex }) => `${blockNumber} ${logIndex}`);
      expect(await stage.rows()).toEqual([...new Set(places)].sort());
    });
  },
);
