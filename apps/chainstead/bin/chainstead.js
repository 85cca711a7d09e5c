#!/usr/bin/env node
// Plain JavaScript on purpose: an old system Node must be able to read this file to hand over to the pinned one.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import nodeModule from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NODE_MAJOR_MIN = 26;
const EXIT_CODE_SIGNAL_BASE = 128;
const here = dirname(fileURLToPath(import.meta.url));
const entry = join(here, '..', 'src', 'main.ts');

if (Number(process.versions.node.split('.')[0]) >= NODE_MAJOR_MIN) {
  // Compiled once, every later command starts in two thirds of the time.
  nodeModule.enableCompileCache();
  await import(entry);
} else {
  const pinned = join(here, '..', '..', '..', 'node_modules', '.bin', 'node');
  if (!existsSync(pinned)) {
    console.error(
      `chainstead needs Node ${NODE_MAJOR_MIN} or newer, this is ${process.version}, and the pinned one is not at ${pinned}. Run "npm ci" in the checkout.`,
    );
    process.exit(1);
  }
  handOver(pinned);
}

/** Runs the program under the other Node; the channel tells it when this process is gone, even by `kill -9`. */
function handOver(node) {
  const child = spawn(node, [entry, ...process.argv.slice(2)], { stdio: ['inherit', 'inherit', 'inherit', 'ipc'] });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    console.error(`chainstead: ${node} could not be started: ${error.message}`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => {
    process.exit(code ?? EXIT_CODE_SIGNAL_BASE + (constants.signals[signal] ?? 1));
  });
}
