import { type BlockRange, ChainsteadError, defineError, errorText } from '@chainstead/core';

export class UnknownExportTableError extends defineError(
  'EXPORT_TABLE_UNKNOWN',
  (table: string, known: readonly string[]) => ({
    message: `There is no table ${table} to export`,
    facts: { table },
    remedy: `Use one of ${known.join(', ')}`,
  }),
) {}

export class ExportNotFinalError extends defineError(
  'EXPORT_NOT_FINAL',
  (chain: string, to: number, final: number | null) => ({
    message:
      final === null
        ? `${chain} has no indexed blocks yet`
        : `Block ${to} of ${chain} is not final here. The newest final block is ${final}`,
    facts: { chain, to, final },
    remedy:
      final === null ? 'Run "chainstead start" first' : `Use --to ${final}, or --follow to wait for later blocks`,
    retryable: true,
  }),
) {}

export class ExportCoverageMissingError extends defineError(
  'EXPORT_COVERAGE_MISSING',
  (chain: string, dataset: string, gaps: readonly BlockRange[]) => {
    const shown = gaps.slice(0, 5).map(({ from, to }) => `${from}-${to}`);
    const more = gaps.length > shown.length ? ` and ${gaps.length - shown.length} more ranges` : '';
    const [first] = gaps;
    return {
      message: `${dataset} of ${chain} lacks blocks ${shown.join(', ')}${more}`,
      facts: { chain, dataset, gaps },
      remedy: `Run "chainstead backfill --chain ${chain} --from ${first?.from ?? 0} --to ${first?.to ?? 0}", change the range, or use --follow to wait`,
      retryable: true,
    };
  },
) {}

/** The folder holds another export, or a manifest of another program. */
export class ExportManifestError extends defineError(
  'EXPORT_MANIFEST_MISMATCH',
  (path: string, reason: string) => ({
    message: `${path} ${reason}`,
    facts: { path },
    remedy: 'Use another folder for --out',
  }),
) {}

export class ExportRunningError extends defineError('EXPORT_RUNNING', (folder: string) => ({
  message: `Another process exports to ${folder}`,
  facts: { folder },
  remedy: 'Wait for the other process, or stop it',
  retryable: true,
})) {}

/** A folder of the export is a link or a file. Its target may belong to others. */
export class ExportLinkError extends defineError('EXPORT_FOLDER_IS_LINK', (path: string) => ({
  message: `${path} is not a folder. Links below the folder given as --out are not followed`,
  facts: { path },
  remedy: 'Remove it, or use another folder for --out',
})) {}

const REMEDIES: Readonly<Record<string, string>> = {
  ENOSPC: 'Free disk space, then run the same command again: it continues',
  EDQUOT: 'Raise the disk quota, then run the same command again: it continues',
  EACCES: 'Use a folder for --out that this user may write',
  EPERM: 'Use a folder for --out that this user may write',
  ELOOP: 'It is a link, which is not followed. Remove it',
  EROFS: 'Use a folder for --out on a writable file system',
};

export class ExportFolderError extends defineError('EXPORT_FOLDER_FAILED', (path: string, cause: unknown) => ({
  message: `Can't write ${path}: ${errorText(cause)}`,
  facts: { path },
  remedy: REMEDIES[errorCode(cause)] ?? 'Check the folder given as --out',
  retryable: true,
  cause,
})) {}

export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

export async function onFiles<T>(path: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ChainsteadError || errorCode(error) === '') throw error;
    throw new ExportFolderError(path, error);
  }
}
