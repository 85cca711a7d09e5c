import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { listenForSignals } from './process-signals.ts';

/** What of a process signals come from. */
function signalled(): NodeJS.Process {
  const emitter = new EventEmitter();
  return Object.assign(Object.create(process), {
    on: emitter.on.bind(emitter),
    emit: emitter.emit.bind(emitter),
    channel: undefined,
  });
}

describe('SIGINT', () => {
  it('stops in order, also when npx passes the same keypress on, and ends the process at the next one', () => {
    const process = signalled();
    const exits: unknown[] = [];
    process.exit = (code): never => {
      exits.push(code);
      throw new Error('The process ended');
    };
    let time = 1_000;
    const { stopSignal } = listenForSignals(process, true, () => time);
    process.emit('SIGINT');
    time += 30;
    process.emit('SIGINT');
    expect([exits, stopSignal.aborted]).toEqual([[], true]);
    time += 1_000;
    expect(() => process.emit('SIGINT')).toThrow('The process ended');
    expect(exits).toEqual([130]);
  });
});

describe('SIGHUP', () => {
  it('asks for fresh processes while somebody listens for it, and for the stop afterwards', () => {
    const process = signalled();
    const { stopSignal, onReload } = listenForSignals(process, false);
    let reloads = 0;
    const end = onReload(() => {
      reloads += 1;
    });
    process.emit('SIGHUP');
    process.emit('SIGHUP');
    expect([reloads, stopSignal.aborted]).toEqual([2, false]);
    end();
    process.emit('SIGHUP');
    expect([reloads, stopSignal.aborted]).toEqual([2, true]);
  });

  it('is a stop where a terminal was closed', () => {
    const process = signalled();
    const { stopSignal, onReload } = listenForSignals(process, true);
    onReload(() => expect.unreachable());
    process.emit('SIGHUP');
    expect(stopSignal.aborted).toBe(true);
  });
});
