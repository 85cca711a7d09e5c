import { readFile } from 'node:fs/promises';
import { errorText } from '@chainstead/core';
import { type GivenAbi, importAbis } from '@chainstead/transactions';
import { UsageError } from '../errors/usage-error.ts';
import { type ContractNaming, contractsOf } from '../lists/abi-contracts.ts';
import { type ListedFile, listFiles } from '../lists/list-files.ts';
import { isUrl, readFileOrUrl, UnreadablePlaceError } from '../lists/read-file-or-url.ts';
import { writeOutcome } from '../ranges/range-command.ts';
import type { CommandContext, Invocation } from '../session/command-context.ts';
import { withStorage } from '../session/command-session.ts';
import { readAddress, readChain } from '../session/option-values.ts';
import { readDatabaseConfiguration } from '../session/read-configuration.ts';
import { createProgressReport, type ProgressReport } from '../text/progress.ts';
import type { ImportOptions } from './import-options.ts';

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
