import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { DemoError } from '../demo-error.ts';

/** In the published package. In a checkout, npm installs the tools as dependencies. */
const PUBLISHED_LIST = fileURLToPath(new URL('../../../../../demo-tools/', import.meta.url));
const LIST_FILES = ['package.json', 'npm-shrinkwrap.json'] as const;
const OUTPUT_MAX = 16 * 1024 * 1024;

export function requireDemoTool(): NodeJS.Require {
  return createRequire(
    existsSync(PUBLISHED_LIST) ? join(cacheFolder(PUBLISHED_LIST), 'package.json') : import.meta.url,
  );
}

export interface DemoToolsOptions {
  report(line: string): void;
  readonly list?: string;
  readonly environment?: NodeJS.ProcessEnv;
}

/** Not in a checkout, or if the folder exists. @throws DemoError if npm is missing or fails */
export async function installDemoTools(options: DemoToolsOptions): Promise<void> {
  const { report, list = PUBLISHED_LIST, environment = process.env } = options;
  if (!existsSync(list)) return;
  const folder = cacheFolder(list, environment);
  if (existsSync(folder)) return;
  report(`Downloading the demo's tools (anvil, solc, Seaport) to ${folder} …`);
  await mkdir(dirname(folder), { recursive: true });
  const unfinished = await mkdtemp(`${folder}.`);
  try {
    for (const file of LIST_FILES) await copyFile(join(list, file), join(unfinished, file));
    await runNpm(unfinished, environment);
    await rename(unfinished, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

function cacheFolder(list: string, { XDG_CACHE_HOME = '' } = process.env): string {
  const digest = createHash('sha256')
    .update(readFileSync(join(list, 'npm-shrinkwrap.json')))
    .digest('hex');
  const caches = isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : join(homedir(), '.cache');
  return join(caches, 'chainstead', `demo-tools-${digest.slice(0, 16)}`);
}

/** No install scripts. `npm ci` would refuse the list, which lacks anvil for other platforms. */
async function runNpm(folder: string, environment: NodeJS.ProcessEnv): Promise<void> {
  try {
    await promisify(execFile)('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], {
      cwd: folder,
      env: environment,
      maxBuffer: OUTPUT_MAX,
    });
  } catch (error) {
    const output = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
    const [, reason = String(error)] =
      /^npm error (?!code|errno|syscall|A complete log)(\S.*)$/m.exec(output) ?? [];
    throw new DemoError(
      `Could not download the demo's tools (anvil, solc, Seaport): ${reason}`,
      { folder },
      'Check that npm is installed and reaches its registry (npm ping), then run the command again',
    );
  }
}
