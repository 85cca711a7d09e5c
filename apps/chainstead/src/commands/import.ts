import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { importCoins } from '@chainstead/aptos';
import { errorText } from '@chainstead/core';
import { UsageError } from '../errors/usage-error.ts';
import { importList, type ListKind } from '../lists/import-list.ts';
import { readFileOrUrl, UnreadablePlaceError } from '../lists/read-file-or-url.ts';
import { writeOutcome } from '../ranges/range-command.ts';
import type { Invocation } from '../session/command-context.ts';
import { withStorage } from '../session/command-session.ts';
import { readDatabaseConfiguration } from '../session/read-configuration.ts';
import { withDatabase } from '../session/with-database.ts';
import { runImportAbis } from './import-abis.ts';
import type { ImportOptions } from './import-options.ts';
import { runImportSignatures } from './import-signatures.ts';

/** No list, but rows as `export` writes them. */
const APTOS_COINS = 'aptos-coins';
type AbiKind = 'signatures' | 'abi';
/** Labels and scam entries of this id hold on every chain. */
const EVERY_CHAIN = 0;

export type ImportKind = ListKind | AbiKind | typeof APTOS_COINS;

export async function runImport(
  invocation: Invocation<ImportOptions>,
  kind: ImportKind,
  place: string,
): Promise<void> {
  const { options, command, context } = invocation;
  if (kind === APTOS_COINS && (options.chain ?? options.source) !== undefined)
    throw new UsageError('An aptos-coins file contains its network', 'Remove --chain and --source');
  if (kind === APTOS_COINS) return importAptosCoins(invocation, place);
  if (options.trustCoverage === true)
    throw new UsageError('--trust-coverage is for aptos-coins only', 'Remove --trust-coverage');
  if (kind === 'abi') return runImportAbis(invocation, place);
  const wrong = (['address', 'from'] as const).find((name) => options[name] !== undefined);
  if (wrong !== undefined) throw new UsageError(`--${wrong} is for abi only`, `Remove --${wrong}`);
  if (kind === 'signatures') return runImportSignatures(invocation, place);
  const configuration = readDatabaseConfiguration(command, context);
  const chains = configuration.chainRegistry;
  const chainId =
    options.chain === undefined ? undefined : readChainId(options.chain, (name) => chains.find(name)?.id);
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
    for (const { reason, count } of report.skipped) context.stderr.write(`skipped ${count}: ${reason}\n`);
    writeOutcome(context, `Imported ${report.rows} entries (${report.format}) from ${source}.`, {
      work: 'import',
      kind,
      source,
      ...report,
      finished: true,
    });
  });
}

async function importAptosCoins(invocation: Invocation<ImportOptions>, place: string): Promise<void> {
  const { trustCoverage = false } = invocation.options;
  await withDatabase(invocation, 'import', async ({ database }) => {
    const report = await importCoins({ database, lines: readLines(place), trustCoverage });
    const ranges = report.claimed.map(({ from, to }) => `${from}-${to}`);
    const claim = ranges.length === 0 ? 'no versions' : `versions ${ranges.join(', ')}`;
    const said = report.trusted
      ? 'which now count as indexed'
      : 'which do not count as indexed (see --trust-coverage)';
    writeOutcome(
      invocation.context,
      `Imported ${report.coins} coins of ${report.network}, ${report.added} of them new. The file lists ${claim}, ${said}.`,
      { work: 'import', kind: APTOS_COINS, source: place, ...report, finished: true },
    );
  });
}

function readChainId(name: string, find: (name: string) => number | undefined): number {
  if (name === 'all') return EVERY_CHAIN;
  const id = find(name);
  if (id === undefined)
    throw new UsageError(`--chain ${name} is not a known chain`, 'Use a chain name, an ID or "all"');
  return id;
}

/** Without line ends. @throws UnreadablePlaceError */
async function* readLines(path: string): AsyncGenerator<string> {
  try {
    yield* createInterface({ input: createReadStream(path, 'utf8'), crlfDelay: Number.POSITIVE_INFINITY });
  } catch (error) {
    throw new UnreadablePlaceError(path, errorText(error), error);
  }
}
