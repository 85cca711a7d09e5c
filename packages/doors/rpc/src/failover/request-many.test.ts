import { expect, test } from 'vitest';
import { errorOf, node, startedPool } from '../testing/test-pool.ts';

const BALANCE = 'eth_getBalance';
const paramsOf = (count: number) => Array.from({ length: count }, (_, index) => [`0x${index}`, 'latest']);
/** Responds to each call with its first parameter. */
const echo = ({ method, params }: { method: string; params: readonly unknown[] }) =>
  method === BALANCE ? { result: params[0] } : undefined;

test('many calls are answered in their order, in few requests', async () => {
  const one = await node(100);
  one.script = echo;
  const pool = await startedPool([one]);
  const answers = await pool.requestMany(BALANCE, paramsOf(250));
  expect(answers.map(({ value }) => value)).toEqual(paramsOf(250).map(([first]) => first));
  expect(new Set(answers.map(({ upstream }) => upstream))).toEqual(new Set([one.name]));
  expect(one.received.filter(({ method }) => method === BALANCE).every(({ batch }) => batch > 1)).toBe(true);
  expect(await pool.requestMany(BALANCE, [])).toEqual([]);
});

test('what one upstream does not answer is asked of another, the rest is not', async () => {
  const [one, two] = [await node(100), await node(100)];
  one.script = (call) => (call.params[0] === '0x3' ? { error: { code: -32603, message: 'oops' } } : echo(call));
  two.script = (call) =>
    call.method === BALANCE && call.params[0] !== '0x3'
      ? { error: { code: -32603, message: 'oops' } }
      : echo(call);
  const pool = await startedPool([one, two]);
  const answers = await pool.requestMany(BALANCE, paramsOf(5));
  expect(answers.map(({ value }) => value)).toEqual(['0x0', '0x1', '0x2', '0x3', '0x4']);
});

test('a null is asked of every upstream before it is believed', async () => {
  const [one, two] = [await node(100), await node(100)];
  const transaction = 'eth_getTransactionByHash';
  const known = (hashes: readonly string[]) => (call: { method: string; params: readonly unknown[] }) =>
    call.method === transaction ? { result: hashes.find((hash) => hash === call.params[0]) ?? null } : undefined;
  one.script = known(['0xa']);
  two.script = known(['0xb']);
  const pool = await startedPool([one, two]);
  const answers = await pool.requestMany(transaction, [['0xa'], ['0xb'], ['0xc']]);
  expect(answers.map(({ value }) => value)).toEqual(['0xa', '0xb', null]);
});

test('an error of the call itself is passed on', async () => {
  const one = await node(100);
  one.script = ({ method }) =>
    method === BALANCE ? { error: { code: -32602, message: 'invalid argument 1' } } : undefined;
  const pool = await startedPool([one]);
  expect(await errorOf(pool.requestMany(BALANCE, paramsOf(3)))).toMatchObject({
    code: 'RPC_CALL',
    disputable: true,
  });
});

test('says where nobody keeps what is asked for', async () => {
  const [one, two] = [await node(100), await node(100)];
  const pruned = { error: { code: -32000, message: 'historical state 1b3f is not available' } };
  one.script = ({ method }) => (method === BALANCE ? pruned : undefined);
  two.script = one.script;
  const pool = await startedPool([one, two]);
  expect(await errorOf(pool.requestMany(BALANCE, paramsOf(2)))).toMatchObject({ isPruned: true });
  expect(await errorOf(pool.request(BALANCE, ['0x1', '0x5']))).toMatchObject({ isPruned: true });
  two.script = ({ method }) => (method === BALANCE ? { error: { code: -32603, message: 'oops' } } : undefined);
  expect(await errorOf(pool.request(BALANCE, ['0x1', '0x5']))).toMatchObject({ isPruned: false });
});
