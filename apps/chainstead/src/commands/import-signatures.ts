import { createReadStream } from 'node:fs';
import { errorText } from '@chainstead/core';
import { importSignatures, type SignaturePiece } from '@chainstead/transactions';
import { UsageError } from '../errors/usage-error.ts';
import { listFiles } from '../lists/list-files.ts';
import { isUrl, readFileOrUrl, UnreadablePlaceError } from '../lists/read-file-or-url.ts';
import { writeOutcome } from '../ranges/range-command.ts';
import type { Invocation } from '../session/command-context.ts';
import { withStorage } from '../session/command-session.ts';
import { readDatabaseConfiguration } from '../session/read-configuration.ts';
import { createProgressReport, type ProgressReport } from '../text/progress.ts';
import type { ImportOptions } from './import-options.ts';

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
