import { type AptosStatus, chainIdOf, chainKeyOf, readAptosStatuses } from '@chainstead/aptos';
import { removeContractsOfChain } from '@chainstead/contracts/datasets';
import { ChainsteadError, parseChainId } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { recordAudit } from '@chainstead/http/audit-log';
import {
  type ChainRecord,
  listEvmChains,
  type MeasuredTable,
  measureChain,
  readChainTables,
  readReportedChains,
  removeChain,
  requireNotIndexed,
  type StoredChain,
  storedEvmChain,
} from '@chainstead/sync/ingest';
import type { Configuration } from '../configuration/index.ts';
import { UsageError } from '../errors/usage-error.ts';
import { writeOutcome } from '../ranges/range-command.ts';
import type { CommandContext, Invocation, JsonOption } from '../session/command-context.ts';
import { commandActor, withStorage } from '../session/command-session.ts';
import { readDatabaseConfiguration } from '../session/read-configuration.ts';
import { findDatabase, withDatabase } from '../session/with-database.ts';
import { createProgressReport } from '../text/progress.ts';
import { renderTable, sizeText } from '../text/text-table.ts';

interface RemoveChainOptions {
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

export async function listChains({ options, command, context }: Invocation<JsonOption>): Promise<void> {
  const output = options.json === true ? 'json' : 'text';
  const configuration = await findDatabase(readDatabaseConfiguration(command, context), context, output);
  await withStorage({ configuration, context, name: 'chains' }, async ({ database }) => {
    const listed = (await readRecords(database)).map((one) => ({
      ...one,
      ...named(one, configuration),
      configured: configuredLabels(configuration).has(one.label),
    }));
    if (options.json === true) context.stdout.write(`${JSON.stringify(listed.map(recordJson))}\n`);
    else if (listed.length === 0)
      context.stdout.write('No chain has been ingested yet. Set CHAINS and run "chainstead start".\n');
    else
      context.stdout.write(
        renderTable(
          ['chain', 'id', 'blocks', 'state'],
          listed.map(({ name, label, blocks, ...one }) => {
            const since = one.indexedAt === null ? '' : ` since ${one.indexedAt.toISOString()}`;
            const state = `${one.configured ? 'configured' : 'not configured here'}, not indexed${since}`;
            const range = blocks === null ? 'none' : `${blocks.from} to ${blocks.to}`;
            return [name, label, range, one.isIndexed ? 'indexed' : state];
          }),
        ),
      );
  });
}

export async function removeChainOfCommand(
  invocation: Invocation<RemoveChainOptions>,
  given: string,
): Promise<void> {
  const { options, context } = invocation;
  await withDatabase(invocation, 'chains', async ({ database }, configuration) => {
    const chain = await findChain(database, configuration, given);
    if (options.dryRun !== true) await requireRemovable(database, configuration, chain);
    const tables = await measureChain(database, await readChainTables(database, chain));
    const size = totalOf(tables);
    context.stderr.write(renderSize(chain, tables));
    if (options.dryRun === true)
      return writeOutcome(context, 'Nothing was deleted.', {
        ...{ work: 'remove', chain: chain.name, dry_run: true },
        ...size,
      });
    await confirm(chain, options, context);
    const progress = createProgressReport({
      ...{ work: 'remove', chain: chain.name, unit: 'pages', counts: 'rows' },
      ...{ output: context.stderr, clock: context.clock },
    });
    const removal = {
      ...{ database, chain },
      removeContracts: async () => {
        if (chain.key.column === 'chain_id')
          await removeContractsOfChain(database, parseChainId(Number(chain.key.value)), commandActor());
      },
      onProgress: ({ rows, ...pages }: { done: number; total: number; rows: number }) =>
        progress.update({ ...pages, logs: rows }),
    };
    try {
      const rows = await removeChain(removal, context.stopSignal);
      await database.transaction((transaction) =>
        recordAudit(transaction, commandActor(), {
          action: 'chain.remove',
          target: chain.name,
          details: { rows },
        }),
      );
      progress.finish();
      writeOutcome(context, `Removed ${chain.name}: ${rowsText(rows)} rows.`, {
        ...{ work: 'remove', chain: chain.name, dry_run: false, rows, finished: true },
      });
    } finally {
      progress.finish();
    }
  });
}

async function findChain(database: Database, configuration: Configuration, given: string): Promise<StoredChain> {
  const records = (await readRecords(database)).map((one) => ({ ...one, ...named(one, configuration) }));
  const wanted = given.toLowerCase();
  const found = records.find(({ name, label }) => name === wanted || label === wanted);
  if (found === undefined)
    throw new UsageError(
      `There are no rows of a chain ${given}`,
      records.length === 0
        ? 'The database has no chain: check DATABASE_URL and DATA_DIR'
        : `Use a stored chain: ${records.map(({ name }) => name).join(', ')}`,
    );
  return found.network === undefined
    ? storedEvmChain(found.id, found.name)
    : {
        ...{ name: found.name, label: found.label, key: { column: 'network', value: found.network } as const },
        lease: `ingest:aptos:${chainIdOf(found.network)}`,
      };
}

async function requireRemovable(
  database: Database,
  configuration: Configuration,
  chain: StoredChain,
): Promise<void> {
  if (configuredLabels(configuration).has(chain.label))
    throw new ChainsteadError({
      code: 'CHAIN_CONFIGURED',
      message: `${chain.name} is in the configuration, so Chainstead would index it again`,
      facts: { chain: chain.name },
      remedy: `Remove ${chain.name} from CHAINS on every machine (for Aptos, its node URL), restart Chainstead, then run the command again`,
      retryable: false,
    });
  await requireNotIndexed(database, chain);
}

async function confirm(
  { name }: StoredChain,
  { yes }: RemoveChainOptions,
  context: CommandContext,
): Promise<void> {
  if (yes === true) return;
  if (context.ask === undefined)
    throw new UsageError('The removal needs a confirmation', 'Run it in a terminal, or add --yes');
  const answer = await context.ask(`Type ${name} to delete these rows: `);
  if (answer?.trim() !== name)
    throw new UsageError('Nothing was deleted: the name was not typed', `Run the command again and type ${name}`);
}

interface NamedRecord extends ChainRecord {
  readonly network?: AptosStatus['network'];
}

async function readRecords(database: Database): Promise<readonly NamedRecord[]> {
  const [evm, aptos, reported] = await Promise.all([
    listEvmChains(database),
    readAptosStatuses(database, []),
    readReportedChains(database),
  ]);
  return [
    ...evm,
    ...aptos.map(({ network, chain, coverage, updatedAt }) => ({
      ...{ network, name: chain, label: chain, id: chainIdOf(network), indexedAt: updatedAt },
      blocks:
        coverage.length === 0
          ? null
          : {
              from: Math.min(...coverage.map(({ range }) => range.from)),
              to: Math.max(...coverage.map(({ range }) => range.to)),
            },
      isIndexed: reported.has(chain),
    })),
  ];
}

function named({ id, name, network }: NamedRecord, { chainRegistry }: Configuration): { readonly name: string } {
  return { name: network === undefined ? (chainRegistry.find(id)?.key ?? name) : name };
}

function configuredLabels({ chains, aptos }: Configuration): ReadonlySet<string> {
  const networks = aptos.networks.map(({ network }) => chainKeyOf(network));
  return new Set([...chains.map(({ chain }) => String(chain.id)), ...networks]);
}

type Listed = NamedRecord & { readonly configured: boolean };

function recordJson({
  name,
  id,
  blocks,
  isIndexed,
  configured,
  indexedAt,
}: Listed): Readonly<Record<string, unknown>> {
  return {
    ...{ chain: name, chain_id: id, configured, indexed: isIndexed },
    from_block: blocks?.from ?? null,
    to_block: blocks?.to ?? null,
    indexed_at: indexedAt?.toISOString() ?? null,
  };
}

function totalOf(tables: readonly MeasuredTable[]): { readonly rows: number; readonly bytes: number } {
  const sumOf = (part: 'rows' | 'bytes') => tables.reduce((sum, table) => sum + table[part], 0);
  return { rows: sumOf('rows'), bytes: sumOf('bytes') };
}

function rowsText(rows: number): string {
  return rows.toLocaleString('en-US');
}

const TABLES_SHOWN = 20;

function renderSize({ name }: StoredChain, tables: readonly MeasuredTable[]): string {
  const { rows, bytes } = totalOf(tables);
  const about = tables.every(({ isExact }) => isExact) ? '' : 'about ';
  const listed = tables
    .slice(0, TABLES_SHOWN)
    .map((one) => [one.table, `${one.isExact ? '' : 'about '}${rowsText(one.rows)}`, sizeText(one.bytes)]);
  const more = tables.length - listed.length;
  return [
    renderTable(['table', 'rows', 'size'], listed),
    more > 0 ? `and ${more} smaller tables\n` : '',
    `All rows of ${name} will be deleted: ${about}${rowsText(rows)} rows, ${sizeText(bytes)} with indexes.\n`,
    'Its contracts are removed too. Imported lists, reviews, streams and the usage of API keys stay.\n',
  ].join('');
}
