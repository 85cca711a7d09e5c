import { aptosDatasets, readAptosStatuses } from '@chainstead/aptos';
import { readCluster, readSetAsideWork, readStorage } from '@chainstead/db';
import { readMetadataStatuses, readTraitsStatuses } from '@chainstead/nft';
import { readStreamStatuses } from '@chainstead/streams';
import { countRows, readChainStatuses, readHistories } from '@chainstead/sync';
import type { Command } from 'commander';
import { aptosStatusJson, renderAptosStatus } from '../aptos-status-text.ts';
import { renderStatus, toStatusJson } from '../chain-status-text.ts';
import { renderCluster } from '../cluster-status-text.ts';
import type { CommandContext } from '../command-context.ts';
import { withStorage } from '../command-session.ts';
import { type Configuration, keepOfChains } from '../configuration/index.ts';
import { readConnectedProcesses, renderConnectedProcesses } from '../connected-processes.ts';
import { findDatabase } from '../find-database.ts';
import { readDatabaseConfiguration } from '../read-configuration.ts';
import { renderSetAside, setAsideJson } from '../set-aside-text.ts';
import { diskPlaceOf, renderStorage, storageJson } from '../storage-status-text.ts';
import { renderStreamStatus, streamStatusJson } from '../stream-status-text.ts';

/** Unfinished histories that are listed; all are counted. */
const HISTORIES_MAX = 20;
/** Collections whose metadata can't be read that are listed by chain; all are counted. */
const FAILING_COLLECTIONS_MAX = 10;

/** Streams that fail that are listed; all are counted. */
const FAILING_STREAMS_MAX = 10;

/** Things that processes ended with, and that are not done any more. */
const SET_ASIDE_MAX = 20;

/** Writes where each chain stands. */
export async function showStatus(
  options: { readonly json?: boolean },
  command: Command,
  context: CommandContext,
): Promise<void> {
  const configuration = await findDatabase(readDatabaseConfiguration(command, context), context);
  const configured = configuration.chains.map(({ chain }) => chain);
  await withStorage({ configuration, context, name: 'status' }, async ({ database }) => {
    const cluster = await readCluster(database);
    // Counted over all nodes: where one is away, the rest is worth more than an error.
    const isWhole = cluster === null || cluster.away.length === 0;
    const status = {
      chains: await readChainStatuses(database, configuration.datasets, configured, keepOfChains(configuration.chains)),
      configured,
      rows: await countRows(database, tablesOf(configuration)),
      histories: await readHistories(database, HISTORIES_MAX),
      metadata: isWhole ? await readMetadataStatuses(database, FAILING_COLLECTIONS_MAX) : [],
      traits: await readTraitsStatuses(database),
      registry: configuration.chainRegistry,
      now: context.clock.now(),
    };
    const aptos = {
      statuses: await readAptosStatuses(database, configuration.aptos.datasets),
      configured: configuration.aptos.networks.map(({ network }) => network),
      now: status.now,
    };
    const streams = await readStreamStatuses(database, FAILING_STREAMS_MAX);
    const setAside = await readSetAsideWork(database, SET_ASIDE_MAX);
    const processes = await readConnectedProcesses(database);
    const storage = await readStorage(database, diskPlaceOf(configuration));
    context.stdout.write(
      options.json === true
        ? `${JSON.stringify({ ...toStatusJson(status), aptos: aptosStatusJson(aptos), streams: streamStatusJson(streams), set_aside: setAsideJson(setAside), storage: storageJson(storage), processes, cluster: cluster })}\n`
        : renderStatus(status, renderAptosStatus(aptos), [
            ...renderStreamStatus(streams),
            ...renderSetAside(setAside),
            ...(status.chains.length === 0 ? [] : renderStorage(storage)),
            ...renderConnectedProcesses(processes),
            ...renderCluster(cluster),
          ]),
    );
  });
}

/** Aptos has tables where it is indexed. */
function tablesOf({ aptos, datasets }: Configuration): string[] {
  const aptosTables = aptos.networks.length === 0 ? [] : aptosDatasets(aptos.datasets).flatMap(({ tables }) => tables);
  return ['blocks', 'tokens', ...datasets.map(({ table }) => table.name), ...aptosTables];
}
