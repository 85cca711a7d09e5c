/** A scripted chain that several processes of the program work on, for the tests of one file. */

import type { Chain } from '@chainstead/chains';
import {
  commandLineOf,
  createScratchDatabase,
  createScriptedChain,
  descendantsOf,
  type Program,
  type ScratchDatabase,
  type ScriptedChain,
  serveScriptedChain,
  startProgram,
} from '@chainstead/testkit';
import { afterAll, beforeAll } from 'vitest';
import { scriptedChainFacts } from './indexed-chain.ts';

type Node = Awaited<ReturnType<typeof serveScriptedChain>>;

export interface SharedChainStage {
  readonly facts: Chain;
  readonly chain: ScriptedChain;
  /** From the first test on. */
  readonly node: Node;
  /** Goes after the last test. */
  openScratch(): Promise<ScratchDatabase>;
  /** The program knows the chain as `shared`. It is killed after the last test. @param processes of ingest */
  start(args: readonly string[], databaseUrl: string, processes: number): Program;
}

/** @param options `blocks` are mined before the first test */
export function sharedChainStage(options: { chainId: number; seed: number; blocks: number }): SharedChainStage {
  const { chainId, seed, blocks } = options;
  const chain = createScriptedChain({ seed, chainId });
  const scratches: ScratchDatabase[] = [];
  const programs: Program[] = [];
  let node: Node | undefined;
  const served = (): Node => {
    if (node === undefined) throw new Error('The node is served before the first test');
    return node;
  };

  beforeAll(async () => {
    chain.mine(blocks);
    node = await serveScriptedChain(chain);
  });
  afterAll(async () => {
    for (const program of programs) program.signal('SIGKILL');
    await Promise.all(programs.map(({ exited }) => exited));
    await node?.close();
    for (const scratch of scratches) await scratch.drop();
  });

  return {
    facts: scriptedChainFacts(chainId),
    chain,
    get node() {
      return served();
    },
    async openScratch() {
      const scratch = await createScratchDatabase();
      scratches.push(scratch);
      return scratch;
    },
    start(args, databaseUrl, processes) {
      const environment = {
        DATABASE_URL: databaseUrl,
        ROLES: `ingest:${processes}`,
        CHAINS: 'shared',
        CHAIN_ID_SHARED: String(chainId),
        RPC_URLS_SHARED: served().url,
        // Its transactions have no signatures.
        SWAPS_SHARED: 'off',
        START_BLOCK_SHARED: '1',
        POLL_INTERVAL_MS: '100',
        VERIFICATION_SHARED: 'strict',
        BACKFILL_PROOF_SHARED: 'receipts',
      };
      const program = startProgram(args, { environment });
      programs.push(program);
      return program;
    },
  };
}

/** Ids of the processes whose command line says that they are some of the program's, in the order of these. */
export function processesOf(program: Program, pattern: RegExp): number[] {
  return descendantsOf(program.pid)
    .map((pid) => ({ pid, command: commandLineOf(pid) ?? '' }))
    .filter(({ command }) => pattern.test(command))
    .toSorted((a, b) => a.command.localeCompare(b.command))
    .map(({ pid }) => pid);
}
