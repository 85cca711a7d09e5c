import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The checkout. */
export const REPOSITORY_ROOT = fileURLToPath(new URL('../../', import.meta.url));

export interface SourceFile {
  /** From the repository root, with `/`. */
  readonly path: string;
  readonly text: string;
}

/** Every TypeScript file that git knows or would add, in the order of their paths. */
export function readSourceFiles(): SourceFile[] {
  return listFiles('*.ts').map((path) => ({ path, text: readFileSync(join(REPOSITORY_ROOT, path), 'utf8') }));
}

/** Paths of the files in the checkout that match a git pathspec, ignored ones left out. */
export function listFiles(...patterns: readonly string[]): string[] {
  const output = execFileSync(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard', ...patterns],
    {
      cwd: REPOSITORY_ROOT,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    },
  );
  // A file that was deleted but not yet committed is still in the index.
  return output
    .split('\0')
    .filter((path) => path !== '' && existsSync(join(REPOSITORY_ROOT, path)))
    .toSorted();
}
