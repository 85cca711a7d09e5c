import type { Chain } from '@chainstead/chains';
import type { Database } from '@chainstead/db';
import { exportTable, findExportTable } from '@chainstead/lake';
import type { Configuration } from '../configuration/index.ts';
import { UsageError } from '../errors/usage-error.ts';
import { writeOutcome } from '../ranges/range-command.ts';
import { readIndexedDatasets, withStoredChains } from '../session/chain-session.ts';
import type { CommandContext, Invocation } from '../session/command-context.ts';
import { readChain } from '../session/option-values.ts';
import { withFoundDatabase } from '../session/with-database.ts';
import { createProgressReport } from '../text/progress.ts';

interface ExportParquetOptions {
  readonly table: string;
  readonly chain: string;
  readonly from: string;
  readonly to?: string;
  readonly out: string;
  readonly follow?: boolean;
  readonly blocksPerFile: string;
}

const BLOCKS_PER_FILE_MAX = 100_000;

export async function exportParquet(invocation: Invocation<ExportParquetOptions>): Promise<void> {
  const { options, context } = invocation;
  const wanted = readOptions(options);
  await withFoundDatabase(invocation, 'export', async ({ database }, configuration) => {
    const chain = await findChain(database, configuration, options.chain, context);
    const table = findExportTable(await readIndexedDatasets(database, configuration), options.table);
    const { stdout: output, clock, stopSignal } = context;
    const report = createProgressReport({
      ...{ work: 'export', chain: chain.key, unit: 'blocks', counts: 'rows', output, clock },
    });
    const result = await exportTable(
      {
        ...{ database, clock, chain, table, ...wanted },
        onProgress: (progress) => report.update(progress),
        onRewrite: ({ from, to }, reason) =>
          context.stderr.write(`Rewrote blocks ${from}-${to} of ${table.name}: ${reason}\n`),
      },
      stopSignal,
    ).finally(() => report.finish());
    const { folder, blocks, rows, written, rewritten, to, isFinished } = result;
    const extent =
      to === null ? `${blocks} blocks, and not block ${wanted.from}` : `all blocks from ${wanted.from} to ${to}`;
    const stopped = isFinished ? '' : 'Stopped before the end. ';
    writeOutcome(context, `${stopped}Wrote ${rows} rows to ${written} files. ${folder} has ${extent}.`, {
      ...{ work: 'export', kind: 'parquet', chain: chain.key, table: table.name, folder },
      ...{ blocks, to, rows, files: written, rewritten, finished: isFinished },
    });
  });
}

async function findChain(
  database: Pick<Database, 'query'>,
  configuration: Configuration,
  given: string,
  { stderr }: Pick<CommandContext, 'stderr'>,
): Promise<Chain> {
  const chain = readChain(await withStoredChains(database, configuration), given);
  if (configuration.chainRegistry.find(chain.id) === null)
    stderr.write(
      `${chain.key} (${chain.id}) is not configured here. Blocks count as final ${chain.reorgDepthMax} blocks below the newest one.\n`,
    );
  return chain;
}

function readOptions({ from, to, out, follow, blocksPerFile }: ExportParquetOptions) {
  const range = { from: readNumber('--from', from, 0), to: to === undefined ? null : readNumber('--to', to, 0) };
  if (range.to !== null && range.to < range.from)
    throw new UsageError(`The last block ${range.to} is below the first ${range.from}`, 'Swap the two');
  const perFile = readNumber('--blocks-per-file', blocksPerFile, 1);
  if (perFile > BLOCKS_PER_FILE_MAX)
    throw new UsageError(`--blocks-per-file ${perFile} is too large`, `Use at most ${BLOCKS_PER_FILE_MAX}`);
  return { ...range, out, follow: follow === true, blocksPerFile: perFile };
}

function readNumber(option: string, text: string, min: number): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min) return value;
  throw new UsageError(`${option} ${text} is not a valid number`, `Use a whole number from ${min}`);
}
