import { join } from 'node:path';
import { chainKeyOf, createFullnodeMetrics, createFullnodes } from '@chainstead/aptos';
import {
  type Clock,
  createMetricsRegistry,
  errorText,
  type Finding,
  findingsOf,
  redactUrl,
  silentLogger,
} from '@chainstead/core';
import { redactConnectionString } from '@chainstead/db/server';
import { isLoopbackName } from '@chainstead/http/server';
import { NoUpstreamError } from '@chainstead/rpc';
import { createUpstreamPool } from '@chainstead/rpc/pool';
import { chainSuffix } from '../configuration/chain-keys.ts';
import type { AptosNetworkConfiguration, ChainConfiguration, Configuration } from '../configuration/index.ts';
import { renderFinding } from '../doctor/report.ts';
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
  readonly findings: readonly Finding[];
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
  ];
  const shown = [...findings, ...warnings(configuration, address !== null && !summary.needsKey)];
  return `\n${lines.join('\n')}\n${shown.map(renderFinding).join('')}\n`;
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

function warnings({ privateNetworks }: Configuration, isOpen: boolean): Finding[] {
  const findings: Finding[] = [];
  if (privateNetworks !== false) {
    const which = privateNetworks === true ? 'all' : privateNetworks.join(', ');
    const found = `webhook and metadata URLs may reach private networks: ${which}`;
    const meaning = 'Clients can make this program call servers of your own network.';
    findings.push(
      findingsOf('webhooks').warning(found, meaning, 'Unset WEBHOOK_ALLOW_PRIVATE unless you need it.'),
    );
  }
  if (isOpen)
    findings.push(
      findingsOf('keys').ok(
        'without a key (API_KEYS or `chainstead keys create`), the API is open to this machine only',
      ),
    );
  return findings;
}

interface Survey {
  readonly head: number | null;
  readonly failure: string | null;
  readonly unusable: readonly { readonly name: string; readonly reason: string }[];
}

export function chainFindings(configured: ChainConfiguration, survey: Survey): Finding[] {
  const { chain, hasNoNodes, usesPublicUpstreams, startBlock } = configured;
  const suffix = chainSuffix(configured.name);
  const remedy = usesPublicUpstreams
    ? `Set RPC_URLS_${suffix} to your own node.`
    : `Check ${hasNoNodes ? 'HISTORY' : 'RPC_URLS'}_${suffix}.`;
  const without = hasNoNodes ? 'nothing can be indexed' : 'no usable node';
  return surveyFindings(chain.key, survey, { without, remedy, key: `START_BLOCK_${suffix}` }, startBlock);
}

type NetworkStart = Pick<AptosNetworkConfiguration, 'network' | 'startVersion'>;

export function networkFindings({ network, startVersion }: NetworkStart, survey: Survey): Finding[] {
  const prefix = network === 'testnet' ? 'APTOS_TESTNET' : 'APTOS';
  const remedy = `Check ${prefix}_NODE_URL.`;
  const texts = { without: 'no usable node', remedy, key: `${prefix}_START_VERSION` };
  return surveyFindings(chainKeyOf(network), survey, texts, startVersion);
}

function surveyFindings(
  chain: string,
  { head, failure, unusable }: Survey,
  { without, remedy, key }: Readonly<Record<'without' | 'remedy' | 'key', string>>,
  start: number | null,
): Finding[] {
  const { warning, bad } = findingsOf(chain);
  const retries = 'Chainstead retries automatically.';
  if (failure !== null) return [bad(`${without}: ${failure.replace(/[.!]+$/, '')}`, retries, remedy)];
  const others = unusable.map(({ name, reason }) => warning(`${name} is not used: ${reason}`, retries, remedy));
  if (head === null || start === null || start <= head) return others;
  const found = `${key} is ${start}, above the head ${head}`;
  return [...others, bad(found, 'Nothing is indexed until the chain reaches it.', 'Lower it, or wait.')];
}

const ANSWER_MS = 4_000;
const OTHERS_MS = 1_000;

export async function surveyUpstreams({ chains, aptos }: Configuration, clock: Clock): Promise<Finding[]> {
  const findings = await Promise.all([
    ...chains.map(async (configured) => chainFindings(configured, await surveyChain(configured, clock))),
    ...aptos.networks.map(async (network) => networkFindings(network, await surveyFullnodes(network, clock))),
  ]);
  return findings.flat();
}

async function surveyChain(configured: ChainConfiguration, clock: Clock): Promise<Survey> {
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
    return { head: value.number, failure: null, unusable };
  } catch (error) {
    const failures = error instanceof NoUpstreamError ? error.failures : null;
    const reasons = failures?.map(({ upstream, reason }) => `${upstream}: ${reason}`).join('; ');
    return { head: null, failure: reasons ?? errorText(error), unusable: [] };
  } finally {
    await pool.close();
  }
}

async function surveyFullnodes(
  { network, fullnodes: urls, apiKey }: AptosNetworkConfiguration,
  clock: Clock,
): Promise<Survey> {
  const metrics = createFullnodeMetrics(createMetricsRegistry());
  const fullnodes = createFullnodes({ network, urls, apiKey, logger: silentLogger(), clock, metrics });
  const timeUp = AbortSignal.timeout(ANSWER_MS);
  try {
    const { head } = await fullnodes.ledger(timeUp);
    return { head, failure: null, unusable: [] };
  } catch (error) {
    const reasons = fullnodes
      .status()
      .map(({ name, reason, lastError }) => `${name}: ${reason ?? lastError ?? 'no response'}`);
    return { head: null, failure: reasons.join('; ') || errorText(error), unusable: [] };
  } finally {
    await fullnodes.close();
  }
}
