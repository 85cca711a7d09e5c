import { type Chain, createChainRegistry } from '@chainstead/chains';
import { readDefinitions } from '@chainstead/contracts';
import { type Address, parseAddress } from '@chainstead/core';
import { listAudit } from '@chainstead/http';
import { madeForFile, stageOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { openConsoleStage } from '../../testing/console-stage.ts';
import { contractFormView, EMPTY_CONTRACT } from './contract-form.ts';
import { scriptedSource } from './testing/scripted-node.ts';

const [eth, polygon] = ['eth', 'polygon'].map((name) => createChainRegistry().get(name)) as [Chain, Chain];
const WITH_TRANSACTIONS = { ...polygon, transactions: { ...polygon.transactions, mode: 'all' } } as const;
const [VAULT, BARE, UNREAD] = ['c0', 'ba', '0f'].map((byte) => parseAddress(`0x${byte.repeat(20)}`)) as [
  Address,
  Address,
  Address,
];
const CODES = new Map([
  [VAULT, true],
  [BARE, false],
]);
const stage = stageOfFile(() =>
  openConsoleStage({
    chains: [eth, WITH_TRANSACTIONS],
    explorer: { routes: [], hasCodeOf: async () => CODES, abiSource: scriptedSource },
  }),
);
const visitor = madeForFile(() => stage.signIn());

const OWNER = `0x${'0a'.repeat(20)}`;
const DEPOSIT = 'Deposit(address,uint256,string)';
const ABI = JSON.stringify([
  {
    type: 'event',
    name: 'Deposit',
    inputs: [
      { name: 'owner', type: 'address', indexed: true },
      { name: 'assets', type: 'uint256' },
      { name: 'note', type: 'string' },
    ],
  },
  { type: 'event', name: 'Paused', inputs: [] },
  {
    type: 'function',
    name: 'deposit',
    inputs: [{ name: 'assets', type: 'uint256' }],
    stateMutability: 'payable',
  },
]);
const FORM = {
  ...{ name: 'vault', chain: 'eth', abi: ABI, addresses: VAULT, from: '5', index: 'owner', events: DEPOSIT },
  ...{ calls: '', upgrade: '', factoryEvent: '', child: '', childFrom: 'transaction', strict: '' },
};

const post = async (path: string, fields: Readonly<Record<string, string>>) => {
  const response = await stage.post(`/console/contracts/${path}`, fields, visitor);
  return { response, page: await response.text() };
};

test('lists the events of a pasted ABI, all of them ticked', async () => {
  const { page } = await post('check', { abi: ABI });
  const boxes = [...page.matchAll(/name="events" value="([^"]+)" (checked)?/g)].map(([, event, box]) => [
    event,
    box,
  ]);
  expect(boxes).toEqual([
    [DEPOSIT, 'checked'],
    ['Paused()', 'checked'],
  ]);
  expect(page).toContain('formaction="/console/contracts/add"');
});

test('lists the events of an ABI that the source has, for the address that was given', async () => {
  const list = await (await stage.get('/console/contracts', visitor)).text();
  expect(list).toContain('Get the ABI from abis.example');
  const { page } = await post('abi', { chain: 'eth', addresses: ` ${VAULT} ` });
  expect(page).toContain('name="events" value="Deposit(address,uint256,bool,bytes32,string,(int24,address))"');
  expect(page).toContain(VAULT);
  expect(page).not.toContain('Get the ABI from');
  for (const [fields, problem] of [
    [{ chain: 'eth', addresses: BARE }, 'abis.example returned no ABI: &lt;script&gt;'],
    [{ chain: 'eth', addresses: 'vault' }, 'vault is no address'],
    [{ chain: 'base', addresses: VAULT }, 'Choose a chain that is indexed here'],
  ] as const)
    expect((await post('abi', fields)).page).toContain(problem);
});

test('adds the chosen events, shows their rows, and removes them', async () => {
  const { response } = await post('add', FORM);
  expect([response.status, response.headers.get('location')]).toEqual([
    303,
    '/console/contracts/vault?chain=eth',
  ]);
  const [definition] = await readDefinitions(stage.database, 'vault');
  expect(definition).toMatchObject({ addresses: [VAULT], firstBlock: 5, tables: [{ event: 'deposit' }] });
  const page = await (await stage.get('/console/contracts/vault?chain=eth', visitor)).text();
  const own = page.replaceAll('<wbr>', '');
  expect(own).toContain(`href="/console/look-up/address/${VAULT}?chain=eth"`);
  expect(own).toContain('href="/console/contracts/vault/deposit?chain=eth"');
  expect(own).toContain('analytics.contract_vault_deposit<');
  expect(own).toContain('/api/v2.2/contracts/vault/deposit?chain=eth');
  expect(own).toMatch(/owner_bytes<?.*= analytics\.bytes\(/);
  expect(own).toContain('action="/console/contracts/remove"');
  const list = await (await stage.get('/console/contracts', visitor)).text();
  expect(list).toContain('href="/console/contracts/vault?chain=eth"');
  expect(list).toContain('href="/console/contracts/vault/deposit?chain=eth"');
  expect((await post('remove', { name: 'vault', chain: 'eth' })).response.status).toBe(303);
  expect(await readDefinitions(stage.database)).toEqual([]);
  expect(await listAudit(stage.database, null, 2)).toMatchObject([
    { action: 'contract.remove', target: 'vault', id: visitor.prefix, door: 'console' },
    { action: 'contract.add', target: 'vault', details: { chain: 'eth', events: ['deposit'] } },
  ]);
});

test.each<[Partial<Record<keyof typeof FORM, string>>, string]>([
  [{ abi: '' }, 'The ABI is not JSON'],
  [{ abi: `${'['.repeat(100)}${']'.repeat(100)}` }, 'The ABI is too large: JSON is nested deeper than 64 levels'],
  [{ abi: '[]' }, 'The ABI of vault has no event Deposit(address,uint256,string)'],
  [{ chain: 'base' }, 'Choose a chain that is indexed here'],
  [{ addresses: '' }, 'Enter at least one address'],
  [{ addresses: `${VAULT}, 0x12` }, '0x12 is no address (0x and 40 hexadecimal digits)'],
  [{ from: '-1' }, 'The first block must be a whole number, or empty'],
  [{ events: '' }, 'Choose at least one event'],
  [
    { calls: 'yes' },
    'Calls can&#39;t be decoded, because transactions of eth are not indexed. Set TRANSACTIONS_ETH=all, or leave calls out',
  ],
  [{ upgrade: '100' }, '100 is neither the address of an implementation nor the place of a log'],
  [{ upgrade: '0x12' }, '0x12 is neither the address of an implementation nor the place of a log'],
  [
    { name: 'Vault; DROP' },
    '&quot;Vault; DROP&quot; is not a name for a contract. Use 1 to 24 lower-case letters',
  ],
  [{ child: 'pool' }, 'Enter both the event of the factory and its parameter with the child, or neither'],
  [
    { factoryEvent: 'Made(address pool)', child: 'vault' },
    'Made has no parameter &quot;vault&quot;. Choose one with --child: pool',
  ],
  [
    { factoryEvent: 'Made(address pool)', child: 'pool', addresses: 'pools' },
    'There is no contract pools with children on eth',
  ],
  [
    { strict: 'yes', addresses: `${VAULT} ${BARE}` },
    `${BARE} has no code on eth. Check the address and the chain`,
  ],
  [
    { strict: 'yes', addresses: UNREAD },
    `No upstream of eth returned the code of ${UNREAD} in time. Retry, or untick Strict`,
  ],
  [{ index: 'note' }, 'note can&#39;t have an index, because its values may have any size'],
])('refuses %j', async (change, problem) => {
  const { response, page } = await post('add', { ...FORM, ...change });
  expect([response.status, page]).toEqual([200, expect.stringContaining(problem)]);
  expect(await readDefinitions(stage.database)).toEqual([]);
});

test('adds the children of a factory, and of the children of another contract, if their addresses have code', async () => {
  const factory = { factoryEvent: 'Made(address indexed pool)', child: 'pool', childFrom: 'log', strict: 'yes' };
  const kept = (await post('check', { ...FORM, ...factory })).page;
  expect(kept).toContain('value="Made(address indexed pool)"');
  expect(kept).toMatch(/<option value="log" selected>/);
  expect(kept).toMatch(/name="strict" value="yes" aria-describedby="strict-hint" checked/);
  expect((await post('add', { ...FORM, ...factory })).response.status).toBe(303);
  expect((await post('add', { ...FORM, ...factory, name: 'nested', addresses: 'vault' })).response.status).toBe(
    303,
  );
  const definitions = await readDefinitions(stage.database);
  expect(definitions).toMatchObject([
    { name: 'nested', addresses: [], factory: { event: 'made', child: 'pool', of: 'vault', childFrom: 'log' } },
    { name: 'vault', addresses: [VAULT], factory: { event: 'made', child: 'pool', of: null, childFrom: 'log' } },
  ]);
  for (const name of ['nested', 'vault'])
    expect((await post('remove', { name, chain: 'eth' })).response.status).toBe(303);
});

test('adds calls of a chain with all transactions, and the ABI of an implementation', async () => {
  const known = (await post('check', { abi: ABI })).page;
  expect(known).toContain('For chains that index all transactions: polygon.');
  const form = { ...FORM, chain: 'polygon', calls: 'yes', upgrade: OWNER };
  const kept = (await post('check', form)).page;
  expect(kept).toMatch(/name="calls" value="yes" aria-describedby="calls-hint" checked/);
  expect(kept).toContain(`value="${OWNER}"`);
  expect((await post('add', form)).response.status).toBe(303);
  const [definition] = await readDefinitions(stage.database, 'vault');
  expect(definition?.tables.map(({ event, implementations }) => [event, implementations])).toEqual([
    ['deposit', [OWNER]],
    ['deposit_call', []],
    ['upgraded', [OWNER]],
  ]);
  const changed = JSON.stringify([{ ...JSON.parse(ABI)[0], inputs: [{ name: 'owner', type: 'address' }] }]);
  const again = {
    ...form,
    abi: changed,
    events: 'Deposit(address)',
    index: '',
    calls: '',
    upgrade: '18000000:57',
  };
  expect((await post('add', again)).response.status).toBe(303);
  expect(await listAudit(stage.database, null, 2)).toMatchObject([
    { action: 'contract.add', id: visitor.prefix, door: 'console', details: { upgrade: '18000000:57' } },
    {
      action: 'contract.add',
      details: { implementation: OWNER, events: ['deposit', 'deposit_call', 'upgraded'] },
    },
  ]);
  expect((await post('remove', { name: 'vault', chain: 'polygon' })).response.status).toBe(303);
});

test('refuses calls if no chain indexes all transactions', () => {
  const view = contractFormView({
    form: EMPTY_CONTRACT,
    events: [DEPOSIT],
    problem: null,
    chains: [eth],
    source: null,
    token: '',
  });
  expect(String(view)).toMatch(/name="calls" value="yes" aria-describedby="calls-hint" +disabled/);
  expect(String(view)).toContain(
    'Refused: no chain here indexes all transactions. Set TRANSACTIONS_&lt;CHAIN&gt;=all.',
  );
});

test('shows no event of a contract that was removed', async () => {
  for (const path of [
    'vault?chain=eth',
    'vault/deposit?chain=eth',
    'vault/deposit/csv?chain=eth',
    'vault/deposit?chain=base',
    '..%2f/x?chain=eth',
  ]) {
    const response = await stage.get(`/console/contracts/${path}`, visitor);
    expect([path, response.status >= 400 && response.status < 500]).toEqual([path, true]);
  }
});
