/** A devnet that an ingest follows from its first block, and the API over its rows alone: no request may cause a call. */
import { type Chain, type CustomChain, createChainRegistry } from '@chainstead/chains';
import { silentLogger, systemClock } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import {
  type Closable,
  checkAnswers,
  closeOf,
  createScratchDatabase,
  type Devnet,
  startDevnet,
} from '@chainstead/testkit';
import { createDatasetRoutes, datasets } from 'chainstead/src/datasets/index.ts';
import { createApiUnderTest, TEST_KEY } from 'chainstead/src/testing/api-under-test.ts';
import { type Indexer, startIndexer } from './indexed-chain.ts';

/** Below them nothing is reorganized on a devnet, and gaps are filled. Blocks. */
export const FINAL_DEPTH = 70;

export interface FollowedDevnet extends Closable {
  readonly chain: Chain;
  readonly devnet: Devnet;
  readonly database: Database;
  /** @param path with its query, behind `/api/v2.2/`; it names the chain itself */
  ask(path: string): Promise<{ readonly status: number; readonly body: unknown }>;
  /** Ends the ingest, if there is one. */
  unfollow(): Promise<void>;
  /** Starts an ingest where there is none. @param url of its node, where that is not the devnet */
  follow(url?: string): Promise<Indexer>;
}

/** Not followed yet. @param keeps the datasets of the chain */
export async function openFollowedDevnet(
  keeps: Pick<CustomChain, 'key' | 'id' | 'logs'>,
): Promise<FollowedDevnet> {
  const registry = createChainRegistry({
    additional: [
      {
        ...{ pollIntervalMs: 20, headerHash: true, proofPolicy: 'strict', confirmations: 1 },
        transactions: { mode: 'all', input: 'full', verifiesSenders: true },
        ...keeps,
      },
    ],
  });
  const chain = registry.get(keeps.key);
  await using parts = new AsyncDisposableStack();
  const scratch = parts.adopt(await createScratchDatabase(), (one) => one.drop());
  const devnet = parts.adopt(await startDevnet({ chainId: chain.id }), (one) => one.stop());
  const { database } = scratch;
  const logger = silentLogger();
  const routes = createDatasetRoutes({
    ...{ database, logger, chains: [chain], clock: systemClock },
    onDemand: { waitMs: 0, maxCalls: 0, perKey: 1 },
  });
  const indexed = { chains: [chain], datasets: datasets.map(({ name }) => name) };
  const api = checkAnswers(await createApiUnderTest(database, registry, routes, indexed));
  let indexer: Indexer | null = null;
  const unfollow = async (): Promise<void> => {
    await indexer?.stop();
    indexer = null;
  };
  parts.defer(unfollow);
  return {
    chain,
    devnet,
    database,
    async ask(path) {
      const answer = await api.request(`/api/v2.2/${path}`, { headers: { 'x-api-key': TEST_KEY } });
      return { status: answer.status, body: await answer.json() };
    },
    unfollow,
    async follow(url = devnet.url) {
      indexer = await startIndexer({ chain, urls: [url], database });
      return indexer;
    },
    ...closeOf(parts),
  };
}
