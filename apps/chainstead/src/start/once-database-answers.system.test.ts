import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { type Clock, silentLogger } from '@chainstead/core';
import { DatabaseUnavailableError } from '@chainstead/db';
import { createScratchDatabase, startProgram } from '@chainstead/testkit';
import { describe, expect, it, onTestFinished } from 'vitest';
import { onceDatabaseAnswers } from './run-roles.ts';

const away = () => new DatabaseUnavailableError('is shutting down', '57P01', new Error('terminating connection'));

/** A clock without waits. */
function fastClock(): Clock & { readonly slept: number[] } {
  let now = 0;
  const slept: number[] = [];
  return {
    slept,
    now: () => now,
    async sleep(ms) {
      slept.push(ms);
      now += ms;
    },
  };
}

describe('a step of the start', () => {
  const optionsOf = (clock: Clock, signal = new AbortController().signal) => ({
    clock,
    signal,
    logger: silentLogger(),
  });
  const failing = (errors: readonly Error[]) => {
    const left = [...errors];
    return async () => {
      const error = left.shift();
      if (error !== undefined) throw error;
      return 'done';
    };
  };

  it('is done again, later each time, until the database is back', async () => {
    const clock = fastClock();
    const wrapped = new Error('Keys could not be read', { cause: away() });
    expect(await onceDatabaseAnswers(failing([away(), wrapped, away()]), optionsOf(clock))).toBe('done');
    expect(clock.slept).toEqual([500, 1_000, 2_000]);
  });

  it('fails after a minute with what failed last', async () => {
    const clock = fastClock();
    const always = async () => Promise.reject(away());
    await expect(onceDatabaseAnswers(always, optionsOf(clock))).rejects.toMatchObject({
      code: 'DATABASE_UNAVAILABLE',
    });
    expect(clock.now()).toBeGreaterThan(30_000);
    expect(clock.now()).toBeLessThanOrEqual(60_000);
  });

  it('fails at once with everything else, where it is told to stop, and where the first failure is final', async () => {
    const clock = fastClock();
    await expect(onceDatabaseAnswers(failing([new Error('wrong key')]), optionsOf(clock))).rejects.toThrow(
      'wrong key',
    );
    await expect(onceDatabaseAnswers(failing([away()]), optionsOf(clock, AbortSignal.abort()))).rejects.toThrow(
      'is shutting down',
    );
    const unreachable = { ...optionsOf(clock), isFinal: () => true };
    await expect(onceDatabaseAnswers(failing([away()]), unreachable)).rejects.toThrow('is shutting down');
    expect(clock.slept).toEqual([]);
  });
});

describe('chainstead start', () => {
  it('waits for a database that breaks off while it is brought up to date', async () => {
    const scratch = await createScratchDatabase({ migrated: false });
    const server = new URL(scratch.url);
    const restart = await openRestart({ host: server.hostname, port: Number(server.port) }, 'schema_migrations');
    server.port = String(restart.port);
    const program = startProgram(['start', '--roles', 'ingest'], { environment: { DATABASE_URL: server.href } });
    onTestFinished(async () => {
      program.signal('SIGKILL');
      await program.exited;
      await restart.close();
      await scratch.drop();
    });
    await program.waitFor(/Database unavailable, waiting for it/);
    await program.waitFor(/Chainstead runs: ingest/);
    expect(restart.restarts).toBe(1);
    program.signal('SIGINT');
    expect(await program.exited).toBe(0);
  });
});

/** Leads to a server that seems to restart at the first request for a text: connections end, and none is accepted for a second. */
async function openRestart(target: { readonly host: string; readonly port: number }, text: string) {
  const sockets = new Set<Socket>();
  let restarts = 0;
  const relay = createServer((client) => {
    const upstream = connect(target.port, target.host);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => from.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
    upstream.pipe(client);
    client.on('data', (data) => {
      if (restarts === 0 && data.includes(text)) restart();
      else upstream.write(data);
    });
  });
  const restart = (): void => {
    const { port } = relay.address() as { port: number };
    restarts += 1;
    relay.close();
    for (const socket of sockets) socket.destroy();
    setTimeout(() => relay.listen(port, '127.0.0.1'), 1_000);
  };
  relay.listen(0, '127.0.0.1');
  await once(relay, 'listening');
  const { port } = relay.address() as { port: number };
  return {
    port,
    get restarts() {
      return restarts;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => relay.close(resolve));
    },
  };
}
