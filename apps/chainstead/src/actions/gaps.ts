import { type AptosStatus, readAptosStatuses } from '@chainstead/aptos';
import { type BlockRange, rangeSize } from '@chainstead/core';
import { type ChainStatus, readChainStatuses } from '@chainstead/sync';
import type { Command } from 'commander';
import { chainName } from '../chain-name.ts';
import type { CommandContext } from '../command-context.ts';
import { withStorage } from '../command-session.ts';
import { type Configuration, keepOfChains } from '../configuration/index.ts';
import { findDatabase } from '../find-database.ts';
import { readDatabaseConfiguration } from '../read-configuration.ts';
import { renderTable } from '../text-table.ts';

/** Writes what is not covered, and what is. */
export async function showGaps(
  options: { readonly json?: boolean },
  command: Command,
  context: CommandContext,
): Promise<void> {
  const configuration = await findDatabase(readDatabaseConfiguration(command, context), context);
  await withStorage({ configuration, context, name: 'gaps' }, async ({ database }) => {
    const configured = configuration.chains.map(({ chain }) => chain);
    const statuses = await readChainStatuses(
      database,
      configuration.datasets,
      configured,
      keepOfChains(configuration.chains),
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
    gaps.length === 0
      ? 'Nothing is missing.\n'
      : `Missing:\n${renderTable(['chain', 'dataset', 'from', 'to', 'blocks'], gaps)}`;
  const header = ['chain', 'dataset', 'from', 'to', 'blocks', 'proof', 'upstream'];
  return `${missing}\nCovered:\n${renderTable(header, [...covered, ...versions])}`;
}

/** Of Aptos nothing is proven; a root that two fullnodes agree on says that up to it they have the same ledger. */
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
