import {
  type Chain,
  type ChainRegistry,
  type CustomChain,
  createChainRegistry,
  type ProofPolicy,
} from '@chainstead/chains';
import { errorText } from '@chainstead/core';
import type { UpstreamConfig } from '@chainstead/rpc';
import { type ChainSettings, chainKeys, chainSuffix } from './chain-keys.ts';
import { type GlobalSettings, globalKeys } from './global-keys.ts';
import { factsOf } from './key-facts.ts';
import { type ConfigurationProblem, problemWith } from './problems.ts';
import { closest } from './suggestion.ts';

/** One chain that is indexed. */
export interface ChainConfiguration {
  /** The known chain with what the configuration overrides, or one made of the configuration alone. */
  readonly chain: Chain;
  readonly upstreams: readonly UpstreamConfig[];
  /** Whether `upstreams` are the chain's public endpoints because none was configured. */
  readonly usesPublicUpstreams: boolean;
  /** Null: the head at the first start. */
  readonly startBlock: number | null;
  /** Null: the head is followed. */
  readonly endBlock: number | null;
  readonly backfillOrder: 'newest-first' | 'oldest-first';
  readonly proof: ProofPolicy;
  /** `receipts`: history is proven before it is served. */
  readonly backfillProof: 'none' | 'receipts';
}

export interface ResolvedChains {
  readonly configured: readonly ChainConfiguration[];
  /** Every known chain, with what the configuration adds and changes. */
  readonly registry: ChainRegistry;
  readonly problems: readonly ConfigurationProblem[];
}

/** Of a shorter name, two letters are half. */
const SHORT_NAME_LENGTH = 5;

type ChainKey = keyof typeof chainKeys.shape;
type Variables = Readonly<Record<string, string>>;

/** A chain of `CHAINS` whose own keys are understood. */
interface NamedChain {
  /** As written in `CHAINS`, and behind its keys. */
  readonly name: string;
  readonly own: ChainSettings;
  readonly custom: CustomChain;
}

/** The chains named in `CHAINS`, each with its own keys, and everything that is wrong with them. */
export function resolveChains(settings: GlobalSettings, variables: Variables): ResolvedChains {
  const known = createChainRegistry();
  const named: NamedChain[] = [];
  const problems: ConfigurationProblem[] = [];
  for (const name of settings.CHAINS ?? []) {
    const read = readChain(name, settings, variables, known);
    if ('problems' in read) problems.push(...read.problems);
    else named.push(read);
  }
  const registry = addChains(known, named, problems);
  const configured = named.flatMap(({ name, own, custom }) => {
    const chain = registry.find(custom.key);
    if (chain === null) return [];
    const configuration = chainConfiguration(chain, own, settings);
    problems.push(...contradictions(configuration, name, variables));
    return [configuration];
  });
  problems.push(...repeatedChains(configured, variables));
  return { configured, registry, problems };
}

function readChain(
  name: string,
  settings: GlobalSettings,
  variables: Variables,
  known: ChainRegistry,
): NamedChain | { readonly problems: readonly ConfigurationProblem[] } {
  const own = ownVariables(name, variables);
  const parsed = chainKeys.safeParse(own);
  if (!parsed.success) {
    const firstByKey = new Map(parsed.error.issues.toReversed().map((issue) => [issue.path[0], issue.message]));
    const problems = [...firstByKey].flatMap(([key, message]) =>
      isChainKey(key) ? [chainProblem(name, key, own[key], message)] : [],
    );
    return { problems };
  }
  const base = known.find(name);
  const id = parsed.data.CHAIN_ID ?? base?.id;
  if (id === undefined) return { problems: [unknownChain(name, known)] };
  return {
    name,
    own: parsed.data,
    custom: {
      key: base?.key ?? name,
      id,
      confirmations: parsed.data.CONFIRMATIONS,
      blockTimeMs: parsed.data.BLOCK_TIME_MS,
      pollIntervalMs: parsed.data.POLL_INTERVAL_MS ?? settings.POLL_INTERVAL_MS,
      reorgDepthMax: parsed.data.REORG_DEPTH_MAX,
      nativeSymbol: parsed.data.NATIVE_SYMBOL,
      marketplaces: parsed.data.MARKETPLACES,
      etherFeed:
        parsed.data.ETHER_FEED === undefined
          ? undefined
          : { proxy: parsed.data.ETHER_FEED, decimals: 8, aggregators: [parsed.data.ETHER_FEED] },
    },
  };
}

/** Adds one chain after the other, so that a collision is told with the key that causes it. */
function addChains(
  known: ChainRegistry,
  named: readonly NamedChain[],
  problems: ConfigurationProblem[],
): ChainRegistry {
  let registry = known;
  const added: CustomChain[] = [];
  for (const { name, own, custom } of named) {
    try {
      registry = createChainRegistry({ additional: [...added, custom] });
      added.push(custom);
    } catch (error) {
      problems.push(chainProblem(name, 'CHAIN_ID', own.CHAIN_ID?.toString(), errorText(error)));
    }
  }
  return registry;
}

/** The variables of one chain without the suffix. */
function ownVariables(name: string, variables: Variables): Partial<Record<ChainKey, string>> {
  const own: Partial<Record<ChainKey, string>> = {};
  for (const key of Object.keys(chainKeys.shape)) {
    const value = variables[`${key}_${chainSuffix(name)}`];
    if (isChainKey(key) && value !== undefined) own[key] = value;
  }
  return own;
}

function isChainKey(key: unknown): key is ChainKey {
  return typeof key === 'string' && Object.hasOwn(chainKeys.shape, key);
}

function chainConfiguration(chain: Chain, own: ChainSettings, settings: GlobalSettings): ChainConfiguration {
  const limits = {
    ...(own.RPC_RATE === undefined ? {} : { requestsPerSecond: own.RPC_RATE }),
    ...(own.RPC_CONCURRENCY === undefined ? {} : { concurrency: own.RPC_CONCURRENCY }),
  };
  return {
    chain,
    upstreams: (own.RPC_URLS ?? chain.rpcUrls).map((url) => ({ url, ...limits })),
    usesPublicUpstreams: own.RPC_URLS === undefined,
    startBlock: own.START_BLOCK,
    endBlock: own.END_BLOCK ?? null,
    backfillOrder: own.BACKFILL_ORDER,
    proof: own.PROOF ?? settings.PROOF ?? chain.proofPolicy,
    backfillProof: own.BACKFILL_PROOF ?? settings.BACKFILL_PROOF,
  };
}

/** What each key allows, and the keys together do not. */
function contradictions(configured: ChainConfiguration, name: string, variables: Variables): ConfigurationProblem[] {
  const { upstreams, startBlock, endBlock } = configured;
  const own = ownVariables(name, variables);
  const problems: ConfigurationProblem[] = [];
  if (!upstreams.some(({ url }) => url.startsWith('http'))) {
    const reason =
      upstreams.length === 0
        ? `no public endpoint of ${name} is known`
        : 'an http(s) upstream is needed beside ws(s) ones';
    problems.push(chainProblem(name, 'RPC_URLS', own.RPC_URLS, reason));
  }
  if (endBlock !== null && startBlock !== null && endBlock < startBlock) {
    const reason = `is below START_BLOCK_${chainSuffix(name)} (${startBlock})`;
    problems.push(chainProblem(name, 'END_BLOCK', own.END_BLOCK, reason));
  }
  return problems;
}

function repeatedChains(configured: readonly ChainConfiguration[], variables: Variables): ConfigurationProblem[] {
  const keys = configured.map(({ chain }) => chain.key);
  const repeated = new Set(keys.filter((key, index) => keys.indexOf(key) !== index));
  const facts = factsOf(globalKeys.shape.CHAINS);
  return [...repeated].map((key) => problemWith('CHAINS', variables.CHAINS, `names ${key} twice`, facts));
}

function unknownChain(name: string, known: ChainRegistry): ConfigurationProblem {
  const suffix = chainSuffix(name);
  const names = known.all().flatMap((chain) => [chain.key, ...chain.apiNames]);
  const near = closest(name, names, name.length < SHORT_NAME_LENGTH ? 1 : 2);
  const suggestion = near === null ? '' : `did you mean ${near}? `;
  return problemWith(
    'CHAINS',
    name,
    `is not a known chain; ${suggestion}To add a chain of your own, set CHAIN_ID_${suffix} and RPC_URLS_${suffix}`,
    factsOf(globalKeys.shape.CHAINS),
  );
}

function chainProblem(name: string, key: ChainKey, given: string | undefined, problem: string): ConfigurationProblem {
  return problemWith(`${key}_${chainSuffix(name)}`, given, problem, factsOf(chainKeys.shape[key]));
}
