import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '@chainstead/core';
import { writeFirstAdminKey } from '../admin-key-file.ts';
import { requireFreePorts } from '../check-ports.ts';
import type { CommandContext } from '../command-context.ts';
import { acceptedKeys, environmentSource, parseConfiguration } from '../configuration/index.ts';
import { DEMO_FOLDER_PREFIX } from '../find-database.ts';
import { slotsOf } from '../role-slot.ts';
import { runRoles } from '../run-roles.ts';
import { openStorage } from '../storage.ts';
import { DEMO_CHAIN_ID, DEMO_CHAIN_NAME, type DemoChain } from './demo-chain.ts';
import type { DemoCoins } from './demo-coins.ts';
import { DEMO_CONFIRMATIONS } from './demo-stream.ts';

/** The whole program over the demo chain, with a database of its own that is deleted afterwards. */
export interface DemoProgram {
  /** Of the API, such as `http://127.0.0.1:8080`. */
  readonly address: string;
  /** File with the key for the console; null where it ended before. */
  readonly adminKeyFile: string | null;
  /** DATA_DIR of its database. */
  readonly dataDirectory: string;
  /** Settles when the program has ended, by itself or because the context's signal aborted. */
  readonly ended: Promise<void>;
}

/** What is indexed. */
export interface DemoSources {
  readonly chain: DemoChain;
  readonly coins: DemoCoins;
}

/** What a developer may set for the demo too; everything else of the configuration is the demo's own. */
const KEYS_KEPT = new Set(['PORT', 'LOG_LEVEL']);

/** Finds what the demo can't start with before anything slow is started. @throws ConfigurationError, ListenError */
export async function checkDemo({ environment }: CommandContext): Promise<void> {
  const kept = Object.fromEntries(Object.entries(environment).filter(([key]) => KEYS_KEPT.has(key)));
  const { configuration } = parseConfiguration([environmentSource(kept)]);
  await requireFreePorts(configuration, ['api']);
}

/** Starts it and waits until it serves. `context.stopSignal` ends it. */
export async function startDemoProgram(
  sources: DemoSources,
  context: CommandContext,
  port?: number,
): Promise<DemoProgram> {
  const dataDirectory = await mkdtemp(join(tmpdir(), DEMO_FOLDER_PREFIX));
  const environment = demoEnvironment(sources, dataDirectory, context.environment, port);
  const { configuration } = parseConfiguration([environmentSource(environment)]);
  const logger = createLogger({ level: configuration.logLevel, role: 'demo' });
  const ready = Promise.withResolvers<Pick<DemoProgram, 'address' | 'adminKeyFile'>>();
  const run = async (): Promise<void> => {
    try {
      const storage = await openStorage({
        configuration: configuration.database,
        applicationName: 'chainstead demo',
        logger,
      });
      try {
        // The database is new: afterwards it is not.
        const adminKeyFile = await writeFirstAdminKey({
          database: storage.database,
          configured: configuration.api.keys,
          dataDirectory,
          logger,
        });
        await runRoles({
          slots: slotsOf(configuration, configuration.roles, 1),
          configuration,
          configurationFile: null,
          storage,
          logger,
          context: { ...context, environment },
          onReady: (roles) =>
            ready.resolve({ address: roles.find(({ address }) => address !== null)?.address ?? '', adminKeyFile }),
        });
      } finally {
        await storage.close();
      }
    } finally {
      await rm(dataDirectory, { recursive: true, force: true });
    }
  };
  const ended = run();
  const started = await Promise.race([ready.promise, ended.then(() => ({ address: '', adminKeyFile: null }))]);
  return { ...started, dataDirectory, ended };
}

/** The demo must never touch what a developer has configured: of their keys only harmless ones stay. */
function demoEnvironment(
  { chain: { devnet, market }, coins }: DemoSources,
  dataDirectory: string,
  environment: Readonly<Record<string, string | undefined>>,
  port: number | undefined,
): Record<string, string | undefined> {
  const own = new Set(acceptedKeys([DEMO_CHAIN_NAME]).filter((key) => !KEYS_KEPT.has(key)));
  const others = Object.fromEntries(
    Object.entries(environment).filter(([key, value]) => value !== '' && !own.has(key) && key !== 'CHAINSTEAD_CONFIG'),
  );
  return {
    // A person reads along; what is wrong with a chain is in `chainstead status`.
    LOG_LEVEL: 'error',
    ...others,
    ...(port === undefined ? {} : { PORT: String(port) }),
    DATA_DIR: dataDirectory,
    CHAINS: DEMO_CHAIN_NAME,
    CHAIN_ID_DEVNET: String(DEMO_CHAIN_ID),
    RPC_URLS_DEVNET: devnet.url,
    MARKETPLACES_DEVNET: `seaport-1.6:${market.seaport.address}`,
    ETHER_FEED_DEVNET: market.etherFeed.address,
    START_BLOCK_DEVNET: '0',
    // Lists of wallets are compared whole, also of those that nobody asked for before.
    TRANSACTIONS_DEVNET: 'all',
    // So that the first who asks for a contract's logs finds all of them.
    LOGS_DEVNET: 'all',
    BLOCK_TIME_MS_DEVNET: '1000',
    POLL_INTERVAL_MS_DEVNET: '1000',
    // The wrapped coin's balances are compared with the node's a moment after they changed.
    BALANCE_MAX_AGE_MS: '500',
    APTOS_NODE_URL: coins.fullnode.url,
    APTOS_START_VERSION: '0',
    APTOS_END_VERSION: String(coins.lastVersion),
    CONFIRMATIONS_DEVNET: String(DEMO_CONFIRMATIONS),
    // Its receiver of webhooks is on this machine.
    WEBHOOK_ALLOW_PRIVATE: '127.0.0.1/32',
  };
}
