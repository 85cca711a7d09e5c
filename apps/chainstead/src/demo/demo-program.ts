import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { APTOS_DATASET_NAMES } from '@chainstead/aptos/datasets';
import type { Chain } from '@chainstead/chains';
import { addContract } from '@chainstead/contracts/datasets';
import { createLogger } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { acceptedKeys, environmentSource, parseConfiguration } from '../configuration/index.ts';
import type { CommandContext } from '../session/command-context.ts';
import { openStorage } from '../session/storage.ts';
import { DEMO_FOLDER_PREFIX } from '../session/with-database.ts';
import { slotsOf } from '../shares/role-slot.ts';
import { requireFreePorts, withAnalystUrl, writeFirstAdminKey } from '../start/check-ports.ts';
import { runRoles } from '../start/run-roles.ts';
import { DEMO_CHAIN_ID, DEMO_CHAIN_NAME, type DemoChain } from './demo-chain.ts';
import type { DemoCoins } from './demo-coins.ts';
import { DEMO_CONFIRMATIONS } from './demo-stream.ts';
import type { Market } from './market/market.ts';

export interface DemoProgram {
  readonly address: string;
  /** With the console key; null: the program ended before. */
  readonly adminKeyFile: string | null;
  /** For `--config` of other commands. */
  readonly configurationFile: string;
  /** With the password: the database is temporary. Empty: the program ended before. */
  readonly databaseUrl: string;
  /** Settles with or without an abort of the context's signal. */
  readonly ended: Promise<void>;
}

export interface DemoSources {
  readonly chain: DemoChain;
  readonly coins: DemoCoins;
}

const KEYS_KEPT = new Set(['PORT', 'LOG_LEVEL']);

export async function checkDemo({ environment }: CommandContext): Promise<void> {
  const kept = Object.fromEntries(Object.entries(environment).filter(([key]) => KEYS_KEPT.has(key)));
  const { configuration } = parseConfiguration([environmentSource(kept)]);
  await requireFreePorts(configuration, ['api']);
}

export async function startDemoProgram(
  sources: DemoSources,
  context: CommandContext,
  port?: number,
): Promise<DemoProgram> {
  const dataDirectory = await mkdtemp(join(tmpdir(), DEMO_FOLDER_PREFIX));
  const configurationFile = join(dataDirectory, '.env');
  const { PORT = '' } = context.environment;
  const settings = { ...demoSettings(sources, dataDirectory), PORT: port === undefined ? PORT : String(port) };
  await writeFile(configurationFile, settingLines(settings), { mode: 0o600 });
  const environment = { ...harmlessEnvironment(context.environment), ...settings };
  const { configuration } = parseConfiguration([environmentSource(environment)]);
  const logger = createLogger({ level: configuration.logLevel, role: 'demo' });
  const ready = Promise.withResolvers<Pick<DemoProgram, 'address' | 'adminKeyFile' | 'databaseUrl'>>();
  const run = async (): Promise<void> => {
    try {
      const storage = await openStorage({
        ...{ configuration: configuration.database, logger, mayCreate: true },
        applicationName: 'chainstead demo',
      });
      try {
        const { database } = storage;
        const configured = configuration.api.keys;
        const adminKeyFile = await writeFirstAdminKey({ database, configured, dataDirectory, logger });
        for (const { chain } of configuration.chains)
          await addDemoContract(database, chain, sources.chain.market);
        await runRoles({
          slots: slotsOf(configuration, configuration.roles, 1),
          configuration: await withAnalystUrl(configuration, storage),
          configurationFile: null,
          storage,
          logger,
          context: { ...context, environment },
          onReady: (roles) => {
            const address = roles.find((role) => role.address !== null)?.address ?? '';
            ready.resolve({ address, adminKeyFile, databaseUrl: storage.url });
          },
        });
      } finally {
        await storage.close();
      }
    } finally {
      await rm(dataDirectory, { recursive: true, force: true });
    }
  };
  const ended = run();
  const started = await Promise.race([
    ready.promise,
    ended.then(() => ({ address: '', adminKeyFile: null, databaseUrl: '' })),
  ]);
  return { ...started, configurationFile, ended };
}

function settingLines(settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings)
    .map(([key, value]) => `${key}=${value}\n`)
    .join('');
}

function harmlessEnvironment(environment: CommandContext['environment']): CommandContext['environment'] {
  const own = new Set(acceptedKeys([DEMO_CHAIN_NAME]).filter((key) => !KEYS_KEPT.has(key)));
  const kept = Object.entries(environment).filter(
    ([key, value]) => value !== '' && !own.has(key) && key !== 'CHAINSTEAD_CONFIG',
  );
  return { LOG_LEVEL: 'error', ...Object.fromEntries(kept) };
}

export function demoSettings(
  { chain: { devnet, market, exchanges, tokens }, coins }: DemoSources,
  dataDirectory: string,
): Record<string, string> {
  const [dollar = ''] = tokens;
  return {
    DATA_DIR: dataDirectory,
    CHAINS: DEMO_CHAIN_NAME,
    CHAIN_ID_DEVNET: String(DEMO_CHAIN_ID),
    RPC_URLS_DEVNET: devnet.url,
    MARKETPLACES_DEVNET: `seaport-1.6:${market.seaport.address}`,
    ETHER_FEED_DEVNET: market.etherFeed.address,
    EXCHANGES_DEVNET: exchanges.setting,
    DOLLAR_TOKENS_DEVNET: dollar,
    WRAPPED_NATIVE_DEVNET: market.wrappedEther.address,
    // Its pools are seconds old.
    PRICE_HOLD_SECONDS: '0',
    START_BLOCK_DEVNET: '0',
    TRANSACTIONS_DEVNET: 'all',
    LOGS_DEVNET: 'all',
    BLOCK_TIME_MS_DEVNET: '1000',
    POLL_INTERVAL_MS: '1000',
    // Wrapped native balances are compared right after they changed.
    BALANCE_MAX_AGE_MS: '500',
    APTOS_NODE_URL: coins.fullnode.url,
    APTOS_DATASETS: APTOS_DATASET_NAMES.join(),
    APTOS_START_VERSION: '0',
    APTOS_END_VERSION: String(coins.lastVersion),
    GRAPHQL: 'true',
    MCP_SQL: 'true',
    CONFIRMATIONS_DEVNET: String(DEMO_CONFIRMATIONS),
    WEBHOOK_ALLOW_PRIVATE: '127.0.0.1/32',
  };
}

const NAME = 'market';
export const ORDERS_PATH = `contracts/${NAME}/order_fulfilled`;
export const ORDERS_LIST = `contracts_${NAME}_order_fulfilled`;
export const ORDERS_VIEW = `analytics.contract_${NAME}_order_fulfilled`;

export async function addDemoContract(database: Database, chain: Chain, { seaport }: Market): Promise<void> {
  const { address, abi } = seaport;
  await addContract(database, {
    ...{ name: NAME, chain, addresses: [address], factory: null, abi, firstBlock: null },
    ...{ events: ['OrderFulfilled'], indexed: ['offerer'] },
  });
}
