import { createChainRegistry } from '@chainstead/chains';
import { contractRoutes } from '@chainstead/contracts';
import { listAudit } from '@chainstead/http';
import { madeForFile, stageOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, expect, test } from 'vitest';
import { openConsoleStage } from '../../testing/console-stage.ts';
import { HOSTILE } from '../../testing/hostile-texts.ts';
import { scriptedFunctionRoute, scriptedSource } from './testing/scripted-node.ts';
import { OWNER, seedContract, VAULT } from './testing/seed-contract.ts';

const eth = createChainRegistry().get('eth');
const stage = stageOfFile(() =>
  openConsoleStage({
    explorer: { routes: [...contractRoutes, scriptedFunctionRoute()], abiSource: scriptedSource },
  }),
);
const visitor = madeForFile(() => stage.signIn());
beforeAll(() => seedContract(stage.database, eth));

const read = async (query: Readonly<Record<string, string>> = {}): Promise<string> => {
  const path = `/console/contracts/vault/read-contract?${new URLSearchParams({ chain: 'eth', ...query })}`;
  const response = await stage.get(path, visitor);
  expect(response.status).toBe(200);
  return (await response.text()).replaceAll('<wbr>', '');
};
const add = async (abi: string) => {
  const response = await stage.post(
    '/console/contracts/functions',
    { name: 'vault', chain: 'eth', abi },
    visitor,
  );
  return { status: response.status, page: await response.text() };
};
const POSITIONS = 'positions((int24,address),bool)';
const KEY = JSON.stringify({ lower: -5, holder: OWNER });

test('lists the view functions of the ABI that the contract was added with', async () => {
  const text = await read();
  const listed = [...text.matchAll(/<summary><code><bdi[^>]*>([^<]+)<\/bdi>/g)].map(([, signature]) => signature);
  expect(listed).toEqual(['totalAssets()', 'ownerOf(uint256)', 'note()', POSITIONS, 'refuse()']);
  expect(text).toContain(`name="address" type="text" value="${VAULT}"`);
  expect(text).toContain('Returns <bdi>(int24 lower, address holder)[] found, bytes4</bdi>');
  expect(await (await stage.get('/console/contracts/vault?chain=eth', visitor)).text()).toContain(
    'href="/console/contracts/vault/read-contract?chain=eth"',
  );
});

test.each<[string, Record<string, string>, string]>([
  ['totalAssets()', {}, '<dt>Result</dt><dd><code>7</code></dd>'],
  ['ownerOf(uint256)', { input0: '0x10' }, `href="/console/look-up/address/${OWNER}?chain=eth"><code>0x`],
  ['note()', { block: '5' }, '&lt;script&gt;'],
  [
    POSITIONS,
    { input0: KEY, input1: 'true' },
    `&quot;lower&quot;: &quot;-5&quot;,\n    &quot;holder&quot;: &quot;0x`,
  ],
  [POSITIONS, { input0: KEY, input1: 'true' }, '<dt>#1</dt><dd><code>0x80ac58cd</code></dd>'],
])('calls %s with %j', async (signature, values, shown) => {
  const text = await read({ function: signature, ...values });
  expect(text).toContain(shown);
  expect(text).not.toMatch(/<script>|<img|\u202e/);
  expect(text.match(/<details id="f\d" open>/g)).toHaveLength(1);
  for (const [name, value] of Object.entries(values))
    expect(text).toContain(`name="${name}" type="text" value="${value.replaceAll('"', '&quot;')}"`);
});

test.each<[Record<string, string>, string]>([
  [{ function: 'refuse()' }, 'execution reverted: Refused(&quot;&lt;script&gt;'],
  [{ function: 'ownerOf(uint256)', input0: 'seven' }, 'params.id must be a whole number'],
  [{ function: 'ownerOf(uint256)', input0: HOSTILE[1] ?? '' }, 'params.id must be a whole number'],
  [{ function: POSITIONS, input0: '[1', input1: 'true' }, 'params.key must be an object with lower, holder'],
  [{ function: POSITIONS, input0: KEY, input1: 'yes' }, 'params.1 must be true or false'],
  [{ function: 'totalAssets()', address: '0x12' }, '0x12 is no address (0x and 40 hexadecimal digits)'],
  [{ function: 'totalAssets()', block: 'soon' }, 'block must be a block number'],
  [{ function: HOSTILE[0] ?? '' }, 'The stored ABI has no view function &lt;script&gt;'],
])('refuses %j with the reason', async (query, reason) => {
  const text = await read(query);
  expect(text).toMatch(/class="problem" role="alert"/);
  expect(text).toContain(reason);
  expect(text).not.toMatch(/<script>|<img/);
});

test('adds functions of a pasted ABI, and replaces those with the same signature', async () => {
  const symbol = {
    type: 'function',
    name: 'symbol',
    stateMutability: 'view',
    inputs: [],
    outputs: [{ type: 'string' }],
  };
  const total = { ...symbol, name: 'totalAssets', outputs: [{ type: 'uint256', name: 'assets' }] };
  expect(await add(JSON.stringify({ abi: [symbol, total] }))).toMatchObject({ status: 303 });
  const text = await read({ function: 'totalAssets()' });
  expect(text).toContain('>symbol()</bdi></code>');
  expect(text).toContain('<dt>assets</dt><dd><code>7</code></dd>');
  expect(text).toContain('ownerOf(uint256)');
  expect(await listAudit(stage.database, null, 1)).toMatchObject([
    { action: 'contract.functions', target: 'vault', id: visitor.prefix, details: { chain_id: 1, functions: 2 } },
  ]);
});

test.each([
  ['', 'The ABI is not JSON'],
  ['[]', 'The ABI of vault has no view functions'],
  ['[{"type":"event","name":"A","inputs":[]}]', 'The ABI of vault has no view functions'],
  ['{"no":"abi"}', 'The ABI of vault has no view functions'],
  [`${'['.repeat(100)}${']'.repeat(100)}`, 'The ABI is too large'],
])('adds nothing from %j, and keeps it in the form', async (abi, problem) => {
  const { status, page } = await add(abi);
  expect([status, page]).toEqual([200, expect.stringContaining(problem)]);
  expect(/<textarea[^>]*>\n?([^<]*)</.exec(page)?.[1]).toBe(abi.replaceAll('"', '&quot;'));
});

test('knows no functions of another contract', async () => {
  const response = await stage.get('/console/contracts/nothing/read-contract?chain=eth', visitor);
  expect(response.status).toBe(404);
});

test('adds functions of an ABI that the source has, of any address', async () => {
  expect(await read()).toContain('Get the ABI from abis.example');
  const fields = { name: 'vault', chain: 'eth' };
  const from = async (address: string) => {
    const response = await stage.post('/console/contracts/functions/source', { ...fields, address }, visitor);
    return [response.status, await response.text()];
  };
  expect(await from(OWNER)).toEqual([
    200,
    expect.stringContaining('abis.example returned no ABI: &lt;script&gt;'),
  ]);
  expect(await from('0x1')).toEqual([200, expect.stringContaining('0x1 is no address')]);
  expect(await from(VAULT)).toEqual([303, '']);
  expect(await read()).toContain('fromSource()');
});
