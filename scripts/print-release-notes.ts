/** `node scripts/print-release-notes.ts v1.2.3`: writes the notes of that release, or says why there are none and ends with 1. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { REPOSITORY_ROOT } from './check/source-files.ts';
import { releaseNotes } from './release/release-notes.ts';

const read = (path: string): string => readFileSync(join(REPOSITORY_ROOT, path), 'utf8');
const { version } = JSON.parse(read('package.json')) as { readonly version: string };
try {
  process.stdout.write(releaseNotes(process.argv[2] ?? '', version, read('CHANGELOG.md')));
} catch (error) {
  if (!(error instanceof RangeError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
