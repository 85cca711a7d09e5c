/** An index on a cluster of Citus equals that of one server over the same blocks: rows, derived rows, and API responses. */
import { createChainRegistry } from '@chainstead/chains';
import type { BlockRange } from '@chainstead/core';
import { createScriptedChain, recordedData, type ScratchDatabase, serveScriptedChain } from '@chainstead/testkit';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { answersOf, busiest } from './citus-answers.ts';
import { countRows, dumpEverything, keepEverything, makePlaces } from './citus-rows.ts';
import { describeOnCitus } from './citus-stage.ts';
import { SCRIPTED_CHAIN_ID, scriptedChainFacts, startIndexer } from './indexed-chain.ts';
import { untilIndexed } from './indexed-tables.ts';
import { indexRecordedBlocks, recordedRanges } from './recorded-blocks.ts';

const { folder, isMissing, title } = recordedData('data/evm');

/** Limit for subjects of each kind; each is counted in separate transactions. */
const KEPT_MAX = 6;
/** Blocks that are read again: the derived state of all subjects in them is looked up one by one. */
const AGAIN = 4;
const TIMEOUT_MS = 240_000;

await describeOnCitus('a distributed database', 'indexing on a cluster', ({ createBoth }) => {
  let spread: ScratchDatabase;
  let single: ScratchDatabase;

  beforeAll(async () => {
    [spread, single] = await createBoth();
  }, TIMEOUT_MS);

  describe.skipIf(isMissing)(title('with recorded blocks'), () => {
    const chains = createChainRegistry();
    const eth = chains.get('eth');
    const index = (scratch: ScratchDatabase, options: { again?: boolean; ranges?: readonly BlockRange[] } = {}) =>
      indexRecordedBlocks({ database: scratch.database, chain: eth, folder, name: 'ethereum', ...options });

    beforeAll(async () => {
      for (const scratch of [spread, single]) {
        await makePlaces(scratch.database, eth);
        await index(scratch);
        await keepEverything(scratch.database, eth, KEPT_MAX);
      }
    }, TIMEOUT_MS);

    it('has the rows of one server, and all that follows from them', async () => {
      const [own, expected] = [
        await dumpEverything(spread.database, eth),
        await dumpEverything(single.database, eth),
      ];
      expect(own).toEqual(expected);
      expect(countRows(own)).toMatchObject({ nft_trades: expect.any(Number), nft_sale_days: expect.any(Number) });
      for (const table of [
        'erc20_transfer_sides',
        'nft_trades',
        'nft_sale_days',
        'erc20_wallet_tokens',
        'erc20_holders',
      ])
        expect(own[table]?.length, table).toBeGreaterThan(KEPT_MAX);
    });

    it('answers as one server does', { timeout: TIMEOUT_MS }, async () => {
      const requested = await busiest(single.database, eth, 3);
      expect(requested).toHaveLength(3);
      // The first responses only queue the counts.
      for (const scratch of [single, spread]) await answersOf(scratch, chains, eth, requested);
      const expected = await answersOf(single, chains, eth, requested);
      expect(await answersOf(spread, chains, eth, requested)).toEqual(expected);
      expect(
        Object.values(expected).filter(([answer]) => answer?.startsWith('200') === true).length,
      ).toBeGreaterThan(60);
      expect(Object.values(expected).filter(({ length }) => length > 1).length).toBeGreaterThan(20);
    });

    it('has what one server has when blocks are read again', { timeout: TIMEOUT_MS }, async () => {
      const ranges = recordedRanges(folder, 'ethereum').slice(-AGAIN);
      for (const scratch of [spread, single]) await index(scratch, { again: true, ranges });
      expect(await dumpEverything(spread.database, eth)).toEqual(await dumpEverything(single.database, eth));
    });
  });

  it('follows a chain through reorganisations as one server does', { timeout: TIMEOUT_MS }, async () => {
    const chain = createScriptedChain({ seed: 43, chainId: SCRIPTED_CHAIN_ID });
    chain.mine(120);
    const node = await serveScriptedChain(chain);
    onTestFinished(() => node.close());
    const facts = scriptedChainFacts();
    const both = [spread, single];
    const untilBoth = (): Promise<unknown> =>
      Promise.all(both.map(({ database }) => untilIndexed(database, facts, chain, { proven: true })));
    for (const { database } of both) {
      const indexer = await startIndexer({ chain: facts, database, urls: [node.url] });
      onTestFinished(() => indexer.stop());
    }
    await untilBoth();
    for (const { database } of both) await keepEverything(database, facts, KEPT_MAX);
    for (const depth of [1, 3, 6]) {
      chain.mine(8);
      await untilBoth();
      chain.reorg(depth, depth + 2);
      await untilBoth();
      const [own, expected] = await Promise.all(both.map(({ database }) => dumpEverything(database, facts)));
      expect(own).toEqual(expected);
    }
  });
});
