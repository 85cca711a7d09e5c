import { type AptosStatus, readAptosStatuses } from '@chainstead/aptos';
import { type BlockRange, rangeSize } from '@chainstead/core';
import { type ChainStatus, readChainStatuses } from '@chainstead/sync';
import type { Command } from 'commander';
import { type Configuration, retentionOfChains } from '../configuration/index.ts';
import type { CommandContext } from '../session/command-context.ts';
import { withStorage } from '../session/command-session.ts';
import { findDatabase } from '../session/find-database.ts';
import { readIndexedDatasets } from '../session/indexed-datasets.ts';
import { readDatabaseConfiguration } from '../session/read-configuration.ts';
import { chainName } from '../text/chain-name.ts';
import { renderTable } from '../text/text-table.ts';

export async function showGaps(
  options: { readonly json?: boolean },
  command: Command,
  context: CommandContext,
): Promise<void> {
  const output = options.json === true ? 'json' : 'text';
  const configuration = await findDatabase(readDatabaseConfiguration(command, context), context, output);
  await withStorage({ configuration, context, name: 'gaps' }, async ({ database }) => {
    const configured = configuration.chains.map(({ chain }) => chain);
    const statuses = await readChainStatuses(
      database,
      await readIndexedDatasets(database, configuration),
      configured,
      retentionOfChains(configuration.chains),
    );
    const aptos = await readAptosStatuses(database, configuration.aptos.datasets);
    context.stdout.write(
      options.json === true ? renderJson(statuses, aptos, configuration) : render(statuses, aptos, configuration),
    );
  });
}

function render(statuses: readonly ChainStatus[], aptos: readonly AptosStatus[], configuration: Configuration): string {
  if (statuses.length + aptos.length === 0) return 'No chain has been ingested yet.\n';
  const named = [
    ...statuses.map((status) => ({ chain: chainName(status, configuration.chainRegistry), gaps: status.gaps })),
    ...aptos,
  ];
  const gaps = named.flatMap((status) =>
    status.gaps.map(({ dataset, range }) => [status.chain, dataset, range.from, range.to, rangeSize(range)]),
  );
  const versions = aptos.flatMap((status) =>
    status.coverage.map(({ dataset, range }) => [
      status.chain,
      dataset,
      range.from,
      range.to,
      rangeSize(range),
      comparisonOf(status, range),
      '',
    ]),
  );
  const covered = statuses.flatMap((status) =>
    status.coverage.map(({ dataset, range, proof, reason, upstream }) => [
      chainName(status, configuration.chainRegistry),
      dataset,
      range.from,
      range.to,
      rangeSize(range),
      reason === null ? proof : `${proof} (${reason})`,
      upstream ?? '',
    ]),
  );
  const missing =
    gaps.length === 0 ? 'No gaps.\n' : `Missing:\n${renderTable(['chain', 'dataset', 'from', 'to', 'blocks'], gaps)}`;
  const header = ['chain', 'dataset', 'from', 'to', 'blocks', 'proof', 'upstream'];
  return `${missing}\nIndexed:\n${renderTable(header, [...covered, ...versions])}`;
}

/** Aptos has no proofs. If two fullnodes have the same root, their ledgers are equal up to that version. */
function comparisonOf({ confirmedRoot }: AptosStatus, range: BlockRange): string {
  if (confirmedRoot === null || confirmedRoot < range.from) return 'roots not compared';
  return confirmedRoot >= range.to ? 'roots agree' : `roots agree up to ${confirmedRoot}`;
}

function renderJson(
  statuses: readonly ChainStatus[],
  aptos: readonly AptosStatus[],
  configuration: Configuration,
): string {
  const chains = statuses.map((status) => ({
    chain: chainName(status, configuration.chainRegistry),
    chain_id: status.chainId,
    gaps: status.gaps,
    coverage: status.coverage,
  }));
  const networks = aptos.map(({ chain, network, gaps, coverage, confirmedRoot }) => ({
    chain,
    network,
    gaps,
    coverage,
    confirmed_root: confirmedRoot,
  }));
  return `${JSON.stringify([...chains, ...networks])}\n`;
}
