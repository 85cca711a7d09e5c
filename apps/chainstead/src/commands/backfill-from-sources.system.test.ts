import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createScratchDatabase,
  createScriptedChain,
  serveHyperSync,
  servePortal,
  serveScriptedChain,
  writeEraFolder,
} from '@chainstead/testkit';
import { expect, it, onTestFinished } from 'vitest';
import { readBlockRows } from '../testing/block-rows.ts';
import { runCaptured } from '../testing/captured-context.ts';

const BLOCKS = 120;
const LAST = BLOCKS - 20;

it.each(['receipts', 'none'])(
  'a backfill with proof %s writes the rows that nodes give, from each source',
  async (proof) => {
    const chain = createScriptedChain({ seed: 71, finalityDepth: 8, isSigned: true, creationShare: 0.1 });
    chain.mine(BLOCKS);
    const node = await serveScriptedChain(chain);
    onTestFinished(() => node.close());
    const [portal, hyperSync] = await Promise.all([servePortal(chain), serveHyperSync(chain)]);
    onTestFinished(async () => {
      await portal.close();
      await hyperSync.close();
    });
    const fill = async (history: string | null): Promise<{ rows: Record<string, string[]>; log: string }> => {
      const scratch = await createScratchDatabase();
      onTestFinished(() => scratch.drop());
      const outcome = await runCaptured(
        ['backfill', '--chain', 'scripted', '--from', '1', '--to', String(LAST)],
        {
          DATABASE_URL: scratch.url,
          CHAINS: 'scripted',
          CHAIN_ID_SCRIPTED: '31337',
          RPC_URLS_SCRIPTED: node.url,
          REORG_DEPTH_MAX_SCRIPTED: '8',
          TRANSACTIONS_SCRIPTED: 'all',
          LOGS_SCRIPTED: 'all',
          // No root covers traces: nodes give them, with their whole blocks.
          INTERNAL_TRANSFERS_SCRIPTED: 'off',
          BACKFILL_PROOF: proof,
          ...(history !== null && { HISTORY_SCRIPTED: history }),
        },
      );
      expect(outcome).toMatchObject({ exitCode: 0 });
      return { rows: await readBlockRows(scratch.database, 31_337), log: outcome.stderr };
    };
    const expected = await fill(null);
    expect(Object.values(expected.rows).filter((rows) => rows.length > 0).length).toBeGreaterThan(4);
    const before = node.counters.snapshot().calls;
    const folder = await mkdtemp(join(tmpdir(), 'era-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    await writeEraFolder({ folder, network: 'scripted', blocks: chain.blocksIn({ from: 0, to: LAST }) });
    const hyperSyncEntry = `hypersync:http://token@${new URL(hyperSync.url).host}`;
    for (const history of [`portal:${portal.url}`, hyperSyncEntry, `era:${folder}`]) {
      const { rows, log } = await fill(history);
      expect(rows).toEqual(expected.rows);
      expect(log).not.toContain('left_alone_ms');
    }
    const { calls } = node.counters.snapshot();
    const readsOf = (method: string): number => (calls[method] ?? 0) - (before[method] ?? 0);
    expect(readsOf('eth_getLogs')).toBe(0);
    expect(readsOf('eth_getBlockReceipts')).toBeLessThanOrEqual(3);
  },
);
