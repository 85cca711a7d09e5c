#!/usr/bin/env node
// Plain JavaScript on purpose: an old system Node must be able to read this file to hand over to the pinned one.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NODE_MAJOR_MIN = 26;
const here = dirname(fileURLToPath(import.meta.url));
const entry = join(here, '..', 'src', 'main.ts');

if (Number(process.versions.node.split('.')[0]) >= NODE_MAJOR_MIN) {
  await import(entry);
} else {
  const pinned = join(here, '..', '..', '..', 'node_modules', '.bin', 'node');
  if (!existsSync(pinned)) {
    console.error(
      `chainstead needs Node ${NODE_MAJOR_MIN} or newer, this is ${process.version}, and the pinned one is not at ${pinned}. Run "npm ci" in the checkout.`,
    );
    process.exit(1);
  }
  const result = spawnSync(pinned, [entry, ...process.argv.slice(2)], { stdio: 'inherit' });
  process.exit(result.status ?? 1);
}
