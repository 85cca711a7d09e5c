import { fileURLToPath } from 'node:url';
import { firstLine, spawnDependent } from 'chainstead/src/demo/devnet/devnet.ts';
import type { FaultSettings } from '../json-rpc/faults.ts';
import { type ChainNode, type ServeChainOptions, serveChain } from '../nodes/serve-chain.ts';
import { TestkitError } from '../testkit-error.ts';
import type { BenchChain, BenchChainFacts, BenchChainOptions } from './bench-chain.ts';
import { benchMethods } from './bench-methods.ts';

/** Serves a benchmark's chain from this process. */
export async function serveBenchChain(chain: BenchChain, options: ServeChainOptions = {}): Promise<ChainNode> {
  return serveChain(chain, { ...options, methods: benchMethods(chain) });
}

export interface BenchNodeOptions extends BenchChainOptions {
  readonly port?: number;
  readonly faults?: Partial<FaultSettings>;
}

/** A benchmark's node in a separate process, so that its CPU time is not counted with the indexer's. */
export interface BenchNode {
  readonly url: string;
  readonly facts: BenchChainFacts;
  /** E.g. `{ latencyMs: 50 }`, or `{ lagBlocks }` made smaller step by step to let a chain grow. */
  setFaults(change: Partial<FaultSettings>): Promise<void>;
  stop(): Promise<void>;
}

/** @throws TestkitError when the process ends before it serves. */
export async function startBenchNode(options: BenchNodeOptions): Promise<BenchNode> {
  const program = fileURLToPath(new URL('../../bin/bench-node.ts', import.meta.url));
  const child = spawnDependent(process.execPath, [program, JSON.stringify(options)]);
  const { url, ...facts } = await firstLine(
    child,
    (line): (BenchChainFacts & { url: string }) | undefined =>
      line.startsWith('{') ? JSON.parse(line) : undefined,
    (output) => new TestkitError(`The benchmark's node did not start: ${output.trim()}`, { ...options }),
  );
  return {
    url,
    facts,
    async setFaults(change) {
      const response = await fetch(`${url}/faults`, { method: 'POST', body: JSON.stringify(change) });
      await response.arrayBuffer();
    },
    stop: () => child.stop(),
  };
}
