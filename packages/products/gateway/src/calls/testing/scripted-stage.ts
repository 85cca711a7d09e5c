import type { Database } from '@chainstead/db';
import {
  type ChainNode,
  closeOf,
  createScriptedChain,
  type FaultSettings,
  type RpcHandler,
  type ScriptedChain,
  serveScriptedChain,
} from '@chainstead/testkit';
import { expect, onTestFinished } from 'vitest';
import { type StageProcess, type StageProcessOptions, startProcess } from './answering-stage.ts';

/** A scripted chain, nodes that serve it, and API processes over them. */
export interface Stage {
  readonly source: ScriptedChain;
  readonly nodes: readonly ChainNode[];
  readonly urls: readonly string[];
  /** Returns the calls of a method over all nodes. */
  calls(method: string): number;
  process(options?: Partial<StageProcessOptions>): Promise<StageProcess>;
}

export interface StageOptions {
  readonly database: Database;
  /** Different in each test, so that tests don't share cached data. */
  readonly chainId: number;
  /** @default 1 */
  readonly nodes?: number;
  /** Blocks above the first. @default 20 */
  readonly blocks?: number;
  /** @default 10 */
  readonly finalityDepth?: number;
  /** Methods that replace a node's own. */
  readonly methods?: ReadonlyMap<string, RpcHandler>;
  readonly faults?: Partial<FaultSettings>;
}

/** Opens a stage that ends with the test. */
export async function openStage(options: StageOptions): Promise<Stage> {
  const { database, chainId, nodes: count = 1, blocks = 20, finalityDepth = 10, methods, faults } = options;
  const source = createScriptedChain({ seed: 5, chainId, finalityDepth });
  source.mine(blocks);
  const served = {
    ...(faults === undefined ? {} : { faults }),
    ...(methods === undefined ? {} : { methods: () => methods }),
  };
  await using parts = new AsyncDisposableStack();
  const nodes: ChainNode[] = [];
  while (nodes.length < count) {
    nodes.push(parts.adopt(await serveScriptedChain(source, served), (node) => node.close()));
  }
  onTestFinished(closeOf(parts).close);
  const urls = nodes.map(({ url }) => url);
  return {
    source,
    nodes,
    urls,
    calls: (method) => nodes.reduce((sum, { counters }) => sum + (counters.snapshot().calls[method] ?? 0), 0),
    process: (changes = {}) => startProcess({ database, chainId, urls, ...changes }),
  };
}

/** Uses the chain until the process knows that the block is final. */
export async function knowingFinality(process: StageProcess, number: number): Promise<void> {
  const finalBlock = async (): Promise<number> => {
    await process.ask('eth_getBlockTransactionCountByNumber', [`0x${number.toString(16)}`]);
    const gauge = /^chainstead_gateway_final_block\S* (-?\d+)$/m.exec(await process.metrics.metrics());
    return Number(gauge?.[1] ?? -1);
  };
  await expect.poll(finalBlock, { timeout: 30_000 }).toBeGreaterThanOrEqual(number);
}
