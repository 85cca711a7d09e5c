import { importCoins } from '@chainstead/aptos';
import { importList, type ListKind } from '@chainstead/datasets';
import type { Command } from 'commander';
import type { CommandContext } from '../command-context.ts';
import { withStorage } from '../command-session.ts';
import { writeOutcome } from '../range-command.ts';
import { readDatabaseConfiguration } from '../read-configuration.ts';
import { readFileOrUrl } from '../read-file-or-url.ts';
import { readLines } from '../read-lines.ts';
import { UsageError } from '../usage-error.ts';
import { runImportAbis } from './import-abis.ts';
import type { ImportOptions } from './import-options.ts';
import { runImportSignatures } from './import-signatures.ts';

/** Not a list but rows of the chain itself, as `export` writes them. */
const APTOS_COINS = 'aptos-coins';
/** What calls and events are decoded by. */
type AbiKind = 'signatures' | 'abi';
/** Labels and scam entries of this chain id hold on every chain. */
const EVERY_CHAIN = 0;

/** What can be imported. */
export type ImportKind = ListKind | AbiKind | typeof APTOS_COINS;

/** Imports a list, ABIs, or coins of Aptos. */
export async function runImport(
  { kind, place }: { readonly kind: ImportKind; readonly place: string },
  options: ImportOptions,
  command: Command,
  context: CommandContext,
): Promise<void> {
  if (kind === APTOS_COINS && (options.chain ?? options.source) !== undefined)
    throw new UsageError('The file of aptos-coins names its network itself', 'Leave --chain and --source out');
  if (kind === APTOS_COINS) return importAptosCoins(place, options, command, context);
  if (options.trustCoverage === true) throw new UsageError('--trust-coverage is for aptos-coins only', 'Leave it out');
  if (kind === 'abi') return runImportAbis(place, options, command, context);
  const wrong = (['address', 'from'] as const).find((name) => options[name] !== undefined);
  if (wrong !== undefined) throw new UsageError(`--${wrong} is for abi only`, 'Leave it out');
  if (kind === 'signatures') return runImportSignatures(place, options, command, context);
  const configuration = readDatabaseConfiguration(command, context);
  const chains = configuration.chainRegistry;
  const chainId = options.chain === undefined ? undefined : readChainId(options.chain, (name) => chains.find(name)?.id);
  const source = options.source ?? place;
  return withStorage({ configuration, context, name: 'import' }, async ({ database }) => {
    const content = await readFileOrUrl(place, context.stopSignal);
    const report = await importList({
      database,
      chains,
      kind,
      source,
      content,
      ...(chainId === undefined ? {} : { chainId }),
    });
    for (const { reason, count } of report.skipped) context.stderr.write(`left out ${count}: ${reason}\n`);
    writeOutcome(context, `Imported ${report.rows} entries (${report.format}) from ${source}.`, {
      work: 'import',
      kind,
      source,
      ...report,
      finished: true,
    });
  });
}

async function importAptosCoins(
  place: string,
  { trustCoverage = false }: ImportOptions,
  command: Command,
  context: CommandContext,
): Promise<void> {
  const configuration = readDatabaseConfiguration(command, context);
  await withStorage({ configuration, context, name: 'import' }, async ({ database }) => {
    const report = await importCoins({ database, lines: readLines(place), trustCoverage });
    const ranges = report.claimed.map(({ from, to }) => `${from}-${to}`);
    const claim = ranges.length === 0 ? 'no versions' : `versions ${ranges.join(', ')}`;
    const said = report.trusted ? 'which counts as covered now' : 'which does not count as covered (--trust-coverage)';
    writeOutcome(
      context,
      `Imported ${report.coins} coins of ${report.network}, ${report.added} of them new. The file claims ${claim}, ${said}.`,
      { work: 'import', kind: APTOS_COINS, source: place, ...report, finished: true },
    );
  });
}

function readChainId(name: string, find: (name: string) => number | undefined): number {
  if (name === 'all') return EVERY_CHAIN;
  const id = find(name);
  if (id === undefined) throw new UsageError(`--chain ${name} is not a known chain`, 'Give its name, its id, or "all"');
  return id;
}
