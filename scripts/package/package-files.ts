import { cp, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { listFiles, REPOSITORY_ROOT } from '../check/source-files.ts';

/** A file of the checkout, and where it lies in the package. */
export interface PackagedFile {
  readonly from: string;
  readonly to: string;
}

/** What lies in the package where it lies in the checkout. Snapshots of the schema are for writing migrations. */
const COPIED = [
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'SECURITY.md',
  '.env.example',
  'docs/*.md',
  'docs/grafana/**',
  'docs/prometheus/**',
  'docs/images/**',
  'migrations/*.sql',
];
const PROGRAMS = 'apps/chainstead/bin';
/** Other files that a workspace's code may read: style sheets, pictures, contracts. */
const IS_ASSET =
  /^(?:packages\/[^/]+\/[^/]+|apps\/chainstead\/contracts)\/(?!package\.json$)(?!.*\/testing\/).*(?<!\.ts|\.md|\.artifact\.json)$/;

/**
 * Everything but bundled code. Each file of a bundled workspace that is neither TypeScript nor text about it is copied to its place,
 * since code finds it by that.
 * @param modules what is bundled, from the repository root
 */
export function packagedFiles(modules: readonly string[]): PackagedFile[] {
  const workspaces = new Set(modules.map(workspaceOf));
  const assets = listFiles('packages', 'apps/chainstead/contracts').filter(
    (path) => IS_ASSET.test(path) && workspaces.has(workspaceOf(path)),
  );
  return [
    ...[...listFiles(...COPIED), ...assets].map((path) => ({ from: path, to: path })),
    ...listFiles(PROGRAMS).map((path) => ({ from: path, to: path.replace(PROGRAMS, 'bin') })),
  ];
}

/** Puts them into a folder. */
export async function copyFiles(files: readonly PackagedFile[], folder: string): Promise<void> {
  for (const { from, to } of files) {
    await mkdir(dirname(join(folder, to)), { recursive: true });
    await cp(join(REPOSITORY_ROOT, from), join(folder, to));
  }
}

/** `packages/doors/db` of `packages/doors/db/src/migrations/migrate.ts`. */
export function workspaceOf(path: string): string {
  return path
    .split('/')
    .slice(0, path.startsWith('packages/') ? 3 : 2)
    .join('/');
}
