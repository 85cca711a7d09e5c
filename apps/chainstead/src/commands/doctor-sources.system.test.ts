/** `chainstead doctor` over sources of history that are good, lack fields, lie, and are unavailable. */
import {
  createScriptedChain,
  type JsonObject,
  type SourceFaultSettings,
  servePortal,
  serveScriptedChain,
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
    examine: (...args: string[]) =>
      runCaptured(['doctor', '--chain', 'scripted', ...args], {
        CHAINS: 'scripted',
        CHAIN_ID_SCRIPTED: '31337',
        RPC_URLS_SCRIPTED: node.url,
        REORG_DEPTH_MAX_SCRIPTED: '8',
        HISTORY_SCRIPTED: `portal:${portal.url}`,
      }),
  };
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
  expect(JSON.parse((await examine('--json')).stdout)).toMatchObject({
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
