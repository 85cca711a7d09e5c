import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { ObservedRows } from '../../packages/doors/db/src/testing/observed-rows.ts';
import { REPOSITORY_ROOT } from '../check/source-files.ts';

/** The observations of a tier, which stay until its next run. */
export function observedFolder(tier: string): string {
  return join(REPOSITORY_ROOT, 'node_modules/.cache/chainstead-observed-rows', tier);
}

/** All observations in the folder; none if it does not exist. */
export function readObserved(folder: string): ObservedRows[] {
  return filesIn(folder)
    .flatMap((path) => readFileSync(path, 'utf8').split('\n'))
    .filter((line) => line !== '')
    .map((line): ObservedRows => JSON.parse(line));
}

/** When the last observation in the folder was written, in milliseconds since 1970; 0 if there is none. */
export function writtenAt(folder: string): number {
  return Math.max(0, ...filesIn(folder).map((path) => statSync(path).mtimeMs));
}

function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => join(folder, name));
}
