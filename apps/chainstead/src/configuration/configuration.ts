import { datasets } from '../datasets/registry.ts';
import { aptosProblems, toAptosConfiguration, toNamesConfiguration } from './aptos-configuration.ts';
import { namesWithKeys, type ResolvedChains, resolveChains } from './chain-configuration.ts';
import { chainKeys, chainSuffix } from './chain-keys.ts';
import { type GlobalSettings, globalKeys } from './global-keys.ts';
import { factsOf } from './key-facts.ts';
import { ConfigurationError, type ConfigurationProblem, problemWith } from './problems.ts';
import {
  type ConfigurationSource,
  type ConfigurationWarning,
  mergeSources,
  warnOfUnknownKeys,
} from './sources.ts';

export type Configuration = Readonly<ReturnType<typeof toConfiguration>>;

export interface ParsedConfiguration {
  readonly configuration: Configuration;
  readonly warnings: readonly ConfigurationWarning[];
}

export interface ParseOptions {
  /** A chain without an upstream is a problem. @default true */
  readonly needsUpstreams?: boolean;
}

/** Earlier sources win. @throws ConfigurationError with every problem at once */
export function parseConfiguration(
  sources: readonly ConfigurationSource[],
  { needsUpstreams = true }: ParseOptions = {},
): ParsedConfiguration {
  const variables = mergeSources(sources);
  const settings = globalKeys.safeParse(variables);
  const problems: ConfigurationProblem[] = settings.success
    ? []
    : issuesAsProblems(settings.error.issues, variables);
  // A wrong global key must not hide problems of chains.
  const usable = settings.success ? settings.data : globalKeys.parse(withoutKeys(variables, problems));
  const chains = resolveChains(usable, variables, needsUpstreams);
  problems.push(...chains.problems, ...storageProblems(usable, variables), ...aptosProblems(usable));
  if (problems.length > 0) throw new ConfigurationError(problems);

  const warnings = warnOfUnknownKeys(sources, {
    accepted: acceptedKeys(namesWithKeys(usable)),
    perChain: Object.keys(chainKeys.shape),
    configuredChains: usable.CHAINS ?? [],
  });
  return { configuration: toConfiguration(usable, chains), warnings };
}

export function acceptedKeys(chainNames: readonly string[]): string[] {
  const perChain = chainNames.flatMap((name) =>
    Object.keys(chainKeys.shape).map((key) => `${key}_${chainSuffix(name)}`),
  );
  return [...Object.keys(globalKeys.shape), ...perChain];
}

function storageProblems(
  { DATABASE_READ_URL: readUrl }: GlobalSettings,
  given: Readonly<Record<string, string>>,
): ConfigurationProblem[] {
  if (readUrl === undefined || given.DATABASE_URL !== undefined) return [];
  const facts = factsOf(globalKeys.shape.DATABASE_READ_URL);
  return [problemWith('DATABASE_READ_URL', readUrl, 'has no effect without DATABASE_URL', facts)];
}

function toConfiguration(settings: GlobalSettings, chains: ResolvedChains) {
  const chainsKey: 'CHAINS' | 'GATEWAY_CHAINS' =
    settings.GATEWAY_CHAINS === undefined ? 'CHAINS' : 'GATEWAY_CHAINS';
  return {
    roles: settings.ROLES,
    logLevel: settings.LOG_LEVEL,
    metrics: { host: settings.METRICS_HOST, port: settings.METRICS_PORT ?? null },
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
      hasAgentSql: settings.MCP_SQL === 'true',
      hasGraphql: settings.GRAPHQL === 'true',
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
    webhookRetryDelaysMs: settings.WEBHOOK_RETRIES,
    gateway: {
      chains: chains.gateway,
      chainsKey,
      /** Per key; null: unlimited. */
      rateLimits: {
        weightPerSecond: unlessZero(settings.GATEWAY_RATE_LIMIT),
        allCallsPerSecond: settings.GATEWAY_RATE_LIMIT === undefined ? unlessZero(settings.RATE_LIMIT) : null,
        callsPerSecond: new Map(settings.GATEWAY_METHOD_LIMITS),
      },
      offersTraces: settings.GATEWAY_TRACES === 'on',
    },
    chains: chains.configured,
    datasets: settings.DATASETS ?? datasets,
    chainRegistry: chains.registry,
    aptos: toAptosConfiguration(settings),
    verifyBlocksPerSecond: settings.VERIFY_BLOCKS_PER_SECOND,
    contractsFile: settings.CONTRACTS_FILE ?? null,
    abiSource: settings.ABI_SOURCE ?? null,
    contractBytesMax: unlessZero(settings.CONTRACT_BYTES_MAX),
  };
}

function toDatabaseConfiguration(settings: GlobalSettings) {
  return {
    /** Null: embedded, in `dataDirectory`. */
    url: settings.DATABASE_URL ?? null,
    /** Null: `url`. */
    sessionUrl: settings.DATABASE_SESSION_URL ?? null,
    superuserUrl: settings.DATABASE_SUPERUSER_URL ?? null,
    readUrl: settings.DATABASE_READ_URL ?? null,
    /** A role that can only read. `chainstead start` sets it if agents or GraphQL need it. */
    analystUrl: settings.DATABASE_ANALYST_URL ?? null,
    dataDirectory: settings.DATA_DIR,
    diskBytes: settings.DATABASE_DISK_BYTES ?? null,
  };
}

function unlessZero(limit: number | undefined): number | null {
  return limit === undefined || limit === 0 ? null : limit;
}

function issuesAsProblems(
  issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[],
  variables: Readonly<Record<string, string>>,
): ConfigurationProblem[] {
  const shape: Readonly<Record<string, (typeof globalKeys.shape)[keyof typeof globalKeys.shape]>> =
    globalKeys.shape;
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
