import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createChainRegistry } from '@chainstead/chains';
import { readDefinitions } from '@chainstead/contracts';
import { createLogger, systemClock } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { listAudit } from '@chainstead/http';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { runCaptured } from '../testing/captured-context.ts';
import {
  applyContractsFile,
  contractsFileSchema,
  readContractsFile,
  watchContractsFile,
} from './contracts-file.ts';

const chains = createChainRegistry();
const scratch = scratchOfFile();
const VAULT = '0x83f20f44975d03b1b09e64809b757c47f942beea';
const ABI = [
  {
    type: 'event',
    name: 'Deposit',
    inputs: [
      { name: 'owner', type: 'address', indexed: true },
      { name: 'assets', type: 'uint256' },
    ],
  },
];
const ONE = { name: 'vault', chain: 'eth', abi: './Vault.json', addresses: [VAULT] };
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'contracts-file-'));
  for (const name of ['Vault.json', 'Pool.json']) await writeFile(join(folder, name), JSON.stringify(ABI));
  await writeFile(join(folder, 'text.json'), 'no JSON');
});
afterAll(() => rm(folder, { recursive: true }));
beforeEach(async () => {
  await scratch.database.query(sql`TRUNCATE contract_definitions, audit_log`);
  await scratch.database.query(sql`DROP SCHEMA IF EXISTS contracts CASCADE`);
});

/** Writes a file; JSON is YAML too. @returns its path */
async function writeContracts(content: unknown): Promise<string> {
  const path = join(folder, 'contracts.yaml');
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

async function revisions(): Promise<readonly string[]> {
  const rows = await scratch.database.query<{ revision: string }>(
    sql`SELECT revision::text FROM contract_definitions ORDER BY name`,
  );
  return rows.map(({ revision }) => revision);
}

test('the example of the documentation is applied, and changes nothing the second time', async () => {
  const page = await readFile(new URL('../../../../docs/concepts/contracts.md', import.meta.url), 'utf8');
  const [, example = ''] = /```yaml\n([\s\S]*?)```/.exec(page) ?? [];
  const path = await writeContracts(example);
  expect(await applyContractsFile({ path, database: scratch.database, chains })).toBe(2);
  expect(await readDefinitions(scratch.database)).toMatchObject([
    { name: 'pools', factory: { child: 'pool', firstBlock: 0 }, tables: [{}, { event: 'deposit' }] },
    { name: 'vault', addresses: [VAULT], firstBlock: 17_000_000, factory: null, tables: [{ event: 'deposit' }] },
  ]);
  const before = await revisions();
  await applyContractsFile({ path, database: scratch.database, chains });
  expect(await revisions()).toEqual(before);
  expect((await listAudit(scratch.database, null, 5)).map(({ action, target }) => [action, target])).toEqual([
    ['contract.add', 'pools'],
    ['contract.add', 'vault'],
  ]);
});

test('calls, the log of an upgrade and an implementation are read', async () => {
  const implementation = `0x${'Ab'.repeat(20)}`;
  const path = await writeContracts({
    contracts: [{ ...ONE, calls: true, upgrade: '18000000:57' }, ONE, { ...ONE, implementation }],
  });
  expect(await readContractsFile(path, chains)).toMatchObject([
    { calls: true, upgrade: { block: 18_000_000, log: 57 } },
    { calls: false, upgrade: null, implementation: null },
    { upgrade: null, implementation: `0x${'ab'.repeat(20)}` },
  ]);
});

test('a refused contract is named, and the others are added', async () => {
  const path = await writeContracts({
    contracts: [{ ...ONE, name: 'Vault' }, ONE, { ...ONE, index: ['amount'] }],
  });
  await expect(applyContractsFile({ path, database: scratch.database, chains })).rejects.toMatchObject({
    code: 'CONTRACTS_FILE_INVALID',
    message: `The contracts in ${path} can't be used: Vault: "Vault" is not a name for a contract. Use 1 to 24 lower-case letters, digits and underscores, with a letter in front; vault: No event has a parameter amount. Parameters are owner, assets. Correct the file. docs/concepts/contracts.md shows an example, and editors check it by its JSON schema`,
  });
  expect(await readDefinitions(scratch.database)).toMatchObject([{ name: 'vault' }]);
});

describe('a file is refused', () => {
  test.each<[unknown, string]>([
    ['contracts: [', 'Flow sequence in block collection must be sufficiently indented and end with a ]'],
    ['a: &a [1]\ncontracts: *a', 'Alias resolution is disabled'],
    ['', ': Invalid input: expected object, received null'],
    [{ contracts: {} }, 'contracts: Invalid input: expected array, received object'],
    [{ contracts: [], others: 1 }, ': Unrecognized key: "others"'],
    [{ contracts: [{ ...ONE, adress: [] }] }, 'contracts[0]: Unrecognized key: "adress"'],
    [{ contracts: [{ ...ONE, addresses: [] }] }, 'contracts[0].addresses: Too small'],
    [{ contracts: [{ ...ONE, addresses: ['0x12'] }] }, 'contracts[0].addresses[0]: is no address'],
    [{ contracts: [{ ...ONE, addresses: undefined }] }, 'contracts[0]: needs either addresses or factory'],
    [
      { contracts: [{ ...ONE, addresses: undefined, factory: { event: 'A(address a)', child: 'a' } }] },
      'contracts[0].factory: needs either addresses or of',
    ],
    [{ contracts: [{ ...ONE, from: -1 }] }, 'contracts[0].from: Too small'],
    [{ contracts: [{ ...ONE, from: 1.5 }] }, 'contracts[0].from: Invalid input'],
    [{ contracts: [{ ...ONE, chain: 'moon' }] }, 'contracts[0].chain: moon is not a known chain'],
    [{ contracts: [ONE, { ...ONE, abi: './None.json' }] }, "None.json can't be read"],
    [{ contracts: [{ ...ONE, abi: './text.json' }] }, 'contracts[0].abi: '],
    [{ contracts: [{ ...ONE, abi: 5 }] }, 'contracts[0].abi: Invalid input: expected string, received number'],
    [{ contracts: [{ ...ONE, events: [] }] }, 'contracts[0].events: Too small'],
    [
      { contracts: [{ ...ONE, index: 'owner' }] },
      'contracts[0].index: Invalid input: expected array, received string',
    ],
    [
      { contracts: [{ ...ONE, calls: 'yes' }] },
      'contracts[0].calls: Invalid input: expected boolean, received string',
    ],
    [
      { contracts: [{ ...ONE, upgrade: 100 }] },
      'contracts[0].upgrade: Invalid input: expected string, received number',
    ],
    [{ contracts: [{ ...ONE, upgrade: '100' }] }, 'contracts[0].upgrade: is no place of a log (block:log index)'],
    [
      { contracts: [{ ...ONE, upgrade: '-1:0' }] },
      'contracts[0].upgrade: is no place of a log (block:log index)',
    ],
    [{ contracts: [{ ...ONE, implementation: '0x12' }] }, 'contracts[0].implementation: is no address'],
    ['contracts:\n  - __proto__: {}\n    name: vault', 'contracts[0].chain: Invalid input'],
    ['contracts: [1]', 'contracts[0]: Invalid input: expected object, received number'],
    ['[[[[', 'must be sufficiently indented and end with a ]'],
    ['contracts: []\ncontracts: []', 'Map keys must be unique'],
  ])('%j', async (content, problem) => {
    const path = await writeContracts(content);
    await expect(readContractsFile(path, chains)).rejects.toMatchObject({
      code: 'CONTRACTS_FILE_INVALID',
      message: expect.stringContaining(problem),
    });
  });

  test('that is large', async () => {
    const path = await writeContracts(' '.repeat(2 * 1024 * 1024));
    await expect(readContractsFile(path, chains)).rejects.toThrow('has 2097152 bytes, more than 1048576');
  });

  test('that does not exist', async () => {
    await expect(readContractsFile(join(folder, 'none.yaml'), chains)).rejects.toThrow("none.yaml can't be read");
  });
});

test('a changed file is applied, and a wrong one is logged', async () => {
  const path = await writeContracts({ contracts: [ONE] });
  const lines: string[] = [];
  const logger = createLogger({ level: 'info', destination: { write: (line) => lines.push(line) } });
  const stop = new AbortController();
  const watch = { path, database: scratch.database, chains, clock: systemClock, logger };
  const watching = watchContractsFile(watch, stop.signal);
  const names = async () => (await readDefinitions(scratch.database)).map(({ name }) => name);
  await expect.poll(names).toEqual(['vault']);
  await writeContracts('contracts: [');
  await expect.poll(() => lines.join('')).toContain('could not be applied');
  await writeContracts({ contracts: [ONE, { ...ONE, name: 'other' }] });
  await expect.poll(names).toEqual(['other', 'vault']);
  stop.abort();
  await watching;
});

test('commands apply a file and check it', async () => {
  const path = await writeContracts({ contracts: [ONE] });
  const environment = { DATABASE_URL: scratch.url };
  expect(await runCaptured(['contracts', 'apply', path], environment)).toMatchObject({
    exitCode: 0,
    stdout: `Applied 1 contracts of ${path}. Contracts that it lacks are kept\n`,
  });
  const wrong = await runCaptured(['config', 'validate'], {
    CHAINS: 'eth',
    CONTRACTS_FILE: join(folder, 'none.yaml'),
  });
  expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringContaining("none.yaml can't be read")]);
});

test('the schema for editors knows the members of a contract', () => {
  expect(contractsFileSchema()).toMatchObject({
    properties: {
      contracts: { items: { properties: { factory: {}, name: {} }, required: ['name', 'chain', 'abi'] } },
    },
  });
});
