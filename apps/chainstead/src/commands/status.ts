import { aptosDatasets, chainKeyOf, readAptosStatuses } from '@chainstead/aptos';
import { readSetAsideWork } from '@chainstead/db';
import { readCluster, readStorage } from '@chainstead/db/server';
import { readMetadataStatuses, readTraitsStatuses } from '@chainstead/nft';
import { readStreamStatuses, type StreamStatuses } from '@chainstead/streams';
import { countRows, readReportedChains, readUnknownHeads } from '@chainstead/sync/ingest';
import { readHistories } from '@chainstead/sync/requests';
import type { Configuration } from '../configuration/index.ts';
import { readDatasetProgress } from '../dataset-progress/dataset-progress.ts';
import { readStatuses } from '../session/chain-session.ts';
import type { Invocation, JsonOption } from '../session/command-context.ts';
import { withStorage } from '../session/command-session.ts';
import {
  type IngestState,
  readConnectedProcesses,
  readIngestState,
  renderConnectedProcesses,
  renderIngestState,
  withLeftOut,
} from '../session/connected-processes.ts';
import { readDatabaseConfiguration } from '../session/read-configuration.ts';
import { findDatabase } from '../session/with-database.ts';
import { aptosStatusJson, renderAptosStatus } from '../text/aptos-status-text.ts';
import { renderStatus, toStatusJson } from '../text/chain-status-text.ts';
import {
  diskPlaceOf,
  renderCluster,
  renderSetAside,
  renderStorage,
  setAsideJson,
  storageJson,
} from '../text/text-table.ts';

const HISTORIES_MAX = 20;
const FAILING_COLLECTIONS_MAX = 10;

const FAILING_STREAMS_MAX = 10;

const SET_ASIDE_MAX = 20;

export async function showStatus({ options, command, context }: Invocation<JsonOption>): Promise<void> {
  const output = options.json === true ? 'json' : 'text';
  const configuration = await findDatabase(readDatabaseConfiguration(command, context), context, output);
  const configured = configuration.chains.map(({ chain }) => chain);
  await withStorage({ configuration, context, name: 'status' }, async ({ database }) => {
    const cluster = await readCluster(database);
    // The rest is shown even if a node is unavailable.
    const isWhole = cluster === null || cluster.away.length === 0;
    const ingest = await readIngestState(database);
    const reported = await readReportedChains(database);
    const configuredNetworks = configuration.aptos.networks.map(({ network }) => network);
    const unknownHeads = withLeftOut(
      await readUnknownHeads(database),
      [...configured.map(({ id }) => String(id)), ...configuredNetworks.map(chainKeyOf)],
      { ingest, reported, now: context.clock.now() },
    );
    const evmTables = configuration.datasets.map(({ table }) => table.name);
    const aptosNames = configuration.aptos.networks.length === 0 ? [] : configuration.aptos.datasets;
    const aptosTables = aptosDatasets(aptosNames).flatMap(({ tables }) => tables);
    const chains = (await readStatuses(database, configuration)).map((chain) => ({
      ...chain,
      unknownHead: unknownHeads.get(String(chain.chainId)) ?? null,
      // The pace of a process that has ended.
      ...(ingest.state === 'stopped' && { filling: null, proving: null }),
    }));
    const status = {
      chains,
      progress: await readDatasetProgress(database, configuration, chains),
      configured,
      unknownHeads,
      ends: endsOf(configuration),
      rows: await countRows(database, ['blocks', 'tokens', ...evmTables, ...aptosTables]),
      histories: await readHistories(database, HISTORIES_MAX),
      metadata: isWhole ? await readMetadataStatuses(database, FAILING_COLLECTIONS_MAX) : [],
      traits: await readTraitsStatuses(database),
      registry: configuration.chainRegistry,
      now: context.clock.now(),
    };
    const networks = await readAptosStatuses(database, configuration.aptos.datasets);
    const isConfigured = configured.length + configuredNetworks.length > 0;
    const aptos = {
      statuses: networks,
      configured: configuredNetworks,
      stored: new Set(
        networks
          .filter(
            ({ network, chain }) => isConfigured && !configuredNetworks.includes(network) && !reported.has(chain),
          )
          .map(({ network }) => network),
      ),
      unknownHeads,
      ends: status.ends,
      now: status.now,
    };
    const streams = await readStreamStatuses(database, FAILING_STREAMS_MAX);
    const setAside = await readSetAsideWork(database, SET_ASIDE_MAX);
    const processes = await readConnectedProcesses(database);
    const storage = await readStorage(database, await diskPlaceOf(configuration));
    context.stdout.write(
      options.json === true
        ? `${JSON.stringify({ ...toStatusJson(status), aptos: aptosStatusJson(aptos), streams: streamStatusJson(streams), set_aside: setAsideJson(setAside), storage: storageJson(storage), ingest: ingest.state, processes, cluster: cluster })}\n`
        : renderStatus(
            status,
            [...stoppedText(status, ingest), ...renderAptosStatus(aptos)],
            [
              ...renderStreamStatus(streams),
              ...renderSetAside(setAside),
              ...(status.chains.length === 0 ? [] : renderStorage(storage)),
              ...renderConnectedProcesses(processes),
              ...renderCluster(cluster),
            ],
          ),
    );
  });
}

function endsOf({ chains, aptos }: Configuration): ReadonlyMap<string, number> {
  const ends = [
    ...chains.map(({ chain, endBlock }) => [String(chain.id), endBlock] as const),
    ...aptos.networks.map(({ network, endVersion }) => [chainKeyOf(network), endVersion] as const),
  ];
  return new Map(ends.flatMap(([chain, end]) => (end === null ? [] : [[chain, end]])));
}

/** Not of a database that no chain was ever ingested into. */
function stoppedText({ chains }: { readonly chains: readonly unknown[] }, ingest: IngestState): string[] {
  return chains.length === 0 ? [] : renderIngestState(ingest);
}

function renderStreamStatus({ counts, webhooksPending, blocksDeferred, failing }: StreamStatuses): string[] {
  const states = Object.entries(counts).map(([status, count]) => `${count} ${status}`);
  if (states.length === 0) return [];
  const reasons = failing.map(({ id, tag, status, message }) => `    ${id} (${tag}) ${status}: ${message}`);
  const waiting = webhooksPending === 1 ? '1 webhook pending' : `${webhooksPending} webhooks pending`;
  const later = blocksDeferred === 0 ? '' : `; blocks to match later: ${blocksDeferred}`;
  return [`${['streams', `  ${states.join(', ')}; ${waiting}${later}`, ...reasons].join('\n')}\n`];
}

function streamStatusJson({
  counts,
  webhooksPending,
  blocksDeferred,
  failing,
}: StreamStatuses): Readonly<Record<string, unknown>> {
  const { active = 0, paused = 0, error = 0, terminated = 0 } = counts;
  const work = { webhooks_pending: webhooksPending, blocks_deferred: blocksDeferred };
  return { active, paused, error, terminated, ...work, failing };
}
