/**
 * `npm run try-package`: makes the package as it is published and installs it in an empty folder of an empty machine with Node 22. Compares it with
 * the program of the checkout: the same version and help. Its demo runs, and it starts, responds and stops. Exit code 1 if something differs,
 * or if the installed package is larger than its limit.
 */
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { REPOSITORY_ROOT } from './check/source-files.ts';
import { createEmptyMachine, type EmptyMachine } from './package/empty-machine.ts';

const BIN = 'node_modules/.bin/chainstead';
const OUTPUT_MAX = 64 * 1024 * 1024;
/** Limit for the folder with everything that npm installs, without the tools of the demo. */
const INSTALLED_MB_MAX = 260;
const START_MS_MAX = 120_000;
/** Paths of a running program: from the bundle, from the API's own folder, and from a dependency. */
const REQUESTED = [
  '/health',
  '/ready',
  '/openapi.json',
  '/docs',
  '/docs/reference.css',
  '/api/v2.2/info/endpointWeights',
];

execFileSync(process.execPath, ['scripts/pack.ts'], { cwd: REPOSITORY_ROOT, stdio: 'inherit' });
const machine = await createEmptyMachine();
try {
  const tarball = findTarball();
  const startedAt = performance.now();
  await machine.run('npm', ['install', '--no-audit', '--no-fund', tarball]);
  const seconds = (performance.now() - startedAt) / 1_000;
  const installed = await machine.size();
  console.log(
    `the package has ${megabytes(statSync(tarball).size)}; installed with all that it needs ${installed} MB, in ${seconds.toFixed(0)} s with nothing in npm's cache`,
  );
  assert.ok(
    installed <= INSTALLED_MB_MAX,
    `${installed} MB are installed, and ${INSTALLED_MB_MAX} MB are the limit`,
  );
  assert.match(await machine.run('node', ['--version']), /^v22\./);
  await compareHelp(machine);
  await tryDemo(machine);
  await startAndAsk(machine);
} finally {
  await machine.remove();
}

function findTarball(): string {
  const build = join(REPOSITORY_ROOT, 'build');
  const [name, ...others] = readdirSync(build).filter((file) => file.endsWith('.tgz'));
  assert.ok(name !== undefined && others.length === 0, 'npm run pack makes one package');
  return join(build, name);
}

/** As a newcomer runs it, and as the checkout has it. */
async function compareHelp(packaged: EmptyMachine): Promise<void> {
  const help = await packaged.run('npx', ['chainstead', '--help']);
  const commands = [...help.matchAll(/^ {2}([a-z][a-z-]+)(?: [[<].*?)? {2,}\S/gm)].map(([, name = '']) => name);
  assert.ok(commands.includes('start') && commands.includes('demo'), help);
  for (const args of [['--version'], ['--help'], ...commands.map((name) => [name, '--help'])])
    assert.equal(await packaged.run(BIN, args), await runInCheckout(args), `chainstead ${args.join(' ')}`);
  console.log(`✓ --version, --help and the help of ${commands.length} commands are the checkout's`);
}

/** Runs the demo until it invites to requests, requests each of its lists, and stops it as a user does. */
async function tryDemo(packaged: EmptyMachine): Promise<void> {
  const startedAt = performance.now();
  const demo = packaged.start(BIN, ['demo'], { PORT: '0' });
  const exited = once(demo, 'exit');
  const impatience = setTimeout(() => demo.kill('SIGKILL'), START_MS_MAX);
  try {
    assert.ok(demo.stdout !== null && demo.stderr !== null);
    demo.stderr.pipe(process.stderr);
    let requested = 0;
    for await (const line of createInterface({ input: demo.stdout })) {
      const [, url] = /curl '(http\S+\/api\/v2\.2\/\S+)'/.exec(line) ?? [];
      if (url !== undefined) {
        const response = await fetch(url);
        // A proof is read at its first request.
        assert.ok(response.status === 200 || response.status === 503, `${url}: ${await response.text()}`);
        requested += 1;
      }
      if (line.startsWith('Press Ctrl-C')) demo.kill('SIGINT');
    }
    await exited;
    assert.ok(requested > 10, `${requested} requests`);
    const seconds = (performance.now() - startedAt) / 1_000;
    console.log(`✓ chainstead demo runs and its ${requested} requests return data (${seconds.toFixed(0)} s)`);
  } finally {
    clearTimeout(impatience);
    if (demo.exitCode === null) demo.kill('SIGKILL');
  }
}

async function startAndAsk(packaged: EmptyMachine): Promise<void> {
  const program = packaged.start(BIN, ['start'], { PORT: '0', LOG_LEVEL: 'warn' });
  const exited = once(program, 'exit');
  const impatience = setTimeout(() => program.kill('SIGKILL'), START_MS_MAX);
  try {
    assert.ok(program.stderr !== null && program.stdout !== null);
    program.stdout.pipe(process.stdout);
    for await (const line of createInterface({ input: program.stderr })) {
      const [, address] = /API\s+(http:\S+?)\/api\/v2\.2/.exec(line) ?? [];
      if (address === undefined) continue;
      for (const path of REQUESTED) {
        const response = await fetch(`${address}${path}`);
        assert.equal(response.status, 200, `${path}: ${await response.text()}`);
      }
      console.log(`✓ chainstead start answers ${REQUESTED.join(', ')}`);
      console.log(
        `✓ and the console, with ${await requestConsole(address)} files, its own and those of dependencies`,
      );
      await packaged.run(BIN, ['status']);
      program.kill('SIGTERM');
    }
    assert.deepEqual(await exited, [0, null], 'chainstead start ends as it is asked to');
    console.log('✓ and stops when it is asked to');
  } finally {
    clearTimeout(impatience);
    if (program.exitCode === null) program.kill('SIGKILL');
  }
}

/** Visitors without a session are led to the sign-in, with script and style. @returns how many files the page names */
async function requestConsole(address: string): Promise<number> {
  const page = await fetch(`${address}/console`, { headers: { accept: 'text/html' } });
  const text = await page.text();
  assert.deepEqual([page.status, new URL(page.url).pathname], [200, '/console/sign-in'], text);
  const files = [...text.matchAll(/"(\/console\/assets\/[^"]+)"/g)].map(([, file = '']) => file);
  assert.ok(files.length > 0, text);
  for (const file of files) assert.equal((await fetch(`${address}${file}`)).status, 200, file);
  return files.length;
}

async function runInCheckout(args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(join(REPOSITORY_ROOT, BIN), [...args], { maxBuffer: OUTPUT_MAX });
  return stdout;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
