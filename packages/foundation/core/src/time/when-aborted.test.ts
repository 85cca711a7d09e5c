import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test, vi } from 'vitest';
import { whenAborted } from './clock.ts';

test('calls back when the signal aborts, once, and not after its end', () => {
  const signalling = new AbortController();
  const [called, ended] = [vi.fn(), vi.fn()];
  whenAborted(signalling.signal, called);
  const end = whenAborted(signalling.signal, ended);
  expect(called).not.toHaveBeenCalled();
  end();
  end();
  signalling.abort();
  signalling.abort();
  expect(called).toHaveBeenCalledOnce();
  expect(ended).not.toHaveBeenCalled();
});

test('without a signal nothing is waited for', () => {
  const called = vi.fn();
  whenAborted(undefined, called)();
  expect(called).not.toHaveBeenCalled();
});

/** V8's minor garbage collection, under which old objects count as alive. */
function collectorOfNewObjects(): () => void {
  setFlagsFromString('--expose-gc');
  const collect: (options: { readonly type: 'minor' }) => void = runInNewContext('gc');
  return () => collect({ type: 'minor' });
}

/** Waits on the signal after an older listener that is in the old generation. @returns the object that it held */
function waitBeside(signal: AbortSignal, endOlder: () => void): WeakRef<object> {
  const held = { name: 'held' };
  const end = whenAborted(signal, () => expect(held).toBeNull());
  endOlder();
  end();
  return new WeakRef(held);
}

test('what was waited with is let go, also where somebody who waited before has grown old', async () => {
  const collect = collectorOfNewObjects();
  const { signal } = new AbortController();
  const endOlder = whenAborted(signal, () => undefined);
  for (let time = 0; time < 3; time++) collect();
  const waitedWith = waitBeside(signal, endOlder);
  await setImmediate();
  for (let time = 0; time < 3; time++) collect();
  expect(waitedWith.deref()).toBeUndefined();
});
