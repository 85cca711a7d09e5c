import { createChainRegistry } from '@chainstead/chains';
import { afterEach, expect, test } from 'vitest';
import type { HandleCall, LeaveSignal } from '../call.ts';
import { unavailable } from '../protocol/rpc-errors.ts';
import { fourCallsOf } from '../testing/four-calls.ts';
import { type GatewayStage, result, type StageOptions, startGatewayStage } from '../testing/gateway-stage.ts';
import type { CallDirectly } from './call-directly.ts';

const stages: GatewayStage[] = [];
afterEach(async () => {
  for (const stage of stages.splice(0)) await stage.close();
});

const registry = createChainRegistry();
const CALL = {
  chain: registry.get('eth'),
  method: 'eth_getBalance',
  params: [`0x${'11'.repeat(20)}`, 'latest'],
  keyId: 'a key',
  timeoutMs: 5_000,
  bytesMax: 1_000,
};

async function callOver(answer: HandleCall, options: Partial<StageOptions> = {}): Promise<CallDirectly> {
  const stage = await startGatewayStage({ answer, ...options });
  stages.push(stage);
  return stage.gateway.call;
}

async function* inPieces(...pieces: readonly string[]): AsyncGenerator<Buffer> {
  for (const piece of pieces) yield Buffer.from(piece);
}

test('a result is given parsed, whether it comes whole or in pieces', async () => {
  const whole = await callOver(({ method, params }) => result([method.name, ...params]));
  expect(await whole(CALL)).toEqual({ kind: 'result', value: [CALL.method, ...CALL.params] });
  const pieces = await callOver(() => ({ ok: true, result: inPieces('{"a":', '1}'), cached: false }));
  expect(await pieces(CALL)).toEqual({ kind: 'result', value: { a: 1 } });
});

test('a longer result than is of use is not read to its end', async () => {
  let given = 0;
  async function* endless(): AsyncGenerator<Buffer> {
    for (;;) {
      given += 1;
      yield Buffer.alloc(300);
    }
  }
  const call = await callOver(() => ({ ok: true, result: endless(), cached: false }));
  expect(await call(CALL)).toEqual({ kind: 'too-long' });
  expect(given).toBe(4);
  const whole = await callOver(() => result('x'.repeat(1_000)));
  expect(await whole(CALL)).toEqual({ kind: 'too-long' });
});

test('the node’s own error is told apart from an outage', async () => {
  const error = { code: -32_603, message: 'execution reverted', data: '0x' };
  const reverting = await callOver(() => ({ ok: false, error }));
  expect(await reverting(CALL)).toEqual({ kind: 'error', error });
  const away = await callOver(() => ({ ok: false, error: unavailable('eth') }));
  expect(await away(CALL)).toEqual({ kind: 'unavailable' });
  const unstarted = await callOver(() => result(1), {
    startPool: () => Promise.reject(new Error('no upstream')),
  });
  expect(await unstarted(CALL)).toEqual({ kind: 'unavailable' });
});

test('what takes too long is given up', async () => {
  let signal: LeaveSignal | undefined;
  const call = await callOver((_call, scope) => {
    signal = scope.signal;
    return new Promise(() => {});
  });
  expect(await call({ ...CALL, timeoutMs: 30 })).toEqual({ kind: 'unavailable' });
  expect(signal?.aborted).toBe(true);
});

test('it is taken from the rate of its key', async () => {
  const call = await callOver(() => result(1), { limits: fourCallsOf(CALL.method) });
  const kinds = [];
  for (let made = 0; made < 5; made++) kinds.push((await call(CALL)).kind);
  expect(kinds).toEqual(['result', 'result', 'result', 'result', 'rate-limited']);
  expect(await call({ ...CALL, keyId: 'another key' })).toEqual({ kind: 'result', value: 1 });
});

test('a chain that the gateway does not offer is none', async () => {
  const call = await callOver(() => result(1));
  expect(await call({ ...CALL, chain: registry.get('polygon') })).toEqual({ kind: 'not-offered' });
});
