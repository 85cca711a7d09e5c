import { createChainRegistry } from '@chainstead/chains';
import { addContract, removeContract, suspendLargeContracts } from '@chainstead/contracts';
import { parseAddress } from '@chainstead/core';
import { madeForFile, scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { readStreamOverview } from '../records/stream-overviews.ts';
import {
  type AnsweredStream,
  clientOf,
  exampleServices,
  exampleStreamApi,
} from './testing/example-stream-api.ts';

const scratch = scratchOfFile();
const services = exampleServices();
const app = madeForFile(() => exampleStreamApi(scratch.database, services));
const ask = clientOf(app);
const registry = createChainRegistry();
const event = (name: string, ...types: readonly string[]) => ({
  ...{ type: 'event', name },
  inputs: types.map((type, index) => ({ name: `value${index}`, type })),
});

async function add(name: string, key: string, abi: readonly object[]): Promise<void> {
  await addContract(scratch.database, {
    ...{ name, abi, chain: registry.get(key), addresses: [parseAddress(`0x${'c0'.repeat(20)}`)] },
    ...{ factory: null, firstBlock: 1, events: null, indexed: [] },
  });
}

beforeAll(async () => {
  const overloads = [event('Sent', 'uint256'), event('Sent', 'address')];
  await add('vault', 'eth', [event('Deposit', 'uint256'), event('Withdraw', 'uint256'), ...overloads]);
  await add('bridge', 'base', [event('Moved', 'uint256')]);
  await add('bridge', 'gnosis', [event('Moved', 'uint256')]);
  await add(
    'large',
    'eth',
    Array.from({ length: 14 }, (_, index) => event(`E${index}`, 'uint256')),
  );
});

let count = 0;
const stream = (given: object) => ({
  ...{ webhookUrl: 'https://example.com/webhook', description: `Stream ${++count}`, chainIds: ['0x1'] },
  ...{ includeContractLogs: true, ...given },
});
type RefusedName = readonly [place: string, message: string, value: unknown];
const refusal = (...problems: readonly RefusedName[]) => ({
  message: 'Validation Failed',
  details: Object.fromEntries(
    problems.map(([place, message, value]) => [`requestBody.contracts${place}`, { message, value }]),
  ),
});

const UNKNOWN = 'is no indexed contract: GET /api/v2.2/contracts lists their names';
const OF_VAULT = 'is no event of vault, which has Deposit, Withdraw, Sent';
const OF_LARGE = 'is no event of large, which has E0, E1, E2, E3, E4, E5, E6, E7, E8, E9, 4 more';
const ELSEWHERE = 'is not indexed on a chain of the stream: bridge is on gnosis, base';

/** Names, and messages by position. */
type RefusedNames = readonly [contracts: readonly string[], messages: Readonly<Record<number, string>>];
const REFUSED: readonly (readonly [title: string, ...RefusedNames])[] = [
  ['an unknown name', ['vualt'], { 0: UNKNOWN }],
  ['an unknown name with an event', ['vualt.Deposit'], { 0: UNKNOWN }],
  ['an empty name', ['vault', ''], { 1: UNKNOWN }],
  ['letters in another case', ['Vault'], { 0: UNKNOWN }],
  ['a name of a table', ['contracts.vault_deposit'], { 0: UNKNOWN }],
  ['a member of every object', ['__proto__', 'constructor.name'], { 0: UNKNOWN, 1: UNKNOWN }],
  ['SQL', ["vault' OR 1=1 --"], { 0: UNKNOWN }],
  ['an unknown event', ['vault.Deposited'], { 0: OF_VAULT }],
  ['an event without a name', ['vault.'], { 0: OF_VAULT }],
  ['an event with its types', ['vault.Deposit(uint256)'], { 0: OF_VAULT }],
  ['an event of another contract', ['vault.Moved'], { 0: OF_VAULT }],
  ['a contract with many events', ['large.Moved'], { 0: OF_LARGE }],
  ['a contract of other chains', ['vault', 'bridge.Moved'], { 1: ELSEWHERE }],
];

describe('a stream is refused for', () => {
  test.each(REFUSED)('%s', async (_title, contracts, messages) => {
    const problems = Object.entries(messages).map(
      ([index, message]): RefusedName => [`.$${index}`, message, contracts[Number(index)]],
    );
    const before = services.tested.length;
    const created = await ask('PUT', '/streams/evm', stream({ contracts }));
    expect([created.status, created.body]).toEqual([400, refusal(...problems)]);
    expect(services.tested.length).toBe(before);
    const preview = await ask('POST', '/streams/evm/0x1/block/5', { includeContractLogs: true, contracts });
    expect([preview.status, preview.body]).toEqual([400, refusal(...problems)]);
  });

  test.each([
    [
      'contracts without logs',
      { contracts: ['vault'], includeContractLogs: false, includeNativeTxs: true },
      ['', 'needs includeContractLogs', ['vault']],
    ],
    ['no list', { contracts: 'vault' }, ['', 'invalid array', 'vault']],
    ['no text', { contracts: [1] }, ['.$0', 'invalid string value', 1]],
    ['a long name', { contracts: ['a'.repeat(101)] }, ['.$0', 'maxLength 100', 'a'.repeat(101)]],
  ] as const)('%s', async (_title, given, problem) => {
    const { status, body } = await ask('PUT', '/streams/evm', stream(given));
    expect([status, body]).toEqual([400, refusal(problem)]);
  });

  test('more than 100 names', async () => {
    const contracts = Array.from({ length: 101 }, () => 'vault');
    const { status, body } = await ask('PUT', '/streams/evm', stream({ contracts }));
    expect([status, body]).toMatchObject([
      400,
      { details: { 'requestBody.contracts': { message: 'maxItems 100' } } },
    ]);
  });
});

describe('a stream', () => {
  const create = async (given: object): Promise<AnsweredStream> => {
    const { status, body } = await ask<AnsweredStream>('PUT', '/streams/evm', stream(given));
    expect(status).toBe(200);
    return body;
  };
  const messageOf = async (id: string) =>
    (await ask<AnsweredStream>('GET', `/streams/evm/${id}`)).body.statusMessage;

  test('names contracts and events, in the ABI or in paths', async () => {
    const contracts = ['vault', 'vault.Deposit', 'vault.deposit', 'vault.Sent', 'vault.sent_2'];
    expect(await create({ contracts })).toMatchObject({ contracts, statusMessage: 'Stream is active' });
  });

  test('may have contracts of any of its chains, and none after null', async () => {
    const { id } = await create({ contracts: ['vault', 'bridge'], chainIds: ['0x1', '0x2105'] });
    const cleared = await ask('POST', `/streams/evm/${id}`, { contracts: null });
    expect(cleared.body).toMatchObject({ contracts: null });
  });

  test('shows contracts without matches in its status, and may be changed in other ways', async () => {
    await add('gone', 'eth', [event('Used', 'uint256')]);
    const { id } = await create({ contracts: ['gone', 'gone.Used', 'vault'] });
    await removeContract(scratch.database, 'gone', registry.get('eth').id);
    const message = 'Stream is active. Contracts without matches, because they are not indexed: gone, gone.Used';
    expect(await messageOf(id)).toBe(message);
    const changed = await ask('POST', `/streams/evm/${id}`, { tag: 'other' });
    expect(changed).toMatchObject({ status: 200, body: { tag: 'other', statusMessage: message } });
    const listed = await ask<{ result: AnsweredStream[] }>('GET', '/streams/evm?limit=100');
    expect(listed.body.result.find((one) => one.id === id)?.statusMessage).toBe(message);
    expect((await readStreamOverview(scratch.database, id))?.statusMessage).toBe(message);
    const paused = await ask('POST', `/streams/evm/${id}/status`, { status: 'paused' });
    expect(paused.body).toMatchObject({ statusMessage: 'Stream was paused by the user' });
    await ask('POST', `/streams/evm/${id}/status`, { status: 'active' });
    await add('gone', 'eth', [event('Used', 'uint256')]);
    expect(await messageOf(id)).toBe('Stream is active');
    // A name that it did not have is checked.
    const { status } = await ask('POST', `/streams/evm/${id}`, { contracts: ['gone', 'missing'] });
    expect(status).toBe(400);
  });

  test('shows suspended contracts in its status', async () => {
    await add('full', 'eth', [event('Used', 'uint256')]);
    const { id } = await create({ contracts: ['full', 'vault'] });
    // A table without rows has no bytes.
    await suspendLargeContracts(scratch.database, registry.get('eth'), -1);
    expect(await messageOf(id)).toBe(
      'Stream is active. Contracts without matches, because they are suspended: full, vault',
    );
  });
});
