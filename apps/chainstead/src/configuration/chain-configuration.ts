import { type Chain, type ChainRegistry, type CustomChain, createChainRegistry } from '@chainstead/chains';
import { errorText } from '@chainstead/core';
import { RESERVED_SEGMENTS } from '@chainstead/gateway/reserved-segments';
import type { UpstreamConfig } from '@chainstead/rpc';
import { type ChainSettings, chainKeys, chainSuffix } from './chain-keys.ts';
import { hasNoNodes, upstreamsOf, usesPublicUpstreams } from './chain-upstreams.ts';
import { type GlobalSettings, globalKeys } from './global-keys.ts';
import { hasDataset, ofChain } from './history-source.ts';
import { factsOf } from './key-facts.ts';
import { offeredNames } from './offered-names.ts';
import { pricingRules } from './price-keys.ts';
import { type ConfigurationProblem, problemWith } from './problems.ts';
import { suggestChains } from './suggestion.ts';

export type ChainConfiguration = Readonly<ReturnType<typeof chainConfiguration>>;

interface GatewayChainConfiguration
  extends Pick<ChainConfiguration, 'chain' | 'upstreams' | 'usesPublicUpstreams'> {
  readonly slug: string;
  readonly integrity: 'none' | 'strict';
}

export interface ResolvedChains {
  readonly configured: readonly ChainConfiguration[];
  readonly gateway: readonly GatewayChainConfiguration[];
  readonly registry: ChainRegistry;
  readonly problems: readonly ConfigurationProblem[];
}

type ChainKey = keyof typeof chainKeys.shape;
type Variables = Readonly<Record<string, string>>;

interface NamedChain {
  readonly name: string;
  readonly own: ChainSettings;
  readonly custom: CustomChain;
}

export function resolveChains(
  settings: GlobalSettings,
  variables: Variables,
  needsUpstreams = true,
): ResolvedChains {
  const known = createChainRegistry();
  const keyOf = (name: string): string => known.find(name)?.key ?? name;
  const problems: ConfigurationProblem[] = [];
  const named = readNamed(settings, variables, known, problems);
  const registry = addChains(known, [...named.values()], problems);
  const found = (names: readonly string[]): FoundChain[] =>
    names.flatMap((name) => {
      const chainNamed = named.get(keyOf(name));
      const chain = chainNamed === undefined ? null : registry.find(chainNamed.custom.key);
      return chainNamed === undefined || chain === null ? [] : [{ ...chainNamed, chain }];
    });
  const indexed = found(settings.CHAINS ?? []);
  const configured = indexed.map(({ name, own, chain }) => {
    const configuration = chainConfiguration(name, chain, own, settings, known.find(chain.id) === null);
    problems.push(...contradictions(configuration, name, variables));
    if (needsUpstreams && !configuration.hasNoNodes)
      problems.push(...missingUpstream(name, configuration.upstreams, variables));
    return configuration;
  });
  const gateway = found(offeredNames(settings, known)).flatMap(({ name, own, chain }) => {
    if (needsUpstreams && !indexed.some((other) => other.name === name))
      problems.push(...missingUpstream(name, upstreamsOf(chain, own), variables));
    return gatewayConfiguration(chain, own, settings, problems);
  });
  problems.push(
    ...repeatedChains(configured, 'CHAINS', variables),
    ...(settings.GATEWAY_CHAINS === undefined ? [] : repeatedChains(gateway, 'GATEWAY_CHAINS', variables)),
  );
  return { configured, gateway, registry, problems };
}

export function namesWithKeys(settings: GlobalSettings): string[] {
  return [...new Set([...(settings.CHAINS ?? []), ...offeredNames(settings, createChainRegistry())])];
}

/** By chain key. The name in `CHAINS` wins. */
function readNamed(
  settings: GlobalSettings,
  variables: Variables,
  known: ChainRegistry,
  problems: ConfigurationProblem[],
): Map<string, NamedChain> {
  const named = new Map<string, NamedChain>();
  const read = (names: readonly string[], selectedBy: SelectionKey): void => {
    for (const name of names) {
      const chain = readChain(name, settings, variables, { known, selectedBy });
      if ('problems' in chain) problems.push(...chain.problems);
      else named.set(chain.custom.key, named.get(chain.custom.key) ?? chain);
    }
  };
  const indexed = settings.CHAINS ?? [];
  read(indexed, 'CHAINS');
  const isIndexed = new Set(indexed.map((name) => known.find(name)?.key ?? name));
  read(
    offeredNames(settings, known).filter((name) => !isIndexed.has(known.find(name)?.key ?? name)),
    'GATEWAY_CHAINS',
  );
  return named;
}

function readChain(
  name: string,
  settings: GlobalSettings,
  variables: Variables,
  { known, selectedBy }: { readonly known: ChainRegistry; readonly selectedBy: SelectionKey },
): NamedChain | { readonly problems: readonly ConfigurationProblem[] } {
  const given = ownVariables(name, variables);
  const parsed = chainKeys.safeParse(given);
  if (!parsed.success) {
    const firstByKey = new Map(parsed.error.issues.toReversed().map((issue) => [issue.path[0], issue.message]));
    const problems = [...firstByKey].flatMap(([key, message]) =>
      isChainKey(key) ? [chainProblem(name, key, given[key], message)] : [],
    );
    return { problems };
  }
  const base = known.find(name);
  const own = parsed.data;
  const id = own.CHAIN_ID ?? base?.id;
  if (id === undefined) return { problems: [unknownChain(name, known, selectedBy)] };
  const wrapped = own.WRAPPED_NATIVE;
  const knownWrapped = base?.id === id ? base.wrappedNative : null;
  if (wrapped !== undefined && knownWrapped !== null && wrapped !== knownWrapped) {
    const reason = `is not ${knownWrapped}, the wrapped native token of ${base?.name}`;
    return { problems: [chainProblem(name, 'WRAPPED_NATIVE', given.WRAPPED_NATIVE, reason)] };
  }
  return {
    name,
    own,
    custom: {
      key: base?.key ?? name,
      id,
      confirmations: own.CONFIRMATIONS,
      blockTimeMs: own.BLOCK_TIME_MS,
      pollIntervalMs: settings.POLL_INTERVAL_MS,
      reorgDepthMax: own.REORG_DEPTH_MAX,
      nativeSymbol: own.NATIVE_SYMBOL,
      wrappedNative: wrapped,
      proofPolicy: own.VERIFICATION ?? settings.VERIFICATION,
      marketplaces: own.MARKETPLACES,
      exchanges: own.EXCHANGES,
      etherFeed: own.ETHER_FEED && { proxy: own.ETHER_FEED, decimals: 8, aggregators: [own.ETHER_FEED] },
      tokenFeeds: own.FEEDS,
      dollarTokens: own.DOLLAR_TOKENS,
      pricing: pricingRules(settings),
      trustedHooks: own.TRUSTED_HOOKS,
      transactions: {
        mode: own.TRANSACTIONS,
        input: settings.TRANSACTION_INPUT,
        verifiesSenders: settings.VERIFY_SENDERS === 'on',
      },
      logs: own.LOGS,
      internalTransfers: own.INTERNAL_TRANSFERS,
      swaps: own.SWAPS,
    },
  };
}

type SelectionKey = 'CHAINS' | 'GATEWAY_CHAINS';

type FoundChain = NamedChain & { readonly chain: Chain };

/** Chains are added one by one, so that a collision names its setting. */
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

function chainConfiguration(
  name: string,
  chain: Chain,
  own: ChainSettings,
  settings: GlobalSettings,
  isOwn: boolean,
) {
  return {
    name,
    chain,
    upstreams: upstreamsOf(chain, own),
    /** Read before upstreams, in this order. */
    history: (own.HISTORY ?? []).map((source) => ofChain(source, chain)),
    /** Whether `upstreams` are public endpoints: none was configured. */
    usesPublicUpstreams: usesPublicUpstreams(own),
    /** Era files only: their last proven block is the head. */
    hasNoNodes: hasNoNodes(own),
    /** Null: the head at the first start. */
    startBlock: own.START_BLOCK ?? null,
    /** From the chain's first block, if it is young at the first start. */
    startsWhole: isOwn && own.START_BLOCK === undefined,
    /** Unknown to Chainstead. A development chain may have a block per transaction only. */
    isOwn,
    /** Null: the head is followed. */
    endBlock: own.END_BLOCK ?? null,
    retention: { blocks: own.RETENTION_BLOCKS ?? null, since: own.RETENTION_FROM_DATE ?? null },
    backfillOrder: own.BACKFILL_ORDER,
    proof: chain.proofPolicy,
    /** `receipts`: history is proven before it is served. */
    backfillProof: hasNoNodes(own) ? 'receipts' : (own.BACKFILL_PROOF ?? settings.BACKFILL_PROOF),
  };
}

function gatewayConfiguration(
  chain: Chain,
  own: ChainSettings,
  settings: GlobalSettings,
  problems: ConfigurationProblem[],
): GatewayChainConfiguration[] {
  const slug = chain.gatewaySlug;
  if (slug === null) return [];
  const selectedBy = settings.GATEWAY_CHAINS === undefined ? 'CHAINS' : 'GATEWAY_CHAINS';
  if (RESERVED_SEGMENTS.has(slug)) {
    const reason = `would have its gateway at /${slug}, which is an API path. Use another chain name`;
    problems.push(problemWith(selectedBy, slug, reason, factsOf(globalKeys.shape[selectedBy])));
  }
  return [
    {
      slug,
      chain,
      upstreams: upstreamsOf(chain, own),
      usesPublicUpstreams: usesPublicUpstreams(own),
      integrity: own.GATEWAY_INTEGRITY,
    },
  ];
}

function contradictions(
  configured: ChainConfiguration,
  name: string,
  variables: Variables,
): ConfigurationProblem[] {
  const { chain, startBlock, endBlock, retention } = configured;
  const own = ownVariables(name, variables);
  const problems: ConfigurationProblem[] = [];
  const unknown = configured.history.find(({ kind, place }) => kind === 'portal' && !hasDataset(place));
  if (unknown !== undefined) {
    const reason = `names ${unknown.place} without a dataset, and none of ${chain.name} is known. Write its URL with /datasets/NAME`;
    problems.push(chainProblem(name, 'HISTORY', own.HISTORY, reason));
  }
  if (endBlock !== null && startBlock !== null && endBlock < startBlock) {
    const reason = `is below START_BLOCK_${chainSuffix(name)} (${startBlock})`;
    problems.push(chainProblem(name, 'END_BLOCK', own.END_BLOCK, reason));
  }
  if (retention.blocks !== null && retention.blocks <= chain.reorgDepthMax) {
    const reason = `is not more than the ${chain.reorgDepthMax} blocks that a reorg may replace`;
    problems.push(chainProblem(name, 'RETENTION_BLOCKS', own.RETENTION_BLOCKS, reason));
  }
  return problems;
}

function missingUpstream(
  name: string,
  upstreams: readonly UpstreamConfig[],
  variables: Variables,
): ConfigurationProblem[] {
  if (upstreams.some(({ url }) => url.startsWith('http'))) return [];
  const reason =
    upstreams.length === 0
      ? `no public endpoint of ${name} is known`
      : 'at least one http(s) upstream is required';
  return [chainProblem(name, 'RPC_URLS', ownVariables(name, variables).RPC_URLS, reason)];
}

function repeatedChains(
  chosen: readonly { readonly chain: Chain }[],
  key: SelectionKey,
  variables: Variables,
): ConfigurationProblem[] {
  const keys = chosen.map(({ chain }) => chain.key);
  const repeated = new Set(keys.filter((name, index) => keys.indexOf(name) !== index));
  const facts = factsOf(globalKeys.shape[key]);
  return [...repeated].map((name) => problemWith(key, variables[key], `contains ${name} twice`, facts));
}

function unknownChain(name: string, known: ChainRegistry, selectedBy: SelectionKey): ConfigurationProblem {
  const suffix = chainSuffix(name);
  const reason = ['is not a known chain.', suggestChains(name, known)].join(' ').trim();
  return problemWith(
    selectedBy,
    name,
    `${reason} To add a custom chain, set CHAIN_ID_${suffix} and RPC_URLS_${suffix}`,
    factsOf(globalKeys.shape[selectedBy]),
  );
}

function chainProblem(
  name: string,
  key: ChainKey,
  given: string | undefined,
  problem: string,
): ConfigurationProblem {
  return problemWith(`${key}_${chainSuffix(name)}`, given, problem, factsOf(chainKeys.shape[key]));
}
