import { type AptosStatus, readAptosStatuses } from '@chainstead/aptos';
import { type BlockRange, rangeSize } from '@chainstead/core';
import type { ChainStatus } from '@chainstead/sync/ingest';
import type { Configuration } from '../configuration/index.ts';
import { readStatuses } from '../session/chain-session.ts';
import type { Invocation, JsonOption } from '../session/command-context.ts';
import { withStorage } from '../session/command-session.ts';
import { readDatabaseConfiguration } from '../session/read-configuration.ts';
import { findDatabase } from '../session/with-database.ts';
import { chainName, renderTable } from '../text/text-table.ts';

export async function showGaps({ options, command, context }: Invocation<JsonOption>): Promise<void> {
  const isJson = options.json === true;
  const found = await findDatabase(
    readDatabaseConfiguration(command, context),
    context,
    isJson ? 'json' : 'text',
  );
  await withStorage({ configuration: found, context, name: 'gaps' }, async ({ database }) => {
    const statuses = await readStatuses(database, found);
    const aptos = await readAptosStatuses(database, found.aptos.datasets);
    context.stdout.write(isJson ? renderJson(statuses, aptos, found) : render(statuses, aptos, found));
  });
}

function render(
  statuses: readonly ChainStatus[],
  aptos: readonly AptosStatus[],
  configuration: Configuration,
): string {
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
      ? 'No gaps.\n'
      : `Missing:\n${renderTable(['chain', 'dataset', 'from', 'to', 'blocks'], gaps)}`;
  const header = ['chain', 'dataset', 'from', 'to', 'blocks', 'proof', 'upstream'];
  return `${missing}\nIndexed:\n${renderTable(header, [...covered, ...versions])}`;
}

/** Aptos has no proofs: with the same root, two ledgers are equal up to that version. */
function comparisonOf({ confirmedRoot }: AptosStatus, range: BlockRange): string {
  if (confirmedRoot === null || confirmedRoot < range.from) return 'roots not compared';
  return confirmedRoot >= range.to ? 'roots agree' : `roots agree up to ${confirmedRoot}`;
}

function renderJson(
  statuses: readonly ChainStatus[],
  aptos: readonly AptosStatus[],
  configuration: Configuration,
): string {
  const chains = statuses.map((status) => {
    const { chainId, gaps, coverage } = status;
    return { chain: chainName(status, configuration.chainRegistry), chain_id: chainId, gaps, coverage };
  });
  const networks = aptos.map(({ chain, network, gaps, coverage, confirmedRoot }) => {
    return { chain, network, gaps, coverage, confirmed_root: confirmedRoot };
  });
  return `${JSON.stringify([...chains, ...networks])}\n`;
}
