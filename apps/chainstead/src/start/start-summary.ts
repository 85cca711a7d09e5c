import { join } from 'node:path';
import { chainKeyOf, createFullnodeMetrics, createFullnodes } from '@chainstead/aptos';
import { type Clock, createMetricsRegistry, errorText, redactUrl, silentLogger } from '@chainstead/core';
import { redactConnectionString } from '@chainstead/db/server';
import { isLoopbackName } from '@chainstead/http/server';
import { NoUpstreamError } from '@chainstead/rpc';
import { createUpstreamPool } from '@chainstead/rpc/pool';
import { chainSuffix } from '../configuration/chain-keys.ts';
import type { AptosNetworkConfiguration, ChainConfiguration, Configuration } from '../configuration/index.ts';
import type { Storage } from '../session/storage.ts';
import { openPool } from '../session/upstream-pools.ts';
import { type RoleSlot, renderRoles } from '../shares/role-slot.ts';
import type { RoleReady } from '../supervisor/supervisor.ts';

interface StartSummary {
  readonly configuration: Configuration;
  readonly storage: Pick<Storage, 'isEmbedded' | 'url'>;
  readonly slots: readonly RoleSlot[];
  readonly ready: readonly RoleReady[];
  readonly metrics: string | null;
  readonly adminKeyFile?: string | null;
  /** A key is in API_KEYS, or was ever made. */
  readonly needsKey: boolean;
  readonly findings: readonly ChainFinding[];
}

const CHAINS_NAMED = 8;

export function renderStartSummary(summary: StartSummary): string {
  const { configuration, storage, slots, ready, metrics, findings } = summary;
  const address = ready.find(({ role }) => role === 'api')?.address ?? null;
  const { database, redisUrl } = configuration;
  const lines = [
    `Chainstead runs: ${renderRoles(slots)}`,
    ...(address === null
      ? []
      : [
          `  API       ${address}/api/v2.2`,
          `  Docs      ${address}/docs`,
          `  Console   ${address}/console, ${summary.adminKeyFile ? `with the key in ${summary.adminKeyFile}` : 'with a key of the scope admin'}`,
        ]),
    ...metricsLines(configuration, address, metrics),
    `  Database  ${storage.isEmbedded ? embeddedDatabase(storage.url, database.dataDirectory) : redactConnectionString(storage.url)}`,
    `  Queues    ${redisUrl === null ? 'in Postgres' : redactUrl(redisUrl)}`,
    ...chainLines(configuration),
    ...(address === null ? [] : gatewayLines(address, configuration.gateway)),
    ...aptosLines(configuration.aptos),
    ...findings.flatMap((finding) => findingLines(finding, configuration)),
    ...warnings(configuration, address !== null && !summary.needsKey),
  ];
  return `\n${lines.join('\n')}\n\n`;
}

function metricsLines({ api }: Configuration, address: string | null, metrics: string | null): string[] {
  const place = metrics ?? address;
  if (place === null) return [];
  if (api.metricsKey !== null) return [`  Metrics   ${place}/metrics, with METRICS_KEY`];
  if (metrics !== null || isLoopbackName(api.host)) return [`  Metrics   ${place}/metrics, without a key`];
  return ['  Metrics   closed, because HOST is reachable from other machines: set METRICS_KEY or METRICS_PORT'];
}

function embeddedDatabase(url: string, dataDirectory: string): string {
  const { username, host, pathname } = new URL(url);
  return `embedded: postgres://${username}@${host}${pathname}, password in ${join(dataDirectory, 'password')}`;
}

function chainLines({ chains, aptos, gateway }: Configuration): string[] {
  if (chains.length === 0) {
    const isWanting = aptos.networks.length === 0 && gateway.chains.length === 0;
    return isWanting ? ['  Chains    none: set CHAINS, for example CHAINS=eth,base'] : [];
  }
  return chains.map((configured, index) => {
    const { chain, upstreams, startBlock, startsWhole, endBlock } = configured;
    const firstOfYoung = startsWhole ? 'block 0 if the chain is young, otherwise ' : '';
    const first = configured.hasNoNodes
      ? 'the first block of its era files'
      : `${firstOfYoung}the head at the first start`;
    const history = `indexed from ${startBlock ?? first}${endBlock === null ? '' : ` to ${endBlock}`}`;
    const proof = `head proven (${configured.proof}), backfill ${configured.backfillProof === 'receipts' ? 'proven before it is served' : 'served first, then proven'}`;
    const nodes = configured.usesPublicUpstreams
      ? `${upstreams.length} public nodes (slow and rate-limited: set RPC_URLS)`
      : upstreams.map(({ url }) => redactUrl(url)).join(', ');
    const readFrom = configured.hasNoNodes
      ? 'no node is set: the head is the last proven block of its era files'
      : nodes;
    return `  ${index === 0 ? 'Chains  ' : '        '}  ${chain.key} (${chain.id}): ${history}; ${proof}; ${readFrom}`;
  });
}

function gatewayLines(address: string, { chains }: Configuration['gateway']): string[] {
  if (chains.length === 0) return [];
  const named = chains.slice(0, CHAINS_NAMED).map(({ slug }) => slug);
  const others = chains.length - named.length;
  return [`  Gateway   ${address}/{chain}/{key}: ${named.join(', ')}${others > 0 ? ` and ${others} more` : ''}`];
}

function aptosLines({ datasets, networks }: Configuration['aptos']): string[] {
  return networks.map(({ network, fullnodes, startVersion, endVersion }, index) => {
    const history = `indexed from ${startVersion ?? 'the head at the first start'}${endVersion === null ? '' : ` to ${endVersion}`}`;
    return `  ${index === 0 ? 'Aptos   ' : '        '}  ${chainKeyOf(network)}: ${history}; ${datasets.join(', ')}; ${fullnodes.map(redactUrl).join(', ')}`;
  });
}

function findingLines(finding: ChainFinding, { chains, aptos }: Configuration): string[] {
  const { chain, head, failure, unusable } = finding;
  const evm = chains.find((configured) => configured.chain.key === chain);
  const network = aptos.networks.find((configured) => chainKeyOf(configured.network) === chain);
  const prefix = network?.network === 'testnet' ? 'APTOS_TESTNET' : 'APTOS';
  const suffix = evm === undefined ? '' : chainSuffix(evm.name);
  const urls = evm === undefined ? `${prefix}_NODE_URL` : `RPC_URLS_${suffix}`;
  if (failure !== null && evm?.hasNoNodes === true)
    return [`  Problem   ${chain}: nothing can be indexed: ${failure}`];
  if (failure !== null) {
    const advice = evm?.usesPublicUpstreams === true ? `Set ${urls} to your own node` : `Check ${urls}`;
    return [
      `  Problem   ${chain}: no usable node: ${failure.replace(/[.!]+$/, '')}. ${advice}. Chainstead retries automatically`,
    ];
  }
  const start = evm === undefined ? network?.startVersion : evm.startBlock;
  const startKey = evm === undefined ? `${prefix}_START_VERSION` : `START_BLOCK_${suffix}`;
  const isFar = head !== null && start !== null && start !== undefined && start > head;
  return [
    ...unusable.map(({ name, reason }) => `  Warning   ${chain}: ${name} is not used: ${reason}`),
    ...(isFar
      ? [
          `  Problem   ${chain}: ${startKey} is ${start}, above the head ${head}: nothing is indexed until the chain reaches it`,
        ]
      : []),
  ];
}

function warnings({ privateNetworks }: Configuration, isOpen: boolean): string[] {
  const lines: string[] = [];
  if (privateNetworks !== false) {
    const which = privateNetworks === true ? 'all' : privateNetworks.join(', ');
    lines.push(`  Warning   webhook and metadata URLs may reach private networks: ${which}`);
  }
  if (isOpen)
    lines.push(
      '  Note      without a key (API_KEYS or `chainstead keys create`), the API is open to this machine only',
    );
  return lines;
}

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
