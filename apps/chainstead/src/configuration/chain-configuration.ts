import { type Chain, createCustomChain, findChain, knownChains, type ProofPolicy } from '@chainstead/chains';
import { parseChainId } from '@chainstead/core';
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
  readonly problems: readonly ConfigurationProblem[];
}

type ChainKey = keyof typeof chainKeys.shape;
type Variables = Readonly<Record<string, string>>;

/** The chains named in `CHAINS`, each with its own keys, and everything that is wrong with them. */
export function resolveChains(settings: GlobalSettings, variables: Variables): ResolvedChains {
  const results = (settings.CHAINS ?? []).map((name) => resolveChain(name, settings, variables));
  const configured = results.flatMap((result) => (result.chain === null ? [] : [result.chain]));
  return {
    configured,
    problems: [...results.flatMap((result) => result.problems), ...repeatedIds(configured, variables)],
  };
}

interface ResolvedChain {
  readonly chain: ChainConfiguration | null;
  readonly problems: readonly ConfigurationProblem[];
}

function resolveChain(name: string, settings: GlobalSettings, variables: Variables): ResolvedChain {
  const own = ownVariables(name, variables);
  const parsed = chainKeys.safeParse(own);
  if (!parsed.success) {
    const firstByKey = new Map(parsed.error.issues.toReversed().map((issue) => [issue.path[0], issue.message]));
    const problems = [...firstByKey].flatMap(([key, message]) =>
      isChainKey(key) ? [chainProblem(name, key, own[key], message)] : [],
    );
    return { chain: null, problems };
  }
  const chain = chainOf(name, parsed.data);
  if (chain === null) return { chain: null, problems: [unknownChain(name)] };
  const problems = contradictions(name, chain, parsed.data, own);
  return { chain: problems.length > 0 ? null : chainConfiguration(chain, parsed.data, settings), problems };
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

/** The known chain with its overrides, one made of the settings alone, or null when there is neither. */
function chainOf(name: string, settings: ChainSettings): Chain | null {
  const known = findChain(name);
  if (known === null && settings.CHAIN_ID === undefined) return null;
  const base =
    known ??
    createCustomChain({
      key: name,
      id: parseChainId(settings.CHAIN_ID),
      ...(settings.NATIVE_SYMBOL === undefined ? {} : { nativeSymbol: settings.NATIVE_SYMBOL }),
    });
  return {
    ...base,
    id: settings.CHAIN_ID === undefined ? base.id : parseChainId(settings.CHAIN_ID),
    confirmations: settings.CONFIRMATIONS ?? base.confirmations,
    native: { ...base.native, symbol: settings.NATIVE_SYMBOL ?? base.native.symbol },
  };
}

function chainConfiguration(chain: Chain, own: ChainSettings, settings: GlobalSettings): ChainConfiguration {
  const limits = {
    ...(own.RPC_RATE === undefined ? {} : { requestsPerSecond: own.RPC_RATE }),
    ...(own.RPC_CONCURRENCY === undefined ? {} : { concurrency: own.RPC_CONCURRENCY }),
  };
  return {
    chain: { ...chain, pollIntervalMs: own.POLL_INTERVAL_MS ?? settings.POLL_INTERVAL_MS ?? chain.pollIntervalMs },
    upstreams: (own.RPC_URLS ?? chain.rpcUrls).map((url) => ({ url, ...limits })),
    usesPublicUpstreams: own.RPC_URLS === undefined,
    startBlock: own.START_BLOCK,
    endBlock: own.END_BLOCK ?? null,
    backfillOrder: own.BACKFILL_ORDER,
    proof: own.PROOF ?? settings.PROOF ?? chain.proofPolicy,
    backfillProof: own.BACKFILL_PROOF ?? settings.BACKFILL_PROOF,
  };
}

function contradictions(
  name: string,
  chain: Chain,
  settings: ChainSettings,
  own: Partial<Record<ChainKey, string>>,
): ConfigurationProblem[] {
  const problems: ConfigurationProblem[] = [];
  const urls = settings.RPC_URLS ?? chain.rpcUrls;
  if (!urls.some((url) => url.startsWith('http'))) {
    const reason =
      urls.length === 0 ? `no public endpoint of ${name} is known` : 'an http(s) upstream is needed beside ws(s) ones';
    problems.push(chainProblem(name, 'RPC_URLS', own.RPC_URLS, reason));
  }
  if (settings.END_BLOCK !== undefined && settings.START_BLOCK !== null && settings.END_BLOCK < settings.START_BLOCK)
    problems.push(
      chainProblem(
        name,
        'END_BLOCK',
        own.END_BLOCK,
        `is below START_BLOCK_${chainSuffix(name)} (${settings.START_BLOCK})`,
      ),
    );
  return problems;
}

function repeatedIds(chains: readonly ChainConfiguration[], variables: Variables): ConfigurationProblem[] {
  return chains.flatMap(({ chain }, index) => {
    const first = chains.slice(0, index).find((other) => other.chain.id === chain.id);
    if (first === undefined) return [];
    return [
      problemWith(
        'CHAINS',
        variables.CHAINS,
        `${first.chain.key} and ${chain.key} both have chain id ${chain.id}`,
        factsOf(globalKeys.shape.CHAINS),
      ),
    ];
  });
}

function unknownChain(name: string): ConfigurationProblem {
  const suffix = chainSuffix(name);
  const near = closest(
    name,
    knownChains.flatMap((chain) => [chain.key, ...chain.apiNames]),
    2,
  );
  const suggestion = near === null ? '' : `did you mean ${near}? `;
  return problemWith(
    'CHAINS',
    name,
    `is not a known chain; ${suggestion}To add a chain of your own, set CHAIN_ID_${suffix} and RPC_URLS_${suffix}`,
    factsOf(globalKeys.shape.CHAINS),
  );
}

function chainProblem(name: string, key: ChainKey, given: string | undefined, problem: string): ConfigurationProblem {
  const facts = factsOf(chainKeys.shape[key]);
  return problemWith(`${key}_${chainSuffix(name)}`, given, problem, facts);
}
