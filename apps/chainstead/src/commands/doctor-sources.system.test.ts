/** `chainstead doctor` over sources of history that are good, lack fields, lie, and are unavailable. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createScriptedChain,
  type JsonObject,
  type SourceFaultSettings,
  servePortal,
  serveScriptedChain,
  writeEraFolder,
} from '@chainstead/testkit';
import { expect, it, onTestFinished } from 'vitest';
import { runCaptured } from '../testing/captured-context.ts';

const BLOCKS = 90;

async function openStage(faults: Partial<SourceFaultSettings> = {}) {
  const chain = createScriptedChain({ seed: 71, finalityDepth: 0, isSigned: true });
  chain.mine(BLOCKS);
  const node = await serveScriptedChain(chain);
  const portal = await servePortal(chain, { faults });
  onTestFinished(async () => {
    await portal.close();
    await node.close();
  });
  return {
    portal,
    chain,
    examine: (changes: Readonly<Record<string, string>> = {}, ...args: string[]) =>
      runCaptured(['doctor', '--chain', 'scripted', ...args], {
        CHAINS: 'scripted',
        CHAIN_ID_SCRIPTED: '31337',
        RPC_URLS_SCRIPTED: node.url,
        REORG_DEPTH_MAX_SCRIPTED: '8',
        HISTORY_SCRIPTED: `portal:${portal.url}`,
        ...changes,
      }),
  };
}

async function openFolder() {
  const { chain, examine } = await openStage();
  const folder = mkdtempSync(join(tmpdir(), 'era-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return { folder, chain, examine: () => examine({ HISTORY_SCRIPTED: `era:${folder}` }) };
}

function lieOf(change: JsonObject): Partial<SourceFaultSettings> {
  return {
    tamper: (line) => {
      const [first, ...others] = (line.transactions ?? []) as JsonObject[];
      return first === undefined ? line : { ...line, transactions: [{ ...first, ...change }, ...others] };
    },
  };
}

it('shows the blocks of a source, and that a sample of them is proven', async () => {
  const { examine } = await openStage();
  const { exitCode, stdout, stderr } = await examine();
  expect(stdout).toMatch(
    /^scripted: portal 127\.0\.0\.1:\d+\n {2}ok +blocks +0 to 90\n {2}ok +sample +proven: /m,
  );
  expect(stdout).toMatch(/proven: blocks 90, 45, 9$/m);
  expect([exitCode, stderr]).toEqual([0, '']);
  expect(JSON.parse((await examine({}, '--json')).stdout)).toMatchObject({
    sources: [{ chain: 'scripted', verdict: 'ok', findings: [{ subject: 'blocks' }, { subject: 'sample' }] }],
  });
});

it.each<[string, Partial<SourceFaultSettings>, RegExp, number]>([
  [
    'lacks a field',
    { missingColumns: ['transactions.r'] },
    /WARNING +sample +lacks r of transaction 0.* of block 45: read from nodes$/m,
    0,
  ],
  // Empty access lists follow from the hashes.
  [
    'lacks a field that can be computed',
    { missingColumns: ['transactions.accessList'] },
    /ok +sample +proven: /,
    0,
  ],
  [
    'names another sender',
    lieOf({ from: `0x${'12'.repeat(20)}` }),
    /BAD +sample +block 45 does not hold: sender-mismatch$/m,
    1,
  ],
  ['is busy', { status: { rate: 1, status: 500 } }, /WARNING +sample +HTTP 500/, 0],
])('reports a source that %s', async (_name, faults, finding, code) => {
  const { examine } = await openStage(faults);
  const { exitCode, stdout } = await examine();
  expect(stdout).toMatch(finding);
  expect(exitCode).toBe(code);
});

it('reports a source that is unavailable', async () => {
  const { portal, examine } = await openStage();
  await portal.close();
  const { exitCode, stdout } = await examine();
  expect(stdout).toMatch(/WARNING +connection +/);
  expect(exitCode).toBe(0);
});

it('names the era file that does not hold, and proves the other', async () => {
  const { folder, chain, examine } = await openFolder();
  const [path = ''] = await writeEraFolder({
    folder,
    network: 'scripted',
    blocks: chain.blocksIn({ from: 0, to: BLOCKS }),
  });
  writeFileSync(join(folder, 'scripted-00000-00000000.ere'), readFileSync(path).subarray(0, 5_000));
  const { exitCode, stdout } = await examine();
  expect(stdout).toMatch(/WARNING +files +left out: scripted-00000-00000000\.ere: /);
  expect(stdout).toMatch(/ok +sample +proven: /);
  expect(exitCode).toBe(0);
});
