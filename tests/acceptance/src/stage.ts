/** A scripted chain, nodes that serve it, a scratch database and ingests over them: closed when the test is over. */
import type { Chain } from '@chainstead/chains';
import {
  type ChainNode,
  type Closable,
  closeOf,
  createScratchDatabase,
  createScriptedChain,
  type FaultSettings,
  type ScratchDatabase,
  type ScriptedChain,
  serveScriptedChain,
} from '@chainstead/testkit';
import { test } from 'vitest';
import {
  type Indexer,
  type IndexerOptions,
  SCRIPTED_CHAIN_ID,
  scriptedChainFacts,
  startIndexer,
} from './indexed-chain.ts';

export interface Stage {
  readonly scratch: ScratchDatabase;
  /** A chain of a few hundred blocks. */
  readonly chain: ScriptedChain;
  readonly facts: Chain;
  /** A node over the stage's chain, or another one. */
  serve(faults?: Partial<FaultSettings>, chain?: ScriptedChain): Promise<ChainNode>;
  /** An ingest of the stage's chain into its database, unless the options say otherwise. */
  index(nodes: readonly ChainNode[], options?: Partial<IndexerOptions>): Promise<Indexer>;
  /** Closes something when the test is over. */
  closeLater(close: () => Promise<void>): void;
}

export const STAGE_BLOCKS = 300;

async function openStage(): Promise<Stage & Closable> {
  await using parts = new AsyncDisposableStack();
  const scratch = parts.adopt(await createScratchDatabase(), (one) => one.drop());
  const chain = createScriptedChain({ seed: 41, chainId: SCRIPTED_CHAIN_ID });
  chain.mine(STAGE_BLOCKS);
  const facts = scriptedChainFacts();
  const later = parts.use(new AsyncDisposableStack());
  return {
    scratch,
    chain,
    facts,
    async serve(faults = {}, served = chain) {
      const node = later.adopt(await serveScriptedChain(served, { faults }), (one) => one.close());
      return node;
    },
    async index(nodes, options = {}) {
      const urls = nodes.map((node) => node.url);
      const indexer = later.adopt(
        await startIndexer({ chain: facts, database: scratch.database, urls, ...options }),
        (one) => one.stop(),
      );
      return indexer;
    },
    closeLater(close) {
      later.defer(close);
    },
    ...closeOf(parts),
  };
}

/** `test` with a separate stage for each test, so that tests may run at the same time. */
export const stagedTest = test.extend<{ stage: Stage }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern which other fixtures are needed.
  stage: async ({}, use) => {
    await using stage = await openStage();
    await use(stage);
  },
});
