import { type Clock, createMetricsRegistry, restartDelayMs, silentLogger } from '@chainstead/core';
import { describe, expect, it, vi } from 'vitest';
import type { RoleName } from '../configuration/index.ts';
import type { StopOptions } from '../roles/role.ts';
import { type RoleSlot, slotName } from '../shares/role-slot.ts';
import {
  createSupervisor,
  createSupervisorMetrics,
  type RoleExit,
  RoleFailedError,
  type RoleProcessHandle,
  type RoleReady,
} from './supervisor.ts';

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

  it('counts what runs and what it started again', async () => {
    const world = createWorld();
    world.supervise(['api', 'ingest']);
    const counted = () => world.registry.metrics();
    expect(await counted()).toContain('chainstead_role_restarts_total{child_role="ingest"} 0\n');
    world.process('ingest').end({ code: 1, signal: null });
    await world.sleepingFor(500);
    expect(await counted()).toContain('chainstead_role_processes{child_role="ingest"} 0\n');
    world.advance(500);
    await vi.waitFor(() => expect(world.launched.length).toBe(3));
    const text = await counted();
    expect(text).toContain('chainstead_role_restarts_total{child_role="ingest"} 1\n');
    expect(text).toContain('chainstead_role_restarts_total{child_role="api"} 0\n');
    for (const role of ['api', 'ingest'])
      expect(text).toContain(`chainstead_role_processes{child_role="${role}"} 1\n`);
  });

  it('gives up, and stops the others, when a role says that its configuration is wrong', async () => {
    const world = createWorld();
    const supervisor = world.supervise(['api', 'ingest']);
    world.process('ingest').endsWhenRequested();
    world.process('api').end({ code: 2, signal: null });
    await expect(supervisor.finished).rejects.toThrow(RoleFailedError);
    await expect(supervisor.ready).rejects.toThrow(RoleFailedError);
    expect(world.process('ingest').stopped).not.toBeNull();
    expect(world.launched).toHaveLength(2);
  });

  it('stops all and finishes when all have ended', async () => {
    const world = createWorld();
    const supervisor = world.supervise(['api', 'worker']);
    world.process('api').endsWhenRequested();
    world.process('worker').endsWhenRequested();
    supervisor.stop();
    await supervisor.finished;
    expect(world.launched.map((process) => [process.stopped, process.killed])).toEqual([
      [{}, false],
      [{}, false],
    ]);
  });

  it('kills what has not stopped within the time', async () => {
    const world = createWorld();
    const supervisor = world.supervise(['api', 'worker']);
    world.process('api').endsWhenRequested();
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

describe('a role with several processes', () => {
  it('is ready when each of them is, and tells at a stop the role once', async () => {
    const world = createWorld();
    const supervisor = world.supervise(['ingest'], { api: 2 });
    const [first, second] = world.launched.filter(({ role }) => role === 'api');
    let isReady = false;
    void supervisor.ready.then(() => {
      isReady = true;
    });
    world.process('ingest').becomeReady(null);
    first?.becomeReady('http://127.0.0.1:1');
    await vi.waitFor(() => expect(world.launched).toHaveLength(3));
    expect(isReady).toBe(false);
    second?.becomeReady('http://127.0.0.1:1');
    await supervisor.ready;
    supervisor.stop();
    expect(world.finishings).toEqual([['ingest', 'api']]);
  });

  it('has a crashed one started again by itself, at its place', async () => {
    const world = createWorld();
    world.supervise([], { api: 3 });
    expect(world.launched.map(({ name }) => name)).toEqual(['api-1', 'api-2', 'api-3']);
    world.launched[1]?.end({ code: null, signal: 'SIGKILL' });
    await world.sleepingFor(500);
    world.advance(500);
    await vi.waitFor(() => expect(world.launched).toHaveLength(4));
    expect(world.launched[3]?.name).toBe('api-2');
  });
});

describe('replacing', () => {
  /** Two of the API and one of ingest, all at work. */
  async function working() {
    const world = createWorld();
    const supervisor = world.supervise(['ingest'], { api: 2 });
    for (const process of world.launched) process.becomeReady(null);
    await supervisor.ready;
    return { world, supervisor };
  }
  /** Names of those at work, oldest first. */
  const atWork = ({ launched }: ReturnType<typeof createWorld>) =>
    launched.filter(({ isOver }) => !isOver()).map(({ name }) => name);

  it('puts a fresh process in each place, one after the other, each at work before the old one is asked to end', async () => {
    const { world, supervisor } = await working();
    const [, first, second] = world.launched;
    const done = supervisor.replace('api');
    await vi.waitFor(() => expect(world.launched).toHaveLength(4));
    expect([world.launched[3]?.name, first?.stopped]).toEqual(['api-1', null]);
    world.launched[3]?.becomeReady(null);
    await vi.waitFor(() => expect(first?.stopped).toEqual({ idleGraceMs: 3_000 }));
    // The next one waits for the end of this one.
    expect(world.launched).toHaveLength(4);
    first?.end({ code: 0, signal: null });
    await vi.waitFor(() => expect(world.launched).toHaveLength(5));
    expect(second?.stopped).toBeNull();
    world.launched[4]?.becomeReady(null);
    await vi.waitFor(() => expect(second?.stopped).not.toBeNull());
    second?.end({ code: 0, signal: null });
    await done;
    expect(atWork(world)).toEqual(['ingest', 'api-1', 'api-2']);
    // None of that was a crash.
    expect(world.launched).toHaveLength(5);
  });

  it('kills an old process that does not end in time', async () => {
    const { world, supervisor } = await working();
    const done = supervisor.replace('ingest');
    await vi.waitFor(() => expect(world.launched).toHaveLength(4));
    world.launched[3]?.becomeReady(null);
    await world.sleepingFor(5_000);
    world.advance(5_000);
    await done;
    expect(world.launched[0]?.killed).toBe(true);
    expect(atWork(world)).toEqual(['api-1', 'api-2', 'ingest']);
  });

  it.each([1, 2])(
    'ends with a fresh process that ends before it works (exit code %i): the old ones go on',
    async (code) => {
      const { world, supervisor } = await working();
      const done = supervisor.replace('api');
      await vi.waitFor(() => expect(world.launched).toHaveLength(4));
      world.launched[3]?.end({ code, signal: null });
      await done;
      expect(atWork(world)).toEqual(['ingest', 'api-1', 'api-2']);
      expect(world.launched.every(({ stopped }) => stopped === null)).toBe(true);
      // A crash of the old one is answered as ever.
      world.launched[1]?.end({ code: 1, signal: null });
      await world.sleepingFor(500);
    },
  );

  it('lets the fresh process go on where the old one crashes meanwhile', async () => {
    const { world, supervisor } = await working();
    const done = supervisor.replace('ingest');
    await vi.waitFor(() => expect(world.launched).toHaveLength(4));
    world.launched[0]?.end({ code: 1, signal: null });
    world.launched[3]?.becomeReady(null);
    await done;
    expect(atWork(world)).toEqual(['api-1', 'api-2', 'ingest']);
    world.launched[3]?.end({ code: 1, signal: null });
    await world.sleepingFor(500);
  });

  it('is done once more where it is asked for meanwhile, however often', async () => {
    const { world, supervisor } = await working();
    const done = supervisor.replace('ingest');
    await supervisor.replace('ingest');
    await supervisor.replace('ingest');
    for (const [old, fresh] of [
      [0, 3],
      [3, 4],
    ] as const) {
      await vi.waitFor(() => expect(world.launched).toHaveLength(fresh + 1));
      world.launched[fresh]?.becomeReady(null);
      await vi.waitFor(() => expect(world.launched[old]?.stopped).not.toBeNull());
      world.launched[old]?.end({ code: 0, signal: null });
    }
    await done;
    expect(atWork(world)).toEqual(['api-1', 'api-2', 'ingest']);
  });

  it('is over at a stop, which ends the fresh process too', async () => {
    const { world, supervisor } = await working();
    const done = supervisor.replace('api');
    await vi.waitFor(() => expect(world.launched).toHaveLength(4));
    for (const process of world.launched) process.endsWhenRequested();
    supervisor.stop();
    await Promise.all([supervisor.finished, done]);
    expect(atWork(world)).toEqual([]);
    expect(world.launched).toHaveLength(4);
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
function scriptedProcess(slot: RoleSlot) {
  const { role } = slot;
  const ready = Promise.withResolvers<RoleReady>();
  const exited = Promise.withResolvers<RoleExit>();
  let requested = false;
  let over = false;
  const end = (exit: RoleExit): void => {
    over = true;
    exited.resolve(exit);
  };
  const process = {
    role,
    name: slotName(slot),
    pid: 1,
    ready: ready.promise,
    exited: exited.promise,
    /** With what it was asked to stop; null: it was not. */
    stopped: null as StopOptions | null,
    killed: false,
    isOver: () => over,
    stop(options: StopOptions = {}) {
      process.stopped = options;
      if (requested) end({ code: 0, signal: null });
    },
    kill() {
      process.killed = true;
      end({ code: null, signal: 'SIGKILL' });
    },
    becomeReady: (address: string | null) => ready.resolve({ role, address }),
    end,
    endsWhenRequested() {
      requested = true;
    },
  };
  return process satisfies RoleProcessHandle;
}

function createWorld() {
  const launched: ReturnType<typeof scriptedProcess>[] = [];
  const finishings: RoleName[][] = [];
  const registry = createMetricsRegistry();
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
    registry,
    process(role: RoleName) {
      const process = launched.findLast((candidate) => candidate.role === role);
      if (process === undefined) throw new Error(`${role} was not launched`);
      return process;
    },
    /** @param several roles with more than one process, after the others */
    supervise: (roles: readonly RoleName[], several: Readonly<Partial<Record<RoleName, number>>> = {}) =>
      createSupervisor({
        slots: [
          ...roles.map((role) => ({ role, number: 1, of: 1 })),
          ...Object.entries(several).flatMap(([role, of]) =>
            Array.from({ length: of }, (_, index) => ({ role: role as RoleName, number: index + 1, of })),
          ),
        ],
        launch(slot) {
          const process = scriptedProcess(slot);
          launched.push(process);
          return process;
        },
        clock,
        logger: silentLogger(),
        metrics: createSupervisorMetrics(registry),
        stopTimeoutMs: 5_000,
        onFinishing: (finishing) => finishings.push([...finishing]),
      }),
    finishings,
    sleepingFor: (ms: number) =>
      vi.waitFor(() =>
        expect(sleepers.some((sleeper) => sleeper.until === now + ms && sleeper.ms === ms)).toBe(true),
      ),
    advance(ms: number) {
      now += ms;
      for (const sleeper of sleepers) if (sleeper.until <= now) sleeper.wake();
    },
  };
}
