/** Mainnet's blocks around the merge, from real era files and without any node. */
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createScratchDatabase, recordedData, startProgram } from '@chainstead/testkit';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { runCaptured } from '../testing/captured-context.ts';

const PROOFS = recordedData('data/proofs');
/** Blocks 15,537,393 and 15,537,394, proven by lists that ship with the program; block 14,764,013; two blocks without proofs. */
const FILES = [
  'mainnet-01896-56a9bb03.ere',
  'mainnet-01802-720704f3.ere',
  'mainnet-02371-f8e2f40d-noproofs.ere',
] as const;
const USDC = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48';
// Processes start slowly on a busy machine.
const READY_TIMEOUT_MS = 60_000;

async function openStage(files: readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'era-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const name of files) await copyFile(join(PROOFS.folder, 'files', name), join(folder, name));
  const scratch = await createScratchDatabase();
  onTestFinished(() => scratch.drop());
  return { environment: { DATABASE_URL: scratch.url, CHAINS: 'eth', HISTORY_ETH: `era:${folder}` } };
}

describe.skipIf(PROOFS.isMissing)(PROOFS.title('era files without a node'), () => {
  it('a backfill indexes the blocks that public lists prove, and refuses those above', async () => {
    const { environment } = await openStage(FILES);
    const backfill = (from: number, to: number) =>
      runCaptured(['backfill', '--chain', 'eth', '--from', String(from), '--to', String(to)], environment);
    expect(await backfill(15_537_393, 15_537_394)).toMatchObject({ exitCode: 0 });
    expect(await backfill(14_764_013, 14_764_013)).toMatchObject({ exitCode: 0 });
    const { stdout } = await runCaptured(['gaps', '--json'], environment);
    expect(new Set(stdout.match(/"proof":"\w+"/g))).toEqual(new Set(['"proof":"receipts"']));
    expect(await backfill(19_426_586, 19_426_587)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('exceed 15537394, the highest final block'),
    });
  });

  it('the program indexes up to the last proven block, and shows that no node is set', async () => {
    const { environment } = await openStage(FILES);
    const doctor = await runCaptured(['doctor', '--chain', 'eth'], environment);
    expect(doctor).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/ok +nodes +none is set: the head/),
    });
    expect(doctor.stdout).toContain('proven: blocks 15537394, 14764013');
    const program = startProgram(['start'], {
      environment: { ...environment, PORT: '0', READY_LAG_BLOCKS: '0' },
    });
    onTestFinished(async () => {
      program.signal('SIGKILL');
      await program.exited;
    });
    const [, address] = await program.waitFor(/API {7}(http:\S+)\/api\/v2\.2/);
    await program.waitFor(/eth \(1\): indexed from the first block of its era files.*no node is set/);
    const get = async (path: string) => {
      const response = await fetch(`${address}${path}`);
      return { status: response.status, body: await response.json() };
    };
    await vi.waitFor(async () => expect(await get('/synced')).toMatchObject({ status: 200 }), READY_TIMEOUT_MS);
    const { stdout: status } = await runCaptured(['status'], environment);
    expect(status).toMatch(/indexed to +15537394, 0 blocks behind\n +history +from 15537393\n/);
    expect(status).toMatch(/erc20-transfers: 2 blocks receipts; 0 blocks missing/);
    expect(status).toMatch(/era-\w+ +healthy \(no node is set: the head is the last proven block/);
    expect(await get(`/api/v2.2/erc20/${USDC}/transfers?chain=eth&limit=1`)).toMatchObject({
      status: 200,
      body: { indexed: { from_block: '15537393', to_block: '15537394' }, result: [{ block_number: '15537394' }] },
    });
    const needsNode = 'This needs a node of Ethereum Mainnet, and none is configured';
    expect(await get(`/api/v2.2/${USDC}/balance?chain=eth`)).toEqual({
      status: 503,
      body: { message: needsNode },
    });
    const call = { jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] };
    const headers = { 'content-type': 'application/json' };
    const rpc = await fetch(`${address}/eth/none`, { method: 'POST', headers, body: JSON.stringify(call) });
    expect(await rpc.json()).toMatchObject({
      error: { message: 'Chain eth has no node here, only stored blocks' },
    });
    expect(program.output()).not.toContain('"level":"error"');
  });
});
