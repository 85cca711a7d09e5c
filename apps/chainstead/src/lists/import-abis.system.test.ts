import { once } from 'node:events';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { parseAbi } from 'viem';
import { beforeEach, describe, expect, it } from 'vitest';
import { type CommandOutcome, runCaptured } from '../testing/captured-context.ts';
import { jsonLines } from '../testing/command-stage.ts';

const scratch = scratchOfFile();
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'chainstead-abis-'));
  await scratch.database.query(sql`TRUNCATE contract_abi_entries, imported_signatures`);
});

const run = (...args: readonly string[]): Promise<CommandOutcome> =>
  runCaptured(['import', ...args], { DATABASE_URL: scratch.url });

async function put(path: string, content: unknown): Promise<string> {
  const file = join(folder, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

const VAULT = `0x${'a1'.repeat(20)}`;
const TOKEN = `0x${'B2'.repeat(20)}`;
const abi = parseAbi(['function deposit(uint256 amount)']);

const contracts = async (): Promise<string[]> =>
  (
    await scratch.database.query<{ row: string }>(
      sql`SELECT concat_ws(' ', '0x' || encode(address, 'hex'), chain_id, entry->>'name') AS row FROM contract_abi_entries ORDER BY address, chain_id`,
    )
  ).map(({ row }) => row);

describe('import abi', () => {
  it('takes the ABI of one contract', async () => {
    const file = await put('out/Vault.sol/Vault.json', { abi, bytecode: { object: '0x' } });
    const { exitCode, stdout, stderr } = await run('abi', file, '--chain', 'eth', '--address', VAULT);
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(jsonLines(stdout).at(-1)).toEqual({
      work: 'import',
      kind: 'abi',
      place: file,
      contracts: 1,
      rows: 1,
      skipped: [],
      finished: true,
    });
    expect(await contracts()).toEqual([`${VAULT} 1 deposit`]);
  });

  it('takes a folder of them, of which names, folders and files say the contracts', async () => {
    await put(`full_match/8453/${TOKEN}/metadata.json`, { compiler: {}, output: { abi } });
    await put(`full_match/8453/${TOKEN}/sources/Token.sol`, 'contract Token {}');
    await put(`full_match/424242424242/${VAULT}/metadata.json`, { output: { abi } });
    await put(`plain/${VAULT}.json`, abi);
    await put('deployments/Other.json', { address: `0x${'c3'.repeat(20)}`, abi });
    await put('build/Truffle.json', {
      abi,
      networks: { 10: { address: `0x${'d4'.repeat(20)}` }, 424242424242: { address: VAULT }, x: null },
    });
    await put('build/Interface.json', { abi, networks: {} });
    await put('build/broken.json', '{');
    const { exitCode, stderr } = await run('abi', folder, '--chain', 'polygon');
    expect(exitCode).toBe(0);
    expect(stderr.trim().split('\n').toSorted()).toEqual([
      'skipped 1: a file without a contract address',
      'skipped 1: a file without the extension .json',
      'skipped 1: a file without valid JSON',
      'skipped 1: chain 424242424242 is unknown here',
    ]);
    expect(await contracts()).toEqual([
      `${VAULT} 137 deposit`,
      `${TOKEN.toLowerCase()} 8453 deposit`,
      `0x${'c3'.repeat(20)} 137 deposit`,
      `0x${'d4'.repeat(20)} 10 deposit`,
    ]);
  });

  it('asks a server of verified contracts, and takes a URL', async () => {
    const requested: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      requested.push(request.url);
      response.end(JSON.stringify({ abi, match: 'exact_match' }));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const port = Object(server.address()).port;
      const url = `http://127.0.0.1:${port}/server`;
      expect((await run('abi', TOKEN, '--chain', 'base', '--from', url)).exitCode).toBe(0);
      expect((await run('abi', `${url}/${VAULT}.json`, '--chain', '1')).exitCode).toBe(0);
      expect(requested).toEqual([
        `/server/v2/contract/8453/${TOKEN.toLowerCase()}?fields=abi`,
        `/server/${VAULT}.json`,
      ]);
      expect(await contracts()).toEqual([`${VAULT} 1 deposit`, `${TOKEN.toLowerCase()} 8453 deposit`]);
    } finally {
      server.close();
    }
  });

  it.each([
    [['--chain', 'atlantis', '--address', VAULT], 2, '--chain atlantis is not a known chain'],
    [['--chain', 'eth', '--address', '0x12'], 2, '0x12 is not an address'],
    [['--chain', 'eth', '--address', VAULT, '--source', 'x'], 2, 'Remove --source'],
    [['--chain', 'eth', '--from', 'somewhere'], 2, '--from somewhere is not an ABI source'],
    [['--chain', 'eth', '--from', 'sourcify'], 2, 'is not an address'],
    [['--chain', 'eth'], 1, '1: a file without a contract address'],
    [['--address', VAULT], 1, '1: a file without a chain'],
  ])('refuses a file with %j', async (options, code, message) => {
    const file = await put('Vault.json', abi);
    const { exitCode, stderr } = await run('abi', file, ...options);
    expect([exitCode, stderr]).toEqual([code, expect.stringContaining(message)]);
    expect(await contracts()).toEqual([]);
  });

  it('refuses what has no ABI, a folder for one contract, and what is not there', async () => {
    const file = await put('package.json', { name: 'x' });
    await put('other.json', abi);
    const one = ['--chain', 'eth', '--address', VAULT];
    expect(await run('abi', file, ...one)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('[ABI_UNREADABLE]'),
    });
    expect(await run('abi', folder, ...one)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('has 2 files, but --address is one contract'),
    });
    expect(await run('abi', join(folder, 'none'), ...one)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('[PLACE_UNREADABLE]'),
    });
  });
});

describe('import signatures', () => {
  const signatures = async (): Promise<unknown[]> =>
    (
      await scratch.database.query<{ row: unknown }>(
        sql`SELECT source || ' ' || signature AS row FROM imported_signatures ORDER BY 1`,
      )
    ).map(({ row }) => row);

  it('takes a folder of files by selector, shows how far it is, and replaces what came from the same source', async () => {
    await put('a9059cbb', 'transfer(address,uint256);many_msg_babbage(bytes1)');
    await put('b6b55f25', 'deposit(uint256)');
    const { exitCode, stdout, stderr } = await run('signatures', folder, '--source', '4bytes');
    expect([exitCode, stderr]).toEqual([0, '']);
    const lines = jsonLines(stdout);
    expect(lines[0]).toMatchObject({ work: 'import', chain: 'signatures', unit: 'bytes' });
    expect(lines.at(-1)).toMatchObject({ kind: 'signatures', source: '4bytes', rows: 3, finished: true });
    const file = await put('list.txt', 'deposit(uint256)\nwithdraw(uint256)\nnone(');
    expect(await run('signatures', file, '--source', '4bytes')).toMatchObject({
      exitCode: 0,
      stderr: 'skipped 1: no signature whose values can be decoded\n',
    });
    expect(await signatures()).toEqual(['4bytes deposit(uint256)', '4bytes withdraw(uint256)']);
  });

  it.each([
    [['--chain', 'eth'], 2, 'Signatures belong to no chain'],
    [['--address', VAULT], 2, '--address is for abi only'],
    [['--from', 'sourcify'], 2, '--from is for abi only'],
    [['--trust-coverage'], 2, '--trust-coverage is for aptos-coins only'],
    [[], 1, '[ABI_UNREADABLE]'],
  ])('refuses a list without signatures with %j', async (options, code, message) => {
    const file = await put('empty.txt', 'nothing');
    const { exitCode, stderr } = await run('signatures', file, ...options);
    expect([exitCode, stderr]).toEqual([code, expect.stringContaining(message)]);
  });
});
