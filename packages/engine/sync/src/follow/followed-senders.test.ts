import { createChainRegistry } from '@chainstead/chains';
import { createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import { type RecoverSigners, recoverSigners } from '@chainstead/proof/packed-signatures';
import { createUpstreamPool } from '@chainstead/rpc/pool';
import {
  type JsonObject,
  loadRecordedChain,
  type RpcHandler,
  recordedEvmFolder,
  serveChain,
} from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { readChainState, saveChainStart } from '../checkpoint.ts';
import { listCoverage } from '../coverage/coverage.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { createKnownContracts } from '../rows/known-contracts.ts';
import { createSyncMetrics } from '../sync-metrics.ts';
import { createWholeBlockTables, outcomes } from '../testing/whole-block-datasets.ts';
import { follow } from './follower.ts';

const BLOCK = 150_000_000;
const STRANGER = `0x${'77'.repeat(20)}`;
const folder = recordedEvmFolder();
if (folder === null)
  process.stderr.write('Recorded blocks are not there (../shared/data/evm): followed senders are not tested.\n');

/** While `lies()` is true, returns a wrong sender for signed transactions and their receipts. */
function liar(own: ReadonlyMap<string, RpcHandler>, lies: () => boolean): Map<string, RpcHandler> {
  const isSigned = ({ r, to }: JsonObject): boolean => typeof r === 'string' && r.length > 40 && to !== null;
  const alter: Readonly<Record<string, (result: never) => unknown>> = {
    eth_getBlockByNumber: (block: { readonly transactions: readonly JsonObject[] }) => ({
      ...block,
      transactions: block.transactions.map((one) => (isSigned(one) ? { ...one, from: STRANGER } : one)),
    }),
    eth_getBlockReceipts: (receipts: readonly JsonObject[]) =>
      receipts.map((one) => (one.to === null || one.type === '0x6a' ? one : { ...one, from: STRANGER })),
  };
  return new Map(
    Object.entries(alter).map(([method, altered]) => [
      method,
      async (params) => {
        const reply = (await own.get(method)?.(params)) ?? { result: null };
        return lies() && 'result' in reply && reply.result !== null
          ? { result: altered(reply.result as never) }
          : reply;
      },
    ]),
  );
}

describe.runIf(folder !== null)('senders of followed blocks', () => {
  const scratch = scratchOfFile();
  beforeAll(async () => {
    await createWholeBlockTables(scratch.database);
  });

  // Invariant: PROOF-SENDERS
  it('that did not sign are never stored: the block is read again, and the upstream is named', async () => {
    const source = await loadRecordedChain({ folder: folder ?? '', chain: 'arbitrum' });
    let recovered = 0;
    const node = await serveChain(source, { methods: (_view, own) => liar(own, () => recovered === 0) });
    const known = createChainRegistry().get(source.chainId);
    const transactions = { mode: 'all' as const, input: 'full' as const, verifiesSenders: true };
    const chain = { ...known, pollIntervalMs: 10, transactions };
    const logger = silentLogger();
    const registry = createMetricsRegistry();
    const pool = createUpstreamPool({ chain, upstreams: [{ url: node.url }], logger, metrics: registry });
    await pool.start();
    onTestFinished(async () => {
      await pool.close();
      await node.close();
    });
    const recover: RecoverSigners = async (signatures) => {
      recovered += 1;
      return recoverSigners(signatures);
    };
    const { database } = scratch;
    await saveChainStart(database, chain, BLOCK, BLOCK);
    const options = {
      database,
      chain,
      datasets: [outcomes] as readonly Dataset[],
      knownContracts: createKnownContracts(),
      pool,
      policy: 'strict' as const,
      recoverSigners: recover,
      firstFollowed: BLOCK,
      endBlock: BLOCK,
      clock: systemClock,
      logger,
      metrics: createSyncMetrics(registry),
      onProgress: () => undefined,
    };
    await follow(options, null, AbortSignal.timeout(20_000));
    expect(recovered).toBe(2);
    expect((await readChainState(database, chain.id))?.checkpoint?.number).toBe(BLOCK);
    expect(await listCoverage(database, chain.id)).toMatchObject([{ dataset: 'outcomes', proof: 'receipts' }]);
    expect(await registry.metrics()).toMatch(/faults_total\{[^}]*kind="malformed"[^}]*\} 1/);
  });
});
