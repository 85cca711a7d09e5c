import { join } from 'node:path';
import { chainKeyOf } from '@chainstead/aptos';
import { redactUrl } from '@chainstead/core';
import { redactConnectionString } from '@chainstead/db/server';
import { isLoopbackName } from '@chainstead/http/server';
import { chainSuffix } from '../configuration/chain-keys.ts';
import type { Configuration } from '../configuration/index.ts';
import type { Storage } from '../session/storage.ts';
import { type RoleSlot, renderRoles } from '../shares/role-slot.ts';
import type { RoleReady } from '../supervisor/role-process-handle.ts';
import type { ChainFinding } from './survey-upstreams.ts';

export interface StartSummary {
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
