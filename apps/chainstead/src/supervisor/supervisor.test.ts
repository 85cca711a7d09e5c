import { type Clock, restartDelayMs, silentLogger } from '@chainstead/core';
import { describe, expect, it, vi } from 'vitest';
import type { RoleName } from '../configuration/index.ts';
import type { RoleExit, RoleProcessHandle, RoleReady } from './role-process-handle.ts';
import { createSupervisor, RoleFailedError } from './supervisor.ts';

describe('supervisor', () => {
  it('tells at a stop which roles are still finishing their work', async () => {
    const world = createWorld();
    const supervisor = world.supervise(['api', 'ingest', 'worker']);
    supervisor.stop();
    world.process('api').end({ code: 0, signal: null });
    await vi.waitFor(() => expect(world.finishings).toHaveLength(2));
    world.process('worker').end({ code: 0, signal: null });
    await vi.waitFor(() => expect(world.finishings).toHaveLength(3));
    world.process('ingest').end({ code: 0, signal: null });
    await supervisor.finished;
    expect(world.finishings).toEqual([['api', 'ingest', 'worker'], ['ingest', 'worker'], ['ingest']]);
  });

  it('is ready when every role is', async () => {
    const world = createWorld();
    const supervisor = world.supervise(['api', 'ingest']);
    world.process('api').becomeReady('http://127.0.0.1:1');
    world.process('ingest').becomeReady(null);
    expect(await supervisor.ready).toEqual([
      { role: 'api', address: 'http://127.0.0.1:1' },
      { role: 'ingest', address: null },
    ]);
  });

  it('starts a crashed role again, later each time, and leaves the others alone', async () => {
    const world = createWorld();
    world.supervise(['api', 'ingest']);
    for (const delayMs of [500, 1_000, 2_000]) {
      const before = world.launched.length;
      world.process('ingest').end({ code: 1, signal: null });
      await world.sleepingFor(delayMs);
      expect(world.launched.length).toBe(before);
      world.advance(delayMs);
      await vi.waitFor(() => expect(world.launched.length).toBe(before + 1));
    }
    expect(world.launched.filter((process) => process.role === 'api')).toHaveLength(1);
  });

  it('counts a crash after a long life as the first', async () => {
    const world = createWorld();
    world.supervise(['ingest']);
    world.process('ingest').end({ code: 1, signal: null });
    await world.sleepingFor(500);
    world.advance(500);
    await vi.waitFor(() => expect(world.launched.length).toBe(2));
    world.advance(60_000);
    world.process('ingest').end({ code: null, signal: 'SIGKILL' });
    await world.sleepingFor(500);
  });

  it('gives up, and stops the others, when a role says that its configuration is wrong', async () => {
    const world = createWorld();
    const supervisor = world.supervise(['api', 'ingest']);
    world.process('ingest').endsWhenAsked();
    world.process('api').end({ code: 2, signal: null });
    await expect(supervisor.finished).rejects.toThrow(RoleFailedError);
    await expect(supervisor.ready).rejects.toThrow(RoleFailedError);
    expect(world.process('ingest').stopped).toBe(true);
    expect(world.launched).toHaveLength(2);
  });

  it('stops all and finishes when all have ended', async () => {
    const world = createWorld();
    const supervisor = world.supervise(['api', 'worker']);
    world.process('api').endsWhenAsked();
    world.process('worker').endsWhenAsked();
    supervisor.stop();
    await supervisor.finished;
    expect(world.launched.map((process) => [process.stopped, process.killed])).toEqual([
      [true, false],
      [true, false],
    ]);
  });

  it('kills what has not stopped within the time', async () => {
    const world = createWorld();
    const supervisor = world.supervise(['api', 'worker']);
    world.process('api').endsWhenAsked();
    supervisor.stop();
    await world.sleepingFor(5_000);
    expect(world.process('worker').killed).toBe(false);
    world.advance(5_000);
    await supervisor.finished;
    expect(world.process('worker').killed).toBe(true);
    expect(world.process('api').killed).toBe(false);
  });

  it('stops at once while a role waits for its restart', async () => {
    const world = createWorld();
    const supervisor = world.supervise(['api']);
    world.process('api').end({ code: 1, signal: null });
    await world.sleepingFor(500);
    supervisor.stop();
    await supervisor.finished;
    expect(world.launched).toHaveLength(1);
  });
});

describe('restartDelayMs', () => {
  it.each([
    [1, 500],
    [2, 1_000],
    [6, 16_000],
    [7, 30_000],
    [1_000, 30_000],
  ])('after %i crashes is %i ms', (crashes, ms) => {
    expect(restartDelayMs(crashes)).toBe(ms);
  });
});

/** A process that does only what the test says. */
function scriptedProcess(role: RoleName) {
  const ready = Promise.withResolvers<RoleReady>();
  const exited = Promise.withResolvers<RoleExit>();
  let asked = false;
  const process = {
    role,
    pid: 1,
    ready: ready.promise,
    exited: exited.promise,
    stopped: false,
    killed: false,
    stop() {
      process.stopped = true;
      if (asked) exited.resolve({ code: 0, signal: null });
    },
    kill() {
      process.killed = true;
      exited.resolve({ code: null, signal: 'SIGKILL' });
    },
    becomeReady: (address: string | null) => ready.resolve({ role, address }),
    end: (exit: RoleExit) => exited.resolve(exit),
    endsWhenAsked() {
      asked = true;
    },
  };
  return process satisfies RoleProcessHandle;
}

function createWorld() {
  const launched: ReturnType<typeof scriptedProcess>[] = [];
  const finishings: RoleName[][] = [];
  const sleepers: { until: number; ms: number; wake: () => void }[] = [];
  let now = 0;
  const clock: Clock = {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        sleepers.push({ until: now + ms, ms, wake: resolve });
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      }),
  };
  return {
    launched,
    process(role: RoleName) {
      const process = launched.findLast((candidate) => candidate.role === role);
      if (process === undefined) throw new Error(`${role} was not launched`);
      return process;
    },
    supervise: (roles: readonly RoleName[]) =>
      createSupervisor({
        roles,
        launch(role) {
          const process = scriptedProcess(role);
          launched.push(process);
          return process;
        },
        clock,
        logger: silentLogger(),
        stopTimeoutMs: 5_000,
        onFinishing: (finishing) => finishings.push([...finishing]),
      }),
    finishings,
    sleepingFor: (ms: number) =>
      vi.waitFor(() => expect(sleepers.some((sleeper) => sleeper.until === now + ms && sleeper.ms === ms)).toBe(true)),
    advance(ms: number) {
      now += ms;
      for (const sleeper of sleepers) if (sleeper.until <= now) sleeper.wake();
    },
  };
}
