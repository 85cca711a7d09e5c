import type { ChainRegistry } from '@chainstead/chains';
import { datasets } from '@chainstead/datasets/registry';
import type { ConfiguredKey } from '@chainstead/http';
import type { Dataset } from '@chainstead/sync';
import { type AptosConfiguration, aptosProblems, toAptosConfiguration } from './aptos-configuration.ts';
import {
  type ChainConfiguration,
  type GatewayChainConfiguration,
  namesWithKeys,
  type ResolvedChains,
  resolveChains,
} from './chain-configuration.ts';
import { chainKeys, chainSuffix } from './chain-keys.ts';
import { type GlobalSettings, globalKeys } from './global-keys.ts';
import { factsOf } from './key-facts.ts';
import { type NamesConfiguration, toNamesConfiguration } from './names-configuration.ts';
import { ConfigurationError, type ConfigurationProblem, problemWith } from './problems.ts';
import { renamedKeyProblems } from './renamed-keys.ts';
import type { RoleName } from './role-names.ts';
import { type ConfigurationSource, mergeSources } from './sources.ts';
import { type ConfigurationWarning, warnOfUnknownKeys } from './unknown-keys.ts';

/** All settings, parsed. */
export interface Configuration {
  readonly roles: readonly RoleName[];
  /** Number of processes per role; auto: one per CPU core. */
  readonly processes: Readonly<Record<RoleName, number | 'auto'>>;
  readonly logLevel: string;
  readonly stopTimeoutMs: number;
  /** Address of `/metrics` apart from the API. */
  readonly metrics: {
    readonly host: string;
    /** Null: no port except that of the API. */
    readonly port: number | null;
  };
  readonly database: {
    /** Null: embedded, in `dataDirectory`. */
    readonly url: string | null;
    /** URL without a pooler in transaction mode; null: `url` is also used for sessions. */
    readonly sessionUrl: string | null;
    /** Superuser URL for provisioning; null: none. */
    readonly superuserUrl: string | null;
    /** Standbys that the API reads from; null: there are none. */
    readonly readUrl: string | null;
    /** Maximum lag of a standby. Milliseconds. */
    readonly readLagMaxMs: number;
    readonly poolSize: number;
    /** Whether the API prepares its statements. */
    readonly prepared: boolean;
    readonly dataDirectory: string;
    /** Port of the embedded Postgres; null: that of its last start. */
    readonly embeddedPort: number | null;
    /** Size of the disk under `url`; null: unknown. */
    readonly diskBytes: number | null;
  };
  /** Null: schedules are stored in Postgres. */
  readonly redisUrl: string | null;
  readonly api: {
    readonly host: string;
    readonly port: number;
    readonly keys: readonly ConfiguredKey[];
    /** Maximum concurrent connections to a port. */
    readonly connectionsMax: number;
    /** Key for `/metrics`; null: none is needed. */
    readonly metricsKey: string | null;
    /** Whether the documentation needs an API key. */
    readonly protectDocs: boolean;
    /** URL of the documentation site; null: it is not linked. */
    readonly documentationUrl: string | null;
    /** Whether agents have SQL. */
    readonly hasAgentSql: boolean;
    /** Database as a role that can only read; null: not configured. `chainstead start` sets it for each feature that is on. */
    readonly mcpDatabaseUrl: string | null;
    readonly hasGraphql: boolean;
    readonly graphqlDatabaseUrl: string | null;
    readonly pageLimitMax: number;
    /** Requests per second and key; null: unlimited. */
    readonly rateLimit: number | null;
    readonly readyLagBlocks: number;
    readonly corsOrigins: '*' | readonly string[];
  };
  /** Private networks that untrusted URLs may reach: none, all, or these (CIDR). */
  readonly privateNetworks: boolean | readonly string[];
  /** On-demand work: metadata, and backfills below the indexed range. */
  readonly onDemand: {
    /** Time that a request waits for it. Milliseconds. */
    readonly waitMs: number;
    /** Maximum age of a token balance, if transfers do not determine it. Milliseconds. */
    readonly balanceMaxAgeMs: number;
    /** Maximum age of a native balance. Milliseconds. */
    readonly nativeBalanceMaxAgeMs: number;
    readonly ipfsGateways: readonly string[];
    readonly arweaveGateways: readonly string[];
    /** Maximum node calls of one on-demand backfill; 0: no on-demand backfills. */
    readonly maxCalls: number;
    /** Node calls per second that requests of an API key may cause. */
    readonly callsPerKey: number;
    /** Maximum waiting jobs per API key. */
    readonly perKey: number;
    /** Maximum documents per second and chain for collection traits. */
    readonly collectionRate: number;
  };
  readonly names: NamesConfiguration;
  readonly webhooks: {
    /** Number of retries. */
    readonly retries: number;
    /** Delay after each failed attempt; the last one for all further attempts. Milliseconds. */
    readonly retryDelaysMs: readonly [number, ...number[]];
    readonly historyDays: number;
    /** Maximum concurrent webhooks of one process. */
    readonly concurrency: number;
    readonly concurrencyPerHost: number;
    /** Maximum trigger calls for one webhook. */
    readonly triggerCalls: number;
    /** Limits of replays over past blocks: concurrent replays per key, and blocks per replay. */
    readonly historicalJobs: { readonly jobsPerKey: number; readonly blocksMax: number };
    /** Limits per key. */
    readonly bounds: {
      readonly streamsPerKey: number;
      readonly addressesPerStream: number;
      readonly addressesPerKey: number;
    };
    /** Maximum number of webhooks queued for replay by one key. */
    readonly replaysPerKey: number;
  };
  readonly gateway: {
    readonly chains: readonly GatewayChainConfiguration[];
    /** The configuration key that names them. */
    readonly chainsKey: 'CHAINS' | 'GATEWAY_CHAINS';
    /** Units of weight a second and key; null: unlimited. */
    readonly weightPerSecond: number | null;
    /** Calls a second and key, whatever they weigh; null: unlimited. */
    readonly allCallsPerSecond: number | null;
    /** Calls a second and key, by method. */
    readonly callsPerSecond: ReadonlyMap<string, number>;
    /** WebSockets open at once in a process, and of them with one key. */
    readonly socketsMax: number;
    readonly socketsPerKey: number;
    /** Whether methods are offered that execute transactions again. */
    readonly offersTraces: boolean;
  };
  readonly chains: readonly ChainConfiguration[];
  /** Datasets to index. */
  readonly datasets: readonly Dataset[];
  /** Every chain that is known, with what the configuration adds and changes. */
  readonly chainRegistry: ChainRegistry;
  readonly aptos: AptosConfiguration;
  /** Blocks a second and chain at most; auto: what the upstreams allow; 0: the background prover is off. */
  readonly verifyBlocksPerSecond: number | 'auto';
  /** Limits of the tables of a contract of the operator; null: none. */
  /** Path of the YAML file with the operator's contracts; null: none. */
  readonly contractsFile: string | null;
  readonly contractLimits: { readonly rowsMax: number | null; readonly bytesMax: number | null };
}

export interface ParsedConfiguration {
  readonly configuration: Configuration;
  readonly warnings: readonly ConfigurationWarning[];
}

export interface ParseOptions {
  /** Whether a chain without an upstream is a problem. @default true */
  readonly needsUpstreams?: boolean;
}

/** Parses what the sources give; earlier sources win. @throws ConfigurationError with every problem at once. */
export function parseConfiguration(
  sources: readonly ConfigurationSource[],
  { needsUpstreams = true }: ParseOptions = {},
): ParsedConfiguration {
  const variables = mergeSources(sources);
  const settings = globalKeys.safeParse(variables);
  const problems: ConfigurationProblem[] = settings.success ? [] : issuesAsProblems(settings.error.issues, variables);
  // A wrong global key must not hide problems of the chains: they are read with that key left out.
  const usable = settings.success ? settings.data : globalKeys.parse(withoutKeys(variables, problems));
  const chains = resolveChains(usable, variables, needsUpstreams);
  problems.push(
    ...renamedKeyProblems(sources, namesWithKeys(usable)),
    ...chains.problems,
    ...storageProblems(usable, variables),
    ...aptosProblems(usable),
  );
  if (problems.length > 0) throw new ConfigurationError(problems);

  return { configuration: toConfiguration(usable, chains), warnings: warnings(sources, usable) };
}

/** Every key that is read when these chains are configured. */
export function acceptedKeys(chainNames: readonly string[]): string[] {
  const perChain = chainNames.flatMap((name) =>
    Object.keys(chainKeys.shape).map((key) => `${key}_${chainSuffix(name)}`),
  );
  return [...Object.keys(globalKeys.shape), ...perChain];
}

/** An embedded Postgres has no standbys. */
function storageProblems(
  { DATABASE_READ_URL: readUrl }: GlobalSettings,
  given: Readonly<Record<string, string>>,
): ConfigurationProblem[] {
  if (readUrl === undefined || given.DATABASE_URL !== undefined) return [];
  const facts = factsOf(globalKeys.shape.DATABASE_READ_URL);
  return [problemWith('DATABASE_READ_URL', readUrl, 'has no effect without DATABASE_URL', facts)];
}

function toConfiguration(settings: GlobalSettings, chains: ResolvedChains): Configuration {
  return {
    roles: settings.ROLES,
    processes: toProcesses(settings),
    logLevel: settings.LOG_LEVEL,
    stopTimeoutMs: settings.STOP_TIMEOUT_MS,
    metrics: { host: settings.METRICS_HOST ?? settings.HOST, port: settings.METRICS_PORT ?? null },
    database: toDatabaseConfiguration(settings),
    redisUrl: settings.REDIS_URL ?? null,
    api: {
      host: settings.HOST,
      port: settings.PORT,
      keys: settings.API_KEYS ?? [],
      connectionsMax: settings.CONNECTIONS_MAX,
      metricsKey: settings.METRICS_KEY ?? null,
      protectDocs: settings.PROTECT_DOCS === 'true',
      documentationUrl: settings.DOCUMENTATION_URL ?? null,
      hasAgentSql: settings.MCP_SQL === 'true' || settings.MCP_DATABASE_URL !== undefined,
      mcpDatabaseUrl: settings.MCP_DATABASE_URL ?? null,
      hasGraphql: settings.GRAPHQL === 'true' || settings.GRAPHQL_DATABASE_URL !== undefined,
      graphqlDatabaseUrl: settings.GRAPHQL_DATABASE_URL ?? null,
      pageLimitMax: settings.PAGE_LIMIT_MAX,
      rateLimit: unlessZero(settings.RATE_LIMIT),
      readyLagBlocks: settings.READY_LAG_BLOCKS,
      corsOrigins: settings.CORS_ORIGINS,
    },
    privateNetworks: settings.WEBHOOK_ALLOW_PRIVATE,
    onDemand: {
      waitMs: settings.ON_DEMAND_WAIT_MS,
      balanceMaxAgeMs: settings.BALANCE_MAX_AGE_MS,
      nativeBalanceMaxAgeMs: settings.NATIVE_BALANCE_MAX_AGE_MS,
      ipfsGateways: settings.IPFS_GATEWAYS,
      arweaveGateways: settings.ARWEAVE_GATEWAYS,
      maxCalls: settings.ON_DEMAND_MAX_CALLS,
      callsPerKey: settings.ON_DEMAND_CALLS_PER_KEY,
      perKey: settings.ON_DEMAND_CONCURRENCY_PER_KEY,
      collectionRate: settings.ON_DEMAND_COLLECTION_RATE,
    },
    names: toNamesConfiguration(settings, chains),
    webhooks: {
      retries: settings.WEBHOOK_RETRIES,
      retryDelaysMs: settings.WEBHOOK_RETRY_SCHEDULE,
      historyDays: settings.WEBHOOK_HISTORY_DAYS,
      concurrency: settings.WEBHOOK_CONCURRENCY,
      concurrencyPerHost: settings.WEBHOOK_CONCURRENCY_PER_HOST,
      triggerCalls: settings.TRIGGER_CALLS_PER_BLOCK,
      historicalJobs: {
        jobsPerKey: settings.HISTORICAL_JOBS_PER_KEY,
        blocksMax: settings.HISTORICAL_JOB_BLOCKS,
      },
      bounds: {
        streamsPerKey: settings.STREAMS_PER_KEY,
        addressesPerStream: settings.ADDRESSES_PER_STREAM,
        addressesPerKey: settings.ADDRESSES_PER_KEY,
      },
      replaysPerKey: settings.REPLAYS_PER_KEY,
    },
    gateway: {
      chains: chains.gateway,
      chainsKey: settings.GATEWAY_CHAINS === undefined ? 'CHAINS' : 'GATEWAY_CHAINS',
      weightPerSecond: unlessZero(settings.GATEWAY_RATE_LIMIT),
      allCallsPerSecond: settings.GATEWAY_RATE_LIMIT === undefined ? unlessZero(settings.RATE_LIMIT) : null,
      callsPerSecond: new Map(settings.GATEWAY_METHOD_LIMITS),
      socketsMax: settings.GATEWAY_SOCKETS_MAX,
      socketsPerKey: settings.GATEWAY_SOCKETS_PER_KEY,
      offersTraces: settings.GATEWAY_TRACES === 'on',
    },
    chains: chains.configured,
    datasets: settings.DATASETS ?? datasets,
    chainRegistry: chains.registry,
    aptos: toAptosConfiguration(settings),
    verifyBlocksPerSecond: settings.VERIFY_BLOCKS_PER_SECOND,
    contractsFile: settings.CONTRACTS_FILE ?? null,
    contractLimits: toContractLimits(settings),
  };
}

function toDatabaseConfiguration(settings: GlobalSettings): Configuration['database'] {
  return {
    url: settings.DATABASE_URL ?? null,
    sessionUrl: settings.DATABASE_SESSION_URL ?? null,
    superuserUrl: settings.DATABASE_SUPERUSER_URL ?? null,
    readUrl: settings.DATABASE_READ_URL ?? null,
    readLagMaxMs: settings.DATABASE_READ_MAX_LAG_SECONDS * 1_000,
    poolSize: settings.DATABASE_POOL_SIZE,
    prepared: settings.DATABASE_PREPARED === 'true',
    dataDirectory: settings.DATA_DIR,
    embeddedPort: settings.EMBEDDED_POSTGRES_PORT ?? null,
    diskBytes: settings.DATABASE_DISK_BYTES ?? null,
  };
}

function toContractLimits(settings: GlobalSettings): Configuration['contractLimits'] {
  return { rowsMax: unlessZero(settings.CONTRACT_ROWS_MAX), bytesMax: unlessZero(settings.CONTRACT_BYTES_MAX) };
}

function toProcesses(settings: GlobalSettings): Configuration['processes'] {
  return { api: settings.API_PROCESSES, ingest: settings.INGEST_PROCESSES, worker: settings.WORKER_PROCESSES };
}

/** Treats a limit of 0 as none, like an absent one. */
function unlessZero(limit: number | undefined): number | null {
  return limit === undefined || limit === 0 ? null : limit;
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

function issuesAsProblems(
  issues: readonly Issue[],
  variables: Readonly<Record<string, string>>,
): ConfigurationProblem[] {
  const shape: Readonly<Record<string, (typeof globalKeys.shape)[keyof typeof globalKeys.shape]>> = globalKeys.shape;
  const firstByKey = new Map(issues.toReversed().map((issue) => [String(issue.path[0]), issue.message]));
  return [...firstByKey].flatMap(([key, message]) => {
    const schema = shape[key];
    return schema === undefined ? [] : [problemWith(key, variables[key], message, factsOf(schema))];
  });
}

function withoutKeys(
  variables: Readonly<Record<string, string>>,
  problems: readonly ConfigurationProblem[],
): Record<string, string> {
  const wrong = new Set(problems.map((problem) => problem.key));
  return Object.fromEntries(Object.entries(variables).filter(([key]) => !wrong.has(key)));
}

function warnings(sources: readonly ConfigurationSource[], settings: GlobalSettings): ConfigurationWarning[] {
  const configuredChains = settings.CHAINS ?? [];
  return warnOfUnknownKeys(sources, {
    accepted: acceptedKeys(namesWithKeys(settings)),
    perChain: Object.keys(chainKeys.shape),
    configuredChains,
  });
}
