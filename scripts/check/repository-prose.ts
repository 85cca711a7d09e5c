import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProse, type ProseFinding } from './prose.ts';
import { listFiles, REPOSITORY_ROOT, readSourceFiles } from './source-files.ts';
import { findSourceProse } from './source-prose.ts';

/** Texts that stay as they are. */
const EXCEPTIONS: readonly { readonly path: string; readonly found: string; readonly reason: string }[] = [
  {
    path: 'tests/testkit/src/json-rpc/log-limits.ts',
    found: 'sentence of 34 words',
    reason: 'the error message of a node provider, word for word',
  },
];

/** Files other than Markdown and TypeScript whose lines people read. */
const TEXT_FILES = [
  '*.yml',
  '*package.json',
  '.ci/run',
  '.env.example',
  'Dockerfile',
  'apps/*/bin/*.js',
  'docs/*.json',
  'packages/products/console/src/assets/files/*.css',
  'packages/products/console/src/assets/files/*.js',
];
const IS_TEST = /\.test\.ts$/;
/** A line of an alert or dashboard that holds PromQL. */
const IS_QUERY = /^\s*"?expr"?: /;
/** The check itself, which lists the phrases. */
const IS_CHECK = /^scripts\/check\/(?:\w+-)?prose\b/;

/**
 * Checks Markdown, other texts, and the literals and comments of all sources. Literals of tests are free.
 * @returns lines such as `docs/a.md:3: "tells": write report, return or show`
 */
export function findRepositoryProse(): string[] {
  return [
    ...listFiles('*.md').flatMap((path) => render(path, findProse(read(path)))),
    ...listFiles(...TEXT_FILES).flatMap((path) => render(path, read(path).split('\n').flatMap(findInLine))),
    ...readSourceFiles()
      .filter(({ path }) => !IS_CHECK.test(path))
      .flatMap((file) => {
        const { literals, comments } = findSourceProse(file);
        return render(file.path, IS_TEST.test(file.path) ? comments : [...literals, ...comments]);
      }),
  ];
}

function findInLine(text: string, index: number): ProseFinding[] {
  if (IS_QUERY.test(text)) return [];
  return findProse(text.trim()).map((finding) => ({ ...finding, line: index + 1 }));
}

function render(path: string, findings: readonly ProseFinding[]): string[] {
  return findings
    .filter(({ found }) => !EXCEPTIONS.some((exception) => exception.path === path && exception.found === found))
    .map(({ line, found, advice }) => `${path}:${line}: ${found}: write ${advice}`);
}

function read(path: string): string {
  return readFileSync(join(REPOSITORY_ROOT, path), 'utf8');
}
