/** A separate checkout for mutants, next to this one, and the runs of its tests. */
import { spawn, spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { startScratchServer } from '../../tests/testkit/src/postgres/scratch-database.ts';
import { REPOSITORY_ROOT } from '../check/source-files.ts';

/**
 * How far is searched for a check or a test that fails: the file's own tests, those of its folder, the types, those of its package in both tiers,
 * tests of its importers, and all.
 */
export const CIRCLES = [
  'file',
  'folder',
  'static',
  'package',
  'package-system',
  'related',
  'fast',
  'system',
] as const;
export type Circle = (typeof CIRCLES)[number];

/** A circle takes so long at most; a mutant that hangs is killed by that. Minutes. */
const MINUTES_MAX: Readonly<Record<Circle, number>> = {
  file: 4,
  folder: 4,
  static: 4,
  package: 10,
  'package-system': 20,
  related: 10,
  fast: 15,
  system: 40,
};
const GRACE_MS = 10_000;
/** The scope of the workspaces' packages. */
const WORKSPACE_SCOPE = '@chainstead';

export interface MutatedCheckout extends AsyncDisposable {
  /** Writes a file's text, and returns how to restore it. */
  replace(path: string, text: string): Promise<() => Promise<void>>;
  /** Returns the first check or test of the circle that failed, or null if all passed. @param path the mutated file */
  firstFailure(circle: Circle, path: string): Promise<Failure | null>;
  /** Repeats the check or the test file that failed. */
  repeat(failure: Failure): Promise<Failure | null>;
}

/** What failed. */
export interface Failure {
  readonly name: string;
  readonly circle: Circle;
  /** Arguments of vitest that run it. Null for a static check. */
  readonly args: readonly string[] | null;
}

/**
 * Checks out the last commit and starts one Postgres server for all runs. Disposing of it removes both.
 *
 * @param signal ends a run of tests, which rejects then
 */
export async function openMutatedCheckout(signal: AbortSignal): Promise<MutatedCheckout> {
  await using parts = new AsyncDisposableStack();
  const folder = parts.adopt(await mkdtemp(join(tmpdir(), 'chainstead-mutants-')), (one) =>
    rm(one, { recursive: true, force: true }),
  );
  const root = join(folder, 'checkout');
  git('worktree', 'add', '--detach', root, 'HEAD');
  parts.defer(() => git('worktree', 'remove', '--force', root));
  await symlink(join(REPOSITORY_ROOT, '../shared'), join(folder, 'shared'));
  await linkModules(join(root, 'node_modules'));
  const server = parts.adopt(await startScratchServer({ isInMemory: true }), (one) => one.stop());
  const later = parts.move();
  const report = join(folder, 'report.json');

  async function failedTest(circle: Circle, args: readonly string[]): Promise<Failure | null> {
    await rm(report, { force: true });
    const reporting = ['--bail=1', '--passWithNoTests', '--reporter=json', `--outputFile=${report}`];
    const end = await runToEnd(join(root, 'node_modules/.bin/vitest'), [...args, ...reporting], {
      cwd: root,
      env: { ...process.env, TEST_DATABASE_URL: server.adminUrl },
      milliseconds: MINUTES_MAX[circle] * 60_000,
      signal,
    });
    if (end === 0) return null;
    if (end === 'timeout') return { name: `the limit of ${MINUTES_MAX[circle]} minutes`, circle, args };
    const text = await readFile(report, 'utf8').catch(() => '{}');
    const failed = failedIn(JSON.parse(text), root);
    if (failed === null) return { name: 'an error outside of tests', circle, args };
    return { name: failed.name, circle, args: ['run', `--project=${projectOf(circle)}`, failed.file] };
  }

  return {
    async replace(path, text) {
      const before = await readFile(join(root, path), 'utf8');
      await writeFile(join(root, path), text);
      return () => writeFile(join(root, path), before);
    },
    firstFailure: (circle, path) =>
      circle === 'static' ? failedCheck(root, path, signal) : failedTest(circle, argumentsOf(circle, path)),
    repeat: ({ circle, args }) => (args === null ? failedCheck(root, '.', signal) : failedTest(circle, args)),
    [Symbol.asyncDispose]: () => later.disposeAsync(),
  };
}

/** The types, and that promises are awaited. The other rules of the lint would refuse each removed condition as a constant one. */
async function failedCheck(root: string, path: string, signal: AbortSignal): Promise<Failure | null> {
  const checks = [
    ['tsc', '--incremental', '--tsBuildInfoFile', 'node_modules/.cache/check.tsbuildinfo'],
    ['biome', 'lint', '--only=nursery/noFloatingPromises', '--error-on-warnings', path],
  ] as const;
  for (const [name, ...args] of checks) {
    const options = { cwd: root, env: process.env, milliseconds: MINUTES_MAX.static * 60_000, signal };
    if ((await runToEnd(join(root, 'node_modules/.bin', name), args, options)) !== 0)
      return { name, circle: 'static', args: null };
  }
  return null;
}

function argumentsOf(circle: Circle, path: string): string[] {
  const project = `--project=${projectOf(circle)}`;
  if (circle === 'related') return ['related', path, '--run', project];
  if (circle === 'file') return ['run', project, path.replace(/ts$/, '')];
  if (circle === 'folder') return ['run', project, `${dirname(path)}/`];
  if (circle === 'package' || circle === 'package-system') return ['run', project, `${path.split('/src/')[0]}/`];
  return ['run', project];
}

function projectOf(circle: Circle): 'fast' | 'system' {
  return circle.endsWith('system') ? 'system' : 'fast';
}

interface Report {
  readonly testResults?: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

function failedIn(
  { testResults = [] }: Report,
  root: string,
): { readonly file: string; readonly name: string } | null {
  for (const { name, status, assertionResults } of testResults) {
    const file = name.replace(`${root}/`, '');
    const failed = assertionResults.find((one) => one.status === 'failed');
    if (failed !== undefined) return { file, name: `${file} > ${failed.fullName}` };
    if (status === 'failed') return { file, name: `${file}, which can't be loaded or set up` };
  }
  return null;
}

interface RunOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly milliseconds: number;
  readonly signal: AbortSignal;
}

/** Returns the exit code. A run that takes too long is ended with all of its processes. @throws the signal's reason after it aborted */
async function runToEnd(
  command: string,
  args: readonly string[],
  options: RunOptions,
): Promise<number | 'timeout'> {
  const { cwd, env, milliseconds, signal } = options;
  signal.throwIfAborted();
  // A separate group: one signal reaches the workers too.
  const child = spawn(command, args, { cwd, env, stdio: 'ignore', detached: true });
  const ended = new Promise<number>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? 1));
  });
  const first = await withinTime(ended, AbortSignal.any([signal, AbortSignal.timeout(milliseconds)]));
  if (first !== 'timeout') return first;
  if (child.pid === undefined) throw new Error(`${command} didn't start`);
  signalGroup(child.pid, 'SIGTERM');
  await withinTime(ended, AbortSignal.timeout(GRACE_MS));
  // A worker in an endless loop outlives its parent.
  signalGroup(child.pid, 'SIGKILL');
  await ended;
  signal.throwIfAborted();
  return 'timeout';
}

function signalGroup(leader: number, name: NodeJS.Signals): void {
  try {
    process.kill(-leader, name);
  } catch (error) {
    // Every process of the group has ended.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/** Returns how the promise ended, or `timeout` as soon as the signal aborts. */
async function withinTime(ended: Promise<number>, signal: AbortSignal): Promise<number | 'timeout'> {
  const late = Promise.withResolvers<'timeout'>();
  const stop = (): void => late.resolve('timeout');
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([ended, late.promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Links each package of this checkout; the workspaces' links are copied, so that they lead to the mutated ones. */
async function linkModules(target: string): Promise<void> {
  const source = join(REPOSITORY_ROOT, 'node_modules');
  await mkdir(target);
  for (const entry of await readdir(source, { withFileTypes: true })) {
    const { name } = entry;
    if (name === '.cache') continue;
    if (name === WORKSPACE_SCOPE || entry.isSymbolicLink())
      await cp(join(source, name), join(target, name), { recursive: true, verbatimSymlinks: true });
    else await symlink(join(source, name), join(target, name));
  }
}

function git(...args: readonly string[]): void {
  const { status, stderr } = spawnSync('git', args, { cwd: REPOSITORY_ROOT, encoding: 'utf8' });
  if (status !== 0) throw new Error(`git ${args.join(' ')} failed: ${stderr}`);
}
