import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { importCoins } from '@chainstead/aptos';
import { errorText } from '@chainstead/core';
import { type GivenAbi, importAbis, importSignatures, type SignaturePiece } from '@chainstead/transactions';
import { UsageError } from '../errors/usage-error.ts';
import {
  type ContractNaming,
  contractsOf,
  isUrl,
  type ListedFile,
  listFiles,
  readFileOrUrl,
  UnreadablePlaceError,
} from '../lists/abi-source.ts';
import { importList, type ListKind } from '../lists/import-list.ts';
import { writeOutcome } from '../ranges/range-command.ts';
import type { CommandContext, Invocation } from '../session/command-context.ts';
import { withStorage } from '../session/command-session.ts';
import { readAddress, readChain } from '../session/option-values.ts';
import { readDatabaseConfiguration } from '../session/read-configuration.ts';
import { withDatabase } from '../session/with-database.ts';
import { createProgressReport, type ProgressReport } from '../text/progress.ts';

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

const SOURCIFY_URL = 'https://sourcify.dev/server';
const FILE_BYTES_MAX = 32 * 1_024 * 1_024;

export async function runImportAbis(invocation: Invocation<ImportOptions>, place: string): Promise<void> {
  const { options, command, context } = invocation;
  if (options.source !== undefined)
    throw new UsageError('ABIs are stored by contract, not by source', 'Remove --source');
  const configuration = readDatabaseConfiguration(command, context);
  const chains = configuration.chainRegistry;
  const chain = options.chain === undefined ? undefined : readChain(configuration, options.chain);
  const address = options.address === undefined ? undefined : readAddress(options.address);
  const naming: ContractNaming = { chains, chainId: chain?.id, address };
  const { stdout: output, clock } = context;
  const work = { work: 'import', chain: chain?.key ?? 'abi', unit: 'bytes' } as const;
  const progress = createProgressReport({ ...work, counts: 'rows', output, clock });
  const skipped = new Map<string, number>();
  const report = await withStorage({ configuration, context, name: 'import' }, ({ database }) => {
    const abis =
      options.from !== undefined
        ? sourcifyAbi(place, options.from, naming, context)
        : isUrl(place)
          ? urlAbis(place, naming, skipped, context)
          : fileAbis(place, naming, skipped, progress);
    return importAbis({ database, place, abis, skipped });
  }).finally(() => progress.finish());
  for (const { reason, count } of report.skipped) context.stderr.write(`skipped ${count}: ${reason}\n`);
  const sentence = `Imported ${report.rows} functions and events of ${report.contracts} contracts from ${place}.`;
  writeOutcome(context, sentence, { work: 'import', kind: 'abi', place, ...report, finished: true });
}

async function* sourcifyAbi(
  place: string,
  from: string,
  { chainId, address: named }: ContractNaming,
  context: CommandContext,
): AsyncGenerator<GivenAbi> {
  const server = from.toLowerCase() === 'sourcify' ? SOURCIFY_URL : from;
  if (!isUrl(server)) throw new UsageError(`--from ${from} is not an ABI source`, 'Use "sourcify" or a URL');
  const address = readAddress(place);
  if (chainId === undefined || named !== undefined)
    throw new UsageError('--from needs one contract', 'Pass its address as place, and its chain with --chain');
  const url = `${server.replace(/\/$/, '')}/v2/contract/${chainId}/${address}?fields=abi`;
  yield { address, chainId, document: parseJson(await readFileOrUrl(url, context.stopSignal)) };
}

async function* urlAbis(
  url: string,
  naming: ContractNaming,
  skipped: Map<string, number>,
  context: CommandContext,
): AsyncGenerator<GivenAbi> {
  const document = parseJson(await readFileOrUrl(url, context.stopSignal));
  yield* named(new URL(url).pathname, document, naming, skipped);
}

/** @throws UnreadablePlaceError, UsageError if several files would be of one contract */
async function* fileAbis(
  place: string,
  naming: ContractNaming,
  skipped: Map<string, number>,
  progress: ProgressReport,
): AsyncGenerator<GivenAbi> {
  let [total, count] = [0, 0];
  for await (const { bytes } of listFiles(place)) {
    total += bytes;
    count += 1;
  }
  if (count > 1 && naming.address !== undefined)
    throw new UsageError(
      `${place} has ${count} files, but --address is one contract`,
      'Pass the file of that contract',
    );
  let [done, files] = [0, 0];
  for await (const file of listFiles(place)) {
    const refusal = count === 1 ? null : refusalOf(file);
    const document = refusal === null ? await readDocument(file.path) : undefined;
    if (document !== undefined) yield* named(file.path, document, naming, skipped);
    else skip(skipped, refusal ?? 'a file without valid JSON');
    done += file.bytes;
    files += 1;
    progress.update({ done, total, logs: files });
  }
}

function refusalOf({ path, bytes }: ListedFile): string | null {
  if (!/\.json$/i.test(path)) return 'a file without the extension .json';
  return bytes > FILE_BYTES_MAX ? 'a file of more than 32 MB' : null;
}

async function readDocument(path: string): Promise<unknown> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new UnreadablePlaceError(path, errorText(error), error);
  }
  return parseJson(text);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    return undefined;
  }
}

function* named(
  path: string,
  document: unknown,
  naming: ContractNaming,
  skipped: Map<string, number>,
): Generator<GivenAbi> {
  const contracts = contractsOf(path, document, naming);
  if (typeof contracts === 'string') skip(skipped, contracts);
  else for (const contract of contracts) yield { ...contract, document };
}

function skip(skipped: Map<string, number>, reason: string): void {
  skipped.set(reason, (skipped.get(reason) ?? 0) + 1);
}

export async function runImportSignatures(invocation: Invocation<ImportOptions>, place: string): Promise<void> {
  const { options, command, context } = invocation;
  const { source = place, chain } = options;
  if (chain !== undefined) throw new UsageError('Signatures belong to no chain', 'Remove --chain');
  const configuration = readDatabaseConfiguration(command, context);
  const { stdout: output, clock } = context;
  const work = { work: 'import', chain: 'signatures', unit: 'bytes', counts: 'rows' } as const;
  const progress = createProgressReport({ ...work, output, clock });
  const report = await withStorage({ configuration, context, name: 'import' }, ({ database }) => {
    const pieces = piecesOf(place, progress, context.stopSignal);
    return importSignatures({ database, source, pieces });
  }).finally(() => progress.finish());
  for (const { reason, count } of report.skipped) context.stderr.write(`skipped ${count}: ${reason}\n`);
  const facts = { work: 'import', kind: 'signatures', source, ...report, finished: true };
  writeOutcome(context, `Imported ${report.rows} signatures from ${source}.`, facts);
}

async function* piecesOf(
  place: string,
  progress: ProgressReport,
  signal: AbortSignal,
): AsyncGenerator<SignaturePiece> {
  if (isUrl(place)) return yield { text: await readFileOrUrl(place, signal), isLast: true };
  let total = 0;
  for await (const { bytes } of listFiles(place)) total += bytes;
  let [done, files] = [0, 0];
  for await (const { path, bytes } of listFiles(place)) {
    try {
      for await (const text of createReadStream(path, { encoding: 'utf8', signal }))
        yield { text, isLast: false };
    } catch (error) {
      throw new UnreadablePlaceError(path, errorText(error), error);
    }
    yield { text: '', isLast: true };
    done += bytes;
    files += 1;
    progress.update({ done, total, logs: files });
  }
}

export interface ImportOptions {
  readonly source?: string;
  readonly chain?: string;
  readonly address?: string;
  readonly from?: string;
  readonly trustCoverage?: boolean;
}
