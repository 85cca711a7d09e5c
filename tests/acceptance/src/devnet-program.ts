/** A devnet, a database, and the real program that follows the one into the other. */
import {
  type Closable,
  closeOf,
  createScratchDatabase,
  type Devnet,
  type Program,
  type ScratchDatabase,
  startDevnet,
  startProgram,
} from '@chainstead/testkit';

export interface DevnetProgramStage extends Closable {
  readonly devnet: Devnet;
  readonly scratch: ScratchDatabase;
  /** Starts the program with one API key over the devnet, named `devnet`. It ends with the stage, if it still runs. */
  start(key: string, environment?: Readonly<Record<string, string>>): Program;
}

/** Starts no program yet: a test may prepare the chain first. @param args of anvil */
export async function openDevnetProgramStage(
  chainId: number,
  args: readonly string[] = [],
): Promise<DevnetProgramStage> {
  await using parts = new AsyncDisposableStack();
  const scratch = parts.adopt(await createScratchDatabase(), (one) => one.drop());
  const devnet = parts.adopt(await startDevnet({ chainId, args }), (one) => one.stop());
  const programs = parts.use(new AsyncDisposableStack());
  return {
    devnet,
    scratch,
    start: (key, environment = {}) =>
      programs.use(
        startProgram(['start'], {
          environment: {
            DATABASE_URL: scratch.url,
            PORT: '0',
            API_KEYS: key,
            CHAINS: 'devnet',
            CHAIN_ID_DEVNET: String(chainId),
            RPC_URLS_DEVNET: devnet.url,
            POLL_INTERVAL_MS: '50',
            LOG_LEVEL: 'warn',
            ...environment,
          },
        }),
      ),
    ...closeOf(parts),
  };
}
