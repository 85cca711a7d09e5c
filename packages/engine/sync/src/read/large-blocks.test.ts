import { expect, it } from 'vitest';
import { holdLargeBlock } from './large-blocks.ts';

it('holds one large block of the process at a time, in order', async () => {
  const signal = new AbortController().signal;
  const held: number[] = [];
  const endFirst = await holdLargeBlock(signal);
  const others = [1, 2].map(async (number) => {
    const end = await holdLargeBlock(signal);
    held.push(number);
    return end;
  });
  await new Promise(setImmediate);
  expect(held).toEqual([]);
  endFirst();
  const endSecond = await others[0];
  expect(held).toEqual([1]);
  endSecond?.();
  (await others[1])?.();
  expect(held).toEqual([1, 2]);
});

it('waits no longer once the signal aborts', async () => {
  const end = await holdLargeBlock(new AbortController().signal);
  const controller = new AbortController();
  const waiting = holdLargeBlock(controller.signal);
  controller.abort(new Error('stopped'));
  await expect(waiting).rejects.toThrow('stopped');
  end();
  (await holdLargeBlock(new AbortController().signal))();
});
