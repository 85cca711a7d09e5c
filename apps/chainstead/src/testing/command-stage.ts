import {
  type Closable,
  closeOf,
  createScratchDatabase,
  createScriptedChain,
  type ScratchDatabase,
  serveScriptedChain,
} from '@chainstead/testkit';
import { type CommandOutcome, runCaptured } from './captured-context.ts';

/** A scripted chain with a node over it, and an empty database. */
export interface CommandStage extends Closable {
  readonly chain: ReturnType<typeof createScriptedChain>;
  readonly scratch: ScratchDatabase;
  readonly nodeUrl: string;
  readonly environment: Readonly<Record<string, string>>;
  /** A command of the program with both, whose chain is called `scripted`. */
  run(...args: string[]): Promise<CommandOutcome>;
}

const BLOCKS = 120;

export async function openCommandStage(): Promise<CommandStage> {
  await using parts = new AsyncDisposableStack();
  const chain = createScriptedChain({ seed: 11, finalityDepth: 8 });
  chain.mine(BLOCKS);
  const node = parts.adopt(await serveScriptedChain(chain), (one) => one.close());
  const scratch = parts.adopt(await createScratchDatabase(), (one) => one.drop());
  const environment = {
    DATABASE_URL: scratch.url,
    CHAINS: 'scripted',
    CHAIN_ID_SCRIPTED: '31337',
    RPC_URLS_SCRIPTED: node.url,
    // Its transactions have no signatures.
    SWAPS_SCRIPTED: 'off',
    REORG_DEPTH_MAX_SCRIPTED: '8',
  };
  return {
    chain,
    scratch,
    nodeUrl: node.url,
    environment,
    run: (...args) => runCaptured(args, environment),
    ...closeOf(parts),
  };
}

/** Output of a command as lines of JSON. */
export function jsonLines(text: string): Record<string, unknown>[] {
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}
