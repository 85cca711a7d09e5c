import { chainKeyOf, createFullnodeMetrics, createFullnodes } from '@chainstead/aptos';
import { type Clock, createMetricsRegistry, errorText, silentLogger } from '@chainstead/core';
import { NoUpstreamError } from '@chainstead/rpc';
import { createUpstreamPool } from '@chainstead/rpc/pool';
import type { AptosNetworkConfiguration, ChainConfiguration, Configuration } from '../configuration/index.ts';
import { openPool } from '../session/upstream-pools.ts';

export interface ChainFinding {
  /** Key of the chain; `aptos` or `aptos-testnet`. */
  readonly chain: string;
  readonly head: number | null;
  readonly failure: string | null;
  readonly unusable: readonly { readonly name: string; readonly reason: string }[];
}

const ANSWER_MS = 4_000;
const OTHERS_MS = 1_000;

export function surveyUpstreams({ chains, aptos }: Configuration, clock: Clock): Promise<ChainFinding[]> {
  return Promise.all([
    ...chains.map((configured) => surveyChain(configured, clock)),
    ...aptos.networks.map((network) => surveyFullnodes(network, clock)),
  ]);
}

async function surveyChain(configured: ChainConfiguration, clock: Clock): Promise<ChainFinding> {
  const { chain, upstreams } = configured;
  const shared = { logger: silentLogger(), metrics: createMetricsRegistry(), clock };
  const pool = configured.hasNoNodes
    ? openPool(configured, shared)
    : createUpstreamPool({
        ...{ ...shared, chain, upstreams: upstreams.filter(({ url }) => url.startsWith('http')) },
        limits: { startTimeoutMs: ANSWER_MS, attemptTimeoutMs: ANSWER_MS, startGraceMs: OTHERS_MS },
      });
  try {
    await pool.start();
    const { value } = await pool.getHead({ signal: AbortSignal.timeout(ANSWER_MS) });
    const unusable = pool
      .status()
      .flatMap(({ name, state, reason }) =>
        state === 'disabled' ? [{ name, reason: reason ?? 'no response' }] : [],
      );
    return { chain: chain.key, head: value.number, failure: null, unusable };
  } catch (error) {
    const failures = error instanceof NoUpstreamError ? error.failures : null;
    const reasons = failures?.map(({ upstream, reason }) => `${upstream}: ${reason}`).join('; ');
    return { chain: chain.key, head: null, failure: reasons ?? errorText(error), unusable: [] };
  } finally {
    await pool.close();
  }
}

async function surveyFullnodes(
  { network, fullnodes: urls, apiKey }: AptosNetworkConfiguration,
  clock: Clock,
): Promise<ChainFinding> {
  const chain = chainKeyOf(network);
  const metrics = createFullnodeMetrics(createMetricsRegistry());
  const fullnodes = createFullnodes({ network, urls, apiKey, logger: silentLogger(), clock, metrics });
  const timeUp = AbortSignal.timeout(ANSWER_MS);
  try {
    const { head } = await fullnodes.ledger(timeUp);
    return { chain, head, failure: null, unusable: [] };
  } catch (error) {
    const reasons = fullnodes
      .status()
      .map(({ name, reason, lastError }) => `${name}: ${reason ?? lastError ?? 'no response'}`);
    return { chain, head: null, failure: reasons.join('; ') || errorText(error), unusable: [] };
  } finally {
    await fullnodes.close();
  }
}
